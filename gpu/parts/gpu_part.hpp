// Rows and a part of a data set in the memory of one GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/core/device_part.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/open_memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/parts/gpu_peer_buffer.hpp>
#include <epsflow/gpu/parts/part_kernels.hpp>

namespace epsflow::gpu {

/// The resources of a part. All must outlive it.
struct GpuPartResources {
  int device;
  unsigned threads;  ///< the largest number of threads that copy
  std::shared_ptr<DeviceMemory> memory;
  PinnedPool& pinned;
  std::shared_ptr<LabelMemory> labels;
  std::size_t devices;  ///< number of devices that hold the data set together
};

/// At its peak it holds the coordinates of its rows twice, and the coordinates of its part. Data for other GPUs crosses
/// the link between them if there is one, else host memory.
class GpuPart final : public DevicePart {
 public:
  /// Copies the rows to the GPU, which must be the current one. Waits.
  GpuPart(PointsView rows, GpuPartResources home);

  [[nodiscard]] std::optional<PointsCopy> copy_all(std::span<const std::unique_ptr<DevicePart>> parts) const override;
  [[nodiscard]] RowCounts cut(std::span<const SpaceCut> cuts, double reach) override;
  std::vector<std::byte> make_buffer(const BufferNeeds& needs) override;
  [[nodiscard]] std::unique_ptr<PeerBuffer> open_buffer(std::span<const std::byte> key) const override;
  void send_rows(PeerBuffers buffers, std::span<const std::uint64_t> firsts) override;
  [[nodiscard]] SendLists make_send_lists(double inner, double outer) override;
  void send_ghosts(PeerBuffers buffers, std::span<const std::uint64_t> inner_offsets,
                   std::span<const std::uint64_t> outer_offsets) override;
  [[nodiscard]] DevicePointsView points(std::uint64_t size) const override;
  void rows_of(std::uint32_t part, std::span<const std::uint32_t> points, std::uint32_t first_point,
               std::uint32_t first_row, std::uint32_t* rows) const override;
  void send_back(PeerBuffers buffers, std::span<const std::uint64_t> begins, const OfPoints& found,
                 std::span<const std::int32_t> numbers) override;
  void take_back(std::int32_t* labels, std::uint8_t* core) override;
  [[nodiscard]] std::vector<std::int32_t> read(const std::int32_t* labels, std::size_t count) override;
  [[nodiscard]] Labels label_buffer(std::size_t rows) override { return {rows, resources_.labels}; }

 private:
  [[nodiscard]] std::uint64_t row_bytes() const noexcept { return std::uint64_t{dims_} * bytes_of(precision_); }
  [[nodiscard]] PartOrder row_order() const noexcept {
    return {part_of_row_.data(), starts_.data(), rows_, cuts_.count + 1};
  }
  [[nodiscard]] PointsOnDevice owned() const noexcept { return {buffer_.points, own_, dims_, precision_}; }
  /// Returns points with the part's dimensions and precision. `stream` writes them, unless it is null.
  [[nodiscard]] DevicePointsView view_of(const std::byte* data, std::uint64_t size,
                                         cudaStream_t stream = nullptr) const;
  /// Copies to the memory of a peer buffer, in the order of this GPU's stream.
  void copy(void* to, const GpuPeerBuffer& buffer, const void* from, std::uint64_t bytes) const;

  GpuPartResources resources_;
  std::uint32_t rows_;
  std::uint32_t dims_;
  Precision precision_;
  Stream stream_;
  DeviceBuffer<std::byte> data_;  ///< coordinates of the rows, until they are sent
  CutsView cuts_;
  DeviceBuffer<std::uint8_t> part_of_row_;
  DeviceBuffer<std::uint32_t> starts_;        ///< [parts × blocks]
  std::vector<std::uint64_t> first_of_part_;  ///< [parts + 1] first row of each part, in the order by part
  std::uint32_t part_ = 0;
  std::uint32_t own_ = 0;
  std::uint64_t most_sent_ = 0;
  DeviceBuffer<std::byte> block_;          ///< memory of the peer buffer
  OpenMemory open_block_;                  ///< memory of the peer buffer if other processes write to it
  PeerBufferArrays buffer_;                ///< own points and ghosts; labels and core flags of the rows, by part
  DeviceBuffer<std::uint64_t> send_list_;  ///< keys (SendKey), ascending
  std::vector<std::uint64_t> list_of_;     ///< [2 × parts + 1] begins of lists: inner and outer ghosts of each part
  StreamDrain drain_{stream_};             // waits before the memory above is freed
};

}  // namespace epsflow::gpu

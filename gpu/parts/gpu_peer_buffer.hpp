// A peer buffer: the memory of one GPU to which other GPUs write.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <epsflow/core/device_part.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/open_memory.hpp>

namespace epsflow::gpu {

/// The arrays of a peer buffer.
struct PeerBufferArrays {
  std::byte* points = nullptr;     ///< own points, then ghosts
  std::int32_t* labels = nullptr;  ///< [rows] by part; null if the buffer has no labels
  std::uint8_t* core = nullptr;    ///< [rows] by part; null if the buffer has no core flags
};

/// The layout of a peer buffer, which is one block of memory.
class PeerBufferShape {
 public:
  PeerBufferShape() = default;
  /// point_bytes: of all points. rows: number of labels and of core flags. labels, core: true if the buffer has them.
  PeerBufferShape(std::uint64_t point_bytes, std::uint64_t rows, bool labels, bool core);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return mark_ + sizeof(std::uint64_t); }
  [[nodiscard]] PeerBufferArrays in(std::byte* block) const noexcept;
  /// Returns the address of PeerBufferKey::mark in the block.
  [[nodiscard]] std::byte* mark(std::byte* block) const noexcept { return block + mark_; }

 private:
  std::uint64_t labels_ = 0;
  std::uint64_t core_ = 0;
  std::uint64_t mark_ = 0;
  bool has_labels_ = false;
  bool has_core_ = false;
};

/// The key with which other GPUs open a peer buffer.
struct PeerBufferKey {
  std::uint64_t process = 0;       ///< process_number() of the owner
  std::uint64_t mark = 0;          ///< unique number; if `open`, the block contains it, so that it is recognised
  int device = 0;                  ///< number of the GPU in that process
  DeviceMemory* memory = nullptr;  ///< address in that process
  std::byte* block = nullptr;      ///< address in that process
  PeerBufferShape shape;
  bool open = false;  ///< other processes can open it by this handle
  cudaIpcMemHandle_t handle{};
  /// [parts + 1] first row of each part in the owner's order by part
  std::array<std::uint64_t, kMostDeviceParts + 1> first_of_part{};
};
/// Returns a random number that identifies this process.
[[nodiscard]] std::uint64_t process_number();
/// Returns a number that no peer buffer has had.
[[nodiscard]] std::uint64_t next_mark();

class GpuPeerBuffer final : public PeerBuffer {
 public:
  /// Opens a peer buffer from the GPU `from`, which must be the current one. Returns null if the buffer is of another
  /// process and that GPU cannot reach it, for example on another machine.
  [[nodiscard]] static std::unique_ptr<GpuPeerBuffer> open(const PeerBufferKey& key, int from);

  [[nodiscard]] const PeerBufferArrays& arrays() const noexcept { return arrays_; }
  [[nodiscard]] std::uint64_t first_of_part(std::uint32_t part) const noexcept { return key_.first_of_part[part]; }
  /// The number of its GPU if `from` of open() cannot access it directly, so that copies must name it; otherwise empty.
  [[nodiscard]] std::optional<int> device() const noexcept { return device_; }

 private:
  explicit GpuPeerBuffer(const PeerBufferKey& key) : key_(key) {}

  PeerBufferKey key_;
  PeerBufferArrays arrays_;
  std::optional<int> device_;
  std::optional<OpenedMemory> opened_;
};

}  // namespace epsflow::gpu

// The memory of a GPU that others write to, as they know it.
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

/// Where things are in a room.
struct RoomPlaces {
  std::byte* points = nullptr;     ///< own ones, and ghosts
  std::int32_t* labels = nullptr;  ///< [rows] by part, where they are expected
  std::uint8_t* core = nullptr;
};

/// What a room is made of: one block of memory.
class RoomShape {
 public:
  RoomShape() = default;
  RoomShape(std::uint64_t point_bytes, std::uint64_t rows, bool labels, bool core);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return mark_ + sizeof(std::uint64_t); }
  [[nodiscard]] RoomPlaces in(std::byte* block) const noexcept;
  /// Where the mark is.
  [[nodiscard]] std::byte* mark(std::byte* block) const noexcept { return block + mark_; }

 private:
  std::uint64_t labels_ = 0;
  std::uint64_t core_ = 0;
  std::uint64_t mark_ = 0;
  bool has_labels_ = false;
  bool has_core_ = false;
};

/// What others must know of a room.
struct RoomKey {
  std::uint64_t process = 0;       ///< process_number() there
  std::uint64_t mark = 0;          ///< in the block, by which it is known: no other has it
  int device = 0;                  ///< as that process counts
  DeviceMemory* memory = nullptr;  ///< in that process
  std::byte* block = nullptr;      ///< in that process
  RoomShape shape;
  bool open = false;  ///< for other processes, by this handle
  cudaIpcMemHandle_t handle{};
  std::array<std::uint64_t, kMostDeviceParts + 1> first_of_part{};  ///< where those of each part begin among its rows
};
/// A number that no other process has.
[[nodiscard]] std::uint64_t process_number();
/// One that no room has had.
[[nodiscard]] std::uint64_t next_mark();

class GpuRoom final : public DeviceRoom {
 public:
  /// As the GPU of this number reaches it, which must be the current one. Null where it does not.
  [[nodiscard]] static std::unique_ptr<GpuRoom> open(const RoomKey& key, int from);

  [[nodiscard]] const RoomPlaces& places() const noexcept { return places_; }
  [[nodiscard]] std::uint64_t first_of_part(std::uint32_t part) const noexcept { return key_.first_of_part[part]; }
  /// Number of its GPU, where copies to it need it.
  [[nodiscard]] std::optional<int> device() const noexcept { return device_; }

 private:
  explicit GpuRoom(const RoomKey& key) : key_(key) {}

  RoomKey key_;
  RoomPlaces places_;
  std::optional<int> device_;
  std::optional<OpenedMemory> opened_;
};

}  // namespace epsflow::gpu

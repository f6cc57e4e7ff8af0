// A data set that the devices of one host hold together. At first each device holds some of the rows, then the points
// of one part of space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/core/device_array.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/space_cut.hpp>

namespace epsflow {

/// The most parts that devices cut space into.
inline constexpr std::size_t kMostDeviceParts = 16;

/// Memory of a device that other devices write to, as one of them has opened it. It holds the points of the device's
/// part and the results of the device's rows.
class PeerBuffer {
 public:
  PeerBuffer() = default;
  PeerBuffer(const PeerBuffer&) = delete;  // a peer buffer that was opened is closed once
  PeerBuffer& operator=(const PeerBuffer&) = delete;
  virtual ~PeerBuffer() = default;
};

/// Points in the memory of a device. They are valid as long as `memory` lives.
struct PointsCopy {
  std::shared_ptr<const void> memory;
  DevicePointsView points;
};

/// The share of one device in the data set. Device p has part p: its own points in the order of all rows, followed by
/// the inner ghosts and then the outer ghosts, each sorted by the part that owns them.
///
/// The order of calls is cut(), make_buffer(), open_buffer() for each device, send_rows(); for each eps
/// make_send_lists(), send_ghosts(), points(); for each level send_back(), take_back(). All devices finish a step
/// before any begins a step that reads or overwrites the data that were sent. The opened buffers of a device are closed
/// before the DevicePart that made it is destroyed.
///
/// copy_all() replaces all these: it only reads, and several parts may be read at once. Otherwise only rows_of() may be
/// called during another call for the same device. Data that a call sends have arrived when it returns. `buffers` has
/// the peer buffers of all devices, in their order, its own too. All functions throw ResourceError.
class DevicePart {
 public:
  DevicePart() = default;
  DevicePart(const DevicePart&) = delete;  // others write to its memory
  DevicePart& operator=(const DevicePart&) = delete;
  virtual ~DevicePart() = default;

  /// Copies the rows of all devices to this one, in the order of `parts`. Returns nullopt if it cannot read the memory
  /// of another. No other function may be called for any of the parts meanwhile, or before.
  [[nodiscard]] virtual std::optional<PointsCopy> copy_all(
      std::span<const std::unique_ptr<DevicePart>> parts) const = 0;

  /// How many rows of this device go to each part.
  struct RowCounts {
    std::vector<std::uint32_t> owned;   ///< [parts] rows that lie in each part
    std::vector<std::uint32_t> ghosts;  ///< [parts] rows that are ghosts of each part, at most
    /// [parts] How many ghosts the rows that lie in each part are in other parts, at most. A row may be several.
    std::vector<std::uint64_t> send_list;
  };
  /// Finds the part of each row; at most kMostDeviceParts are possible. reach: the largest distance along any
  /// axis at which a row is a ghost of a part.
  [[nodiscard]] virtual RowCounts cut(std::span<const SpaceCut> cuts, double reach) = 0;
  /// The data that a peer buffer must hold.
  struct BufferNeeds {
    std::uint32_t part = 0;       ///< number of the part of the device
    std::uint64_t owned = 0;      ///< own points of the part
    std::uint64_t ghosts = 0;     ///< ghosts of the part, at most
    std::uint64_t most_sent = 0;  ///< ghosts of its points in other parts, at most
    bool labels = false;          ///< labels of the device's rows are sent back
    bool core = false;            ///< core flags of the device's rows are sent back
    bool by_processes = false;    ///< other processes write to it
  };
  /// Allocates memory for a part and for the results of the device's rows, after cut(). Returns the key for
  /// open_buffer().
  virtual std::vector<std::byte> make_buffer(const BufferNeeds& needs) = 0;
  /// Returns the peer buffer of another device, or its own; null if it is unreachable. The key must come from a backend
  /// of this kind.
  [[nodiscard]] virtual std::unique_ptr<PeerBuffer> open_buffer(std::span<const std::byte> key) const = 0;

  using PeerBuffers = std::span<const std::unique_ptr<PeerBuffer>>;
  /// Sends the rows of this device to their parts, and frees them here. The rows of part p become points of buffer p.
  /// offsets: [parts] the index, among the points of each buffer, of the first point from this device.
  virtual void send_rows(PeerBuffers buffers, std::span<const std::uint64_t> offsets) = 0;

  /// The points of its part that other parts have as ghosts.
  struct SendLists {
    std::vector<std::uint32_t> inner;       ///< own points that are inner ghosts of others: by part, ascending
    std::vector<std::size_t> inner_begins;  ///< [parts + 1] begin of the inner ghosts of each part in `inner`
    std::vector<std::size_t> outer_begins;  ///< [parts + 1] the same for the outer ghosts, which are not listed here
  };
  /// Finds the points that other parts need as ghosts. inner, outer: the largest distances of inner and outer ghosts
  /// from the part along any axis.
  [[nodiscard]] virtual SendLists make_send_lists(double inner, double outer) = 0;
  /// Sends the points of the last make_send_lists() to the parts that have them as ghosts. inner_offsets,
  /// outer_offsets: [parts] the index, among the points of each buffer, of the first inner and the first outer ghost
  /// from this device. Call it once for each make_send_lists().
  virtual void send_ghosts(PeerBuffers buffers, std::span<const std::uint64_t> inner_offsets,
                           std::span<const std::uint64_t> outer_offsets) = 0;
  /// Returns the first `size` points of its peer buffer. Valid until points are sent to it.
  [[nodiscard]] virtual DevicePointsView points(std::uint64_t size) const = 0;

  /// Sets rows[i] to the row that points[i] comes from. points: ascending points of `part`, all from rows of this
  /// device. first_point: the first point of the part that comes from this device. first_row: the number of this
  /// device's first row, from which on rows are counted. Thread-safe.
  virtual void rows_of(std::uint32_t part, std::span<const std::uint32_t> points, std::uint32_t first_point,
                       std::uint32_t first_row, std::uint32_t* rows) const = 0;

  /// The results of its own points. [device]
  struct OfPoints {
    std::int32_t* labels = nullptr;      ///< overwritten if numbers are given; null: no labels are sent
    const std::uint8_t* core = nullptr;  ///< null: no core flags are sent
  };
  /// Sends the results to the devices that the points came from. numbers: numbers[label] replaces each label that is
  /// not noise; if it is empty, labels stay. offsets: [devices + 1] begin of the points of each device among the own
  /// points of this part.
  virtual void send_back(PeerBuffers buffers, std::span<const std::uint64_t> offsets, const OfPoints& found,
                         std::span<const std::int32_t> numbers) = 0;
  /// Copies the results that were sent back to host memory, in the order of its rows. Null: not copied.
  virtual void take_back(std::int32_t* labels, std::uint8_t* core) = 0;
  /// Copies labels from the device to host memory.
  [[nodiscard]] virtual std::vector<std::int32_t> read(const std::int32_t* labels, std::size_t count) = 0;
  /// Allocates `rows` labels in host memory, pinned if the system allows it, so that devices copy straight into it.
  [[nodiscard]] virtual Labels label_buffer(std::size_t rows) = 0;
};

}  // namespace epsflow

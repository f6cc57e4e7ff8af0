// A data set that the devices of one host hold together: each some of its rows, and then the points of one part of space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <epsflow/core/device_array.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/space_cut.hpp>

namespace epsflow {

/// More are not cut on devices.
inline constexpr std::size_t kMostDeviceParts = 16;

/// Memory of a device that others write to: its room for a part, and for what is found of its rows.
class DeviceRoom {
 public:
  DeviceRoom() = default;
  DeviceRoom(const DeviceRoom&) = delete;  // an opened one is closed once
  DeviceRoom& operator=(const DeviceRoom&) = delete;
  virtual ~DeviceRoom() = default;
};

/// What one device has of the data set. Device p has part p, whose points are in the order of all rows; behind them are ghosts, near ones and
/// then those beyond, by the part that they are of. Calls of one device come one at a time, but for rows_of(), and what it sends is there when
/// the call returns. Wherever it sends, the rooms are those of all devices, itself included. All of them throw ResourceError.
class DevicePart {
 public:
  DevicePart() = default;
  DevicePart(const DevicePart&) = delete;  // others write to its memory
  DevicePart& operator=(const DevicePart&) = delete;
  virtual ~DevicePart() = default;

  /// Of its rows.
  struct Counts {
    std::vector<std::uint32_t> own;     ///< [parts] that lie in each part
    std::vector<std::uint32_t> ghosts;  ///< [parts] that are ghosts of each, at most
    std::vector<std::uint64_t> lent;    ///< [parts] ghosts, at most, of those that lie in each
  };
  /// Tells the part of each row, of which no more than kMostDeviceParts are possible. reach: how far ghosts reach at most.
  [[nodiscard]] virtual Counts cut(std::span<const SpaceCut> cuts, double reach) = 0;
  struct RoomNeeds {
    std::uint32_t part = 0;
    std::uint64_t own = 0;
    std::uint64_t ghosts = 0;
    std::uint64_t most_lent = 0;  ///< ghosts, at most, that others have of it
    bool labels = false;          ///< of its rows come back
    bool core = false;
    bool by_processes = false;  ///< others than this one write to it
  };
  /// Makes room for a part and for what is found of its rows. Returns what open_room() takes, as long as this object is there.
  virtual std::vector<std::byte> make_room(const RoomNeeds& needs) = 0;
  /// The room of another device, or its own; null where it cannot be reached from here. The device must be one of a backend of this kind.
  [[nodiscard]] virtual std::unique_ptr<DeviceRoom> open_room(std::span<const std::byte> key) const = 0;

  using Rooms = std::span<const std::unique_ptr<DeviceRoom>>;
  /// Sends its rows to their parts: those of part p to room p, from place places[p] on. They are gone then.
  virtual void send_rows(Rooms rooms, std::span<const std::uint64_t> places) = 0;

  /// Points of its part that others have as ghosts.
  struct Lent {
    std::vector<std::uint32_t> near;     ///< points, by part and ascending
    std::vector<std::size_t> near_of;    ///< [parts + 1] where those that each part has begin
    std::vector<std::size_t> beyond_of;  ///< [parts + 1] the same of ghosts that are further off
  };
  /// near, beyond: how far they are from a part, at most, along any axis.
  [[nodiscard]] virtual Lent lend(double near, double beyond) = 0;
  /// Sends what was lent last to the parts that have it as ghosts, those of part p from these places on.
  virtual void send_lent(Rooms rooms, std::span<const std::uint64_t> near_places,
                         std::span<const std::uint64_t> beyond_places) = 0;
  /// The first points of its room, as long as nothing is sent to it.
  [[nodiscard]] virtual DevicePointsView points(std::uint64_t size) const = 0;

  /// Writes the rows of points of a part, ascending, which are its rows. Those that it has of this part are counted from first_point, and its rows
  /// from first_row. Thread-safe.
  virtual void rows_of(std::uint32_t part, std::span<const std::uint32_t> points, std::uint32_t first_point,
                       std::uint32_t first_row, std::uint32_t* rows) const = 0;

  /// What was found of its own points. [device]
  struct OfPoints {
    std::int32_t* labels = nullptr;  ///< are changed; null where there are none
    const std::uint8_t* core = nullptr;
  };
  /// Sends what was found to the devices that have brought the points. numbers: that take the place of labels. places: where in its part the
  /// points of each device begin, [devices + 1].
  virtual void send_back(Rooms rooms, std::span<const std::uint64_t> places, const OfPoints& found,
                         std::span<const std::int32_t> numbers) = 0;
  /// Writes what was sent back, of its rows in their order, to host memory. Null for what was not.
  virtual void take_back(std::int32_t* labels, std::uint8_t* core) = 0;
  /// Labels that a device keeps, in host memory.
  [[nodiscard]] virtual std::vector<std::int32_t> read(const std::int32_t* labels, std::size_t count) = 0;
  /// Room for labels of all rows, which devices write to at the speed of their bus.
  [[nodiscard]] virtual Labels room_for_labels(std::size_t rows) = 0;
};

}  // namespace epsflow

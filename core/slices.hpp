// Many data sets in one: their points one after the other, and the offsets at which each begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/host_device.hpp>

namespace epsflow {

/// Slice s has the points [starts[s], starts[s + 1]). Points of different slices are never neighbours. starts: [count +
/// 1], from 0 to the number of points, not descending; a slice may have no point.
struct SlicesView {
  const std::uint32_t* starts = nullptr;  ///< in memory that the caller can read
  std::uint32_t count = 0;                ///< 0 if points are in no slices

  /// Returns the slice of point i. O(log count).
  [[nodiscard]] EPSFLOW_HOST_DEVICE std::uint32_t of(std::uint32_t i) const noexcept {
    std::uint32_t slice = 0;
    for (std::uint32_t end = count; end - slice > 1;) {
      const std::uint32_t middle = slice + (end - slice) / 2;
      if (starts[middle] <= i) {
        slice = middle;
      } else {
        end = middle;
      }
    }
    return slice;
  }
};

/// Error text of a run that requests another search for slices.
inline constexpr const char* kSlicesNeedGrid =
    "SearchOptions::index or SearchOptions::decide asks for another search than that of a grid of cells by float64 "
    "tests, "
    "which alone keeps slices apart: leave it out";

/// Slices with their storage. Immutable.
class Slices {
 public:
  /// offsets: [count + 1], from 0 to n, not descending; otherwise throws UsageError naming the entry.
  Slices(std::span<const std::uint64_t> offsets, std::uint64_t n);

  [[nodiscard]] std::size_t count() const noexcept { return starts_.size() - 1; }
  [[nodiscard]] std::uint32_t first(std::size_t slice) const noexcept { return starts_[slice]; }
  [[nodiscard]] std::uint32_t last(std::size_t slice) const noexcept { return starts_[slice + 1]; }
  [[nodiscard]] std::span<const std::uint32_t> starts() const noexcept { return starts_; }
  [[nodiscard]] SlicesView view() const noexcept { return {starts_.data(), static_cast<std::uint32_t>(count())}; }

 private:
  std::vector<std::uint32_t> starts_;
};

}  // namespace epsflow

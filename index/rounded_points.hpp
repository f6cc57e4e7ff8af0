// Points of many dimensions rounded to float32, in panels for vectors, with thresholds that decide most pairs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow::index {

/// Rounded coordinates and thresholds of tile_frame.hpp, by position. The centre is the median of a sample, coordinate
/// by coordinate: a few far points do not move it, and integers stay integers. The scale makes the scaled eps, E, at
/// least 1 and less than 2.
class RoundedPoints {
 public:
  /// The number of points of a panel. Panel i has positions [16 i, 16 i + 16), coordinate after coordinate. Every
  /// instruction set reads the same.
  static constexpr std::size_t kPanel = 16;
  /// Products are summed over this number of dimensions at a time, which rounds less than one sum over all.
  static constexpr std::size_t kChunk = 32;
  /// With fewer dimensions float64 alone is as fast.
  static constexpr std::size_t kFewestDims = 7;

  /// Makes an empty object, which decides no pairs.
  RoundedPoints() = default;
  /// coordinates: [dims] pointers to [n] float or double, by `precision`. The object stays empty without points, with
  /// fewer than kFewestDims dimensions, and if float32 would leave most pairs undecided (extreme eps, or points very
  /// far from each other relative to eps). O(n·d), in parallel.
  RoundedPoints(const void* const* coordinates, std::size_t n, std::size_t dims, Precision precision, double eps);
  RoundedPoints(const RoundedPoints&) = delete;
  RoundedPoints& operator=(const RoundedPoints&) = delete;

  [[nodiscard]] bool empty() const noexcept { return panels_.empty(); }
  [[nodiscard]] std::size_t dims() const noexcept { return dims_; }
  /// Returns true if every pair is decided, because all coordinates are small multiples of one number.
  [[nodiscard]] bool exact() const noexcept { return exact_; }

  /// [dims × kPanel] coordinates of a panel. Two panels of zeros follow the last one, so that reads may go beyond it.
  [[nodiscard]] const float* panel(std::size_t panel) const noexcept { return panels_.data() + panel * dims_ * kPanel; }
  /// [n, and up to the end of the last panel] the thresholds of each point, see PairThresholds.
  [[nodiscard]] const float* reject() const noexcept { return reject_.data(); }
  [[nodiscard]] const float* accept() const noexcept { return accept_.data(); }

  /// Returns how many pairs were left to the float64 test so far.
  [[nodiscard]] std::uint64_t undecided_pairs() const noexcept {
    return undecided_pairs_.load(std::memory_order_relaxed);
  }
  void add_undecided_pairs(std::uint64_t pairs) const noexcept {
    undecided_pairs_.fetch_add(pairs, std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return panels_.bytes() + reject_.bytes() + accept_.bytes(); }
  /// Returns the peak memory of the construction, in bytes, which includes a norm per point.
  [[nodiscard]] static std::uint64_t most_bytes(std::uint64_t n, std::size_t dims) noexcept {
    return dims < kFewestDims ? 0 : (n + 3 * kPanel) * ((dims + 2) * sizeof(float) + sizeof(double));
  }

 private:
  template <class T>
  void make(const void* const* coordinates, std::size_t n, double eps);
  void set_exact(std::span<const double> norms, double limit, double step);

  std::size_t dims_ = 0;
  bool exact_ = false;
  Buffer<float> panels_;
  Buffer<float> reject_;
  Buffer<float> accept_;
  mutable std::atomic<std::uint64_t> undecided_pairs_ = 0;
};

}  // namespace epsflow::index

// Points of many dimensions rounded to float32, in panels that vectors read, with what decides their pairs without float64.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow::index {

/// Rounded coordinates and thresholds of tile_frame.hpp, by position. The centre is the median of a sample, coordinate by
/// coordinate: few far points do not move it, and it is a coordinate itself, so integers stay integers. The scale makes
/// 1 <= E < 2.
class RoundedPoints {
 public:
  /// Points of a panel: positions [16 i, 16 i + 16), coordinate after coordinate. Fixed, so that every instruction set reads the
  /// same memory.
  static constexpr std::size_t kPanel = 16;
  /// Products are summed over so many dimensions at a time, then the sums: less rounding than one sum over all.
  static constexpr std::size_t kChunk = 32;
  /// With fewer dimensions float64 alone is as fast.
  static constexpr std::size_t kFewestDims = 7;

  /// No points: nothing is decided here.
  RoundedPoints() = default;
  /// coordinates: [dims] pointers to [n] float or double. Where nothing could be decided (extreme eps, points far from each other
  /// by eps' measure) it stays empty. O(n·d), in parallel.
  RoundedPoints(const void* const* coordinates, std::size_t n, std::size_t dims, Precision precision, double eps);
  RoundedPoints(const RoundedPoints&) = delete;
  RoundedPoints& operator=(const RoundedPoints&) = delete;

  [[nodiscard]] bool empty() const noexcept { return panels_.empty(); }
  [[nodiscard]] std::size_t dims() const noexcept { return dims_; }
  /// Nothing is open: all coordinates are small multiples of one number.
  [[nodiscard]] bool exact() const noexcept { return exact_; }

  /// [dims × kPanel] coordinates of a panel. There are two panels more than positions fill, so that panels can be read in pairs.
  [[nodiscard]] const float* panel(std::size_t panel) const noexcept { return panels_.data() + panel * dims_ * kPanel; }
  /// [n, and up to the end of the last panel] thresholds, see PairThresholds.
  [[nodiscard]] const float* reject() const noexcept { return reject_.data(); }
  [[nodiscard]] const float* accept() const noexcept { return accept_.data(); }

  /// Pairs that were left to the float64 test so far.
  [[nodiscard]] std::uint64_t open_pairs() const noexcept { return open_pairs_.load(std::memory_order_relaxed); }
  void add_open_pairs(std::uint64_t pairs) const noexcept { open_pairs_.fetch_add(pairs, std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return panels_.bytes() + reject_.bytes() + accept_.bytes(); }
  /// The most that is in use while they are made: a norm per point besides.
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
  mutable std::atomic<std::uint64_t> open_pairs_ = 0;
};

}  // namespace epsflow::index

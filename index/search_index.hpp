// The interface of an index to a search: points in its order, in bundles of positions that share their candidates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/candidate_bundles.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>

namespace epsflow::index {

/// The state of a walk over bundles. Only the index that made it can interpret `cursors`.
struct BundleWalk {
  std::vector<std::size_t> cursors;
  std::vector<Range> ranges;  ///< candidates of the bundle: non-empty, ascending, not touching each other
};

/// Points sorted so that neighbours lie close together, and cut into bundles of consecutive positions. Keeps a copy of
/// the coordinates, in their precision. Candidates of a bundle are computed when they are needed (CandidateRanges), or
/// cached if they are few, so memory is O(n·d) for any number of candidates.
class SearchIndex {
 public:
  SearchIndex(const SearchIndex&) = delete;  // searches hold the addresses of its coordinates
  SearchIndex& operator=(const SearchIndex&) = delete;
  virtual ~SearchIndex() = default;

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(order_.size()); }
  [[nodiscard]] std::size_t dims() const noexcept { return dims_; }
  [[nodiscard]] Precision precision() const noexcept { return precision_; }
  [[nodiscard]] double eps() const noexcept { return eps_; }
  [[nodiscard]] const Space& space() const noexcept { return space_; }
  /// Input id of each position. [n]
  [[nodiscard]] std::span<const std::uint32_t> order() const noexcept { return order_.span(); }

  /// Coordinate k of all points, by position. Buffer::kPadding more bytes are readable. T is the precision.
  template <class T>
  [[nodiscard]] const T* coordinates(std::size_t k) const noexcept {
    return reinterpret_cast<const T*>(coordinates_[k].data());
  }

  [[nodiscard]] std::size_t bundles() const noexcept { return bundle_starts_.size() - 1; }
  /// First position of each bundle, and n. [bundles + 1]
  [[nodiscard]] std::span<const std::uint32_t> bundle_starts() const noexcept { return bundle_starts_.span(); }
  [[nodiscard]] Range rows_of(std::size_t bundle) const noexcept {
    return {bundle_starts_[bundle], bundle_starts_[bundle + 1]};
  }
  /// Returns the bundle that holds a position. O(log bundles).
  [[nodiscard]] std::size_t bundle_of(std::uint32_t position) const noexcept {
    return std::upper_bound(bundle_starts_.begin(), bundle_starts_.end(), position) - bundle_starts_.begin() - 1;
  }

  /// Prepares a walk that begins with this bundle or a later one.
  virtual void start_walk(std::size_t bundle, BundleWalk& walk) const = 0;
  /// Sets walk.ranges to ranges that hold every neighbour of every point of the bundle. The bundle is the first one of
  /// the walk or comes after the previous one.
  virtual void find_ranges(std::size_t bundle, BundleWalk& walk) const = 0;

  [[nodiscard]] virtual std::uint64_t bytes() const noexcept;

 protected:
  SearchIndex(PointsView points, double eps, Space space)
      : dims_(points.dims()), precision_(points.precision()), eps_(eps), space_(std::move(space)) {}

  /// A derived class calls each of these once, in this order, after it has sorted the points.
  void set_order(Buffer<std::uint32_t> order) noexcept { order_ = std::move(order); }
  void set_bundle_starts(Buffer<std::uint32_t> starts) noexcept { bundle_starts_ = std::move(starts); }
  /// O(n·d), in parallel.
  void copy_coordinates(PointsView points);

 private:
  std::size_t dims_;
  Precision precision_;
  double eps_;
  Space space_;
  Buffer<std::uint32_t> order_;
  Buffer<std::uint32_t> bundle_starts_;
  std::vector<Buffer<std::byte>> coordinates_;
};

}  // namespace epsflow::index

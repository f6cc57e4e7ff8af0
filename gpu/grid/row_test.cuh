// The distance test of kernels that use GridView.
#pragma once

#include <cstddef>
#include <cstdint>

#include <epsflow/gpu/base/with_types.hpp>
#include <epsflow/gpu/grid/grid_view.hpp>
#include <epsflow/index/distance.hpp>

namespace epsflow::gpu {

/// Marks a space that is not plain: kOtherSpace + D stands for D dimensions there, or any number if D is 0.
constexpr unsigned kOtherSpace = 1U << 16;

/// Tests if candidates are neighbours of one row; both are positions. kKind: the dimensions, 0 for any number, or
/// kOtherSpace + D in another space. Coordinates of the row stay in registers if their number is known at compile time.
template <class T, unsigned kKind>
class DeviceRowTest {
  static constexpr bool kPlain = kKind < kOtherSpace;

 public:
  static constexpr unsigned D = kPlain ? kKind : kKind - kOtherSpace;

  __device__ DeviceRowTest(const GridView& grid, std::uint32_t row)
      : coordinates_(static_cast<const T*>(grid.coordinates)),
        size_(grid.size),
        dims_(grid.dims),
        row_(row),
        limit_(grid.limit),
        space_(grid.space) {
    if constexpr (D > 0) {
      for (unsigned k = 0; k < D; ++k) point_[k] = __ldg(coordinates_ + k * size_ + row);
    }
  }

  __device__ std::size_t dims() const { return D > 0 ? D : dims_; }

  __device__ bool operator()(std::uint32_t candidate) const {
    return is_near([&](std::size_t k) { return __ldg(coordinates_ + k * size_ + candidate); });
  }

  /// Tests a candidate in shared memory, with coordinate k at from[k · pitch].
  __device__ bool in_shared(const T* from, unsigned pitch) const {
    return is_near([&](std::size_t k) { return from[k * pitch]; });
  }

 private:
  template <class Candidate>
  __device__ bool is_near(Candidate candidate) const {
    const auto own = [this](std::size_t k) { return point(k); };
    if constexpr (!kPlain) return index::norm_sum<D>(space_, own, candidate, dims_) <= limit_;
    return index::is_neighbor<D>(own, candidate, dims_, limit_);
  }

  __device__ T point(std::size_t k) const {
    if constexpr (D > 0) {
      return point_[k];
    } else {
      return __ldg(coordinates_ + k * size_ + row_);
    }
  }

  const T* coordinates_;
  std::size_t size_;
  std::size_t dims_;
  std::uint32_t row_;
  double limit_;
  index::SpaceView space_;
  T point_[D == 0 ? 1 : D];
};

/// Calls f.operator()<T, kKind>() for a grid. kKind: in a plain space its dimensions if they are listed, else 0; in
/// another space always kOtherSpace.
template <unsigned... kDims, class F>
void with_row_types(const GridView& grid, F f) {
  if (grid.space.plain()) return with_types<kDims..., 0>(grid.precision, grid.dims, f);
  with_types<kOtherSpace>(grid.precision, kOtherSpace, f);
}

}  // namespace epsflow::gpu

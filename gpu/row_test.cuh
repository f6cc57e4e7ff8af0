// The distance test of kernels that read the cells of GridView.
#pragma once

#include <cstddef>
#include <cstdint>

#include <epsflow/gpu/grid_view.hpp>
#include <epsflow/index/distance.hpp>

namespace epsflow::gpu {

/// One row against candidates: D dimensions, or any number where D is 0. Coordinates of the row stay in registers where
/// the compiler knows how many there are.
template <class T, unsigned D>
class RowTest {
 public:
  __device__ RowTest(const GridView& grid, std::uint32_t row)
      : coordinates_(static_cast<const T*>(grid.coordinates)),
        size_(grid.size),
        dims_(grid.dims),
        row_(row),
        limit_(grid.eps_squared) {
    if constexpr (D > 0) {
      for (unsigned k = 0; k < D; ++k) point_[k] = __ldg(coordinates_ + k * size_ + row);
    }
  }

  __device__ bool operator()(std::uint32_t candidate) const {
    return index::is_neighbor<D>([this](std::size_t k) { return point(k); },
                                 [&](std::size_t k) { return __ldg(coordinates_ + k * size_ + candidate); }, dims_,
                                 limit_);
  }

  /// The same with the candidate's coordinates in shared memory, coordinate k at tile[k · pitch].
  __device__ bool in_tile(const T* tile, unsigned pitch) const {
    return index::is_neighbor<D>([this](std::size_t k) { return point(k); },
                                 [&](std::size_t k) { return tile[k * pitch]; }, dims_, limit_);
  }

 private:
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
  T point_[D == 0 ? 1 : D];
};

}  // namespace epsflow::gpu

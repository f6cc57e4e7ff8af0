// Access of kernels to the index of the clustering by cells.
#pragma once

#include <cstddef>
#include <cstdint>

#include <epsflow/gpu/base/with_types.hpp>
#include <epsflow/gpu/direct/dense_box_grid.hpp>
#include <epsflow/gpu/direct/rank_bitmap.cuh>
#include <epsflow/index/distance.hpp>

namespace epsflow::gpu {

/// One point, aligned so that one load reads all of it if loads of that size exist.
template <class T, unsigned D>
struct alignas(D == 2 ? 2 * sizeof(T) : sizeof(T)) Coordinates {
  T x[D];
};

template <class T, unsigned D>
__device__ inline Coordinates<T, D> load_coordinates(const void* points, std::uint64_t i) {
  const auto* const from = static_cast<const Coordinates<T, D>*>(points) + i;
  if constexpr (D == 2 && sizeof(T) == 8) {
    const double2 loaded = __ldg(reinterpret_cast<const double2*>(from));
    return {{loaded.x, loaded.y}};
  } else if constexpr (D == 2) {
    const float2 loaded = __ldg(reinterpret_cast<const float2*>(from));
    return {{loaded.x, loaded.y}};
  } else {
    Coordinates<T, D> loaded;
    for (unsigned k = 0; k < D; ++k) loaded.x[k] = __ldg(from->x + k);
    return loaded;
  }
}

/// Returns true if p and q are neighbours.
template <class T, unsigned D>
__device__ inline bool near_enough(const Coordinates<T, D>& p, const Coordinates<T, D>& q, double eps_squared) {
  return index::is_neighbor<D>([&](std::size_t k) { return p.x[k]; }, [&](std::size_t k) { return q.x[k]; }, D,
                               eps_squared);
}

/// Calls f.operator()<T, D>() with the type of the points of a clustering by cells.
template <class F>
void with_point_types(Precision precision, std::uint32_t dims, F f) {
  static_assert(index::kMostDenseBoxDims == 3);
  with_types<1, 2, 3>(precision, dims, f);
}

/// Returns the key of a cell.
__device__ inline std::uint64_t key_of(const DenseBoxView& view, std::uint32_t cell) {
  std::uint64_t high = 0;
  if (view.high_keys != nullptr) {
    high = __ldg(view.high_keys + cell);
  } else if (view.first_high != nullptr) {
    high = cell >= __ldg(view.first_high) ? 1 : 0;
  }
  return high << 32 | __ldg(view.low_keys + cell);
}

/// Returns the key of the cell that contains the point with this id.
template <class T, unsigned D>
__device__ std::uint64_t cell_key(const DenseBoxView& view, const Coordinates<T, D>& point, std::uint32_t id) {
  std::uint64_t key = view.slices.of(id) * view.slice_stride;
  for (unsigned k = 0; k < D; ++k) {
    key += (view.axes[k].slot(static_cast<double>(point.x[k])) + kDenseBoxWindow) * view.strides[k];
  }
  return key;
}

/// Returns the first cell of [begin, end) for which before(cell) is false, or end.
template <class Before>
__device__ std::uint32_t first_not(std::uint32_t begin, std::uint32_t end, Before before) {
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    if (before(middle)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// The non-empty cells among kRowCells consecutive ones. They are numbered first, first + 1, …
struct RowCells {
  std::uint32_t first;
  std::uint32_t mask;  ///< one bit for each cell that is not empty

  /// Returns the number of the cell at `step`, which is not empty.
  __device__ std::uint32_t at(unsigned step) const { return first + __popc(mask & ((1U << step) - 1)); }
};

/// Returns the cells with keys first_key … first_key + kRowCells − 1.
__device__ inline RowCells row_cells(const DenseBoxView& view, std::uint64_t first_key) {
  constexpr unsigned kAll = (1U << kRowCells) - 1;
  if (view.words != nullptr) {
    const unsigned shift = first_key % 32;
    const RankWord word = load_word(view.words, first_key / 32);
    std::uint32_t mask = word.bits >> shift;
    const std::uint32_t first = word.rank - __popc(mask);
    if (shift > 32 - kRowCells) mask |= load_word(view.words, first_key / 32 + 1).bits << (32 - shift);
    return {first, mask & kAll};
  }
  std::uint32_t mask = 0;
  if (view.block_starts != nullptr) {
    // Lower halves suffice: less the first key of the block they are below 2^32, the most keys of two blocks.
    const std::uint64_t block = first_key >> view.block_bits;
    const std::uint64_t last_block = (first_key + (kRowCells - 1)) >> view.block_bits;
    const std::uint32_t end = __ldg(view.block_starts + last_block + 1);
    const auto block_key = static_cast<std::uint32_t>(block << view.block_bits);
    const auto wanted = static_cast<std::uint32_t>(first_key);
    const std::uint32_t first = first_not(__ldg(view.block_starts + block), end, [&](std::uint32_t cell) {
      return __ldg(view.low_keys + cell) - block_key < wanted - block_key;
    });
    for (std::uint32_t cell = first; cell < end; ++cell) {
      const std::uint32_t step = __ldg(view.low_keys + cell) - wanted;
      if (step >= kRowCells) break;
      mask |= 1U << step;
    }
    return {first, mask};
  }
  const std::uint32_t first =
      first_not(0, view.cells, [&](std::uint32_t cell) { return key_of(view, cell) < first_key; });
  for (std::uint32_t cell = first; cell < view.cells; ++cell) {
    const std::uint64_t step = key_of(view, cell) - first_key;
    if (step >= kRowCells) break;
    mask |= 1U << step;
  }
  return {first, mask};
}

/// Returns the cell with a key, which must be in use.
__device__ inline std::uint32_t cell_at(const DenseBoxView& view, std::uint64_t key) {
  if (view.words != nullptr) return rank_before(view.words, key);
  std::uint32_t begin = 0, end = view.cells;
  if (view.block_starts != nullptr) {
    const std::uint64_t block = key >> view.block_bits;
    begin = __ldg(view.block_starts + block);
    end = __ldg(view.block_starts + block + 1);
  }
  return first_not(begin, end, [&](std::uint32_t cell) { return key_of(view, cell) < key; });
}

/// The offset of a point in its cell, and the cells around it that are within reach.
///
/// In slots, neighbours satisfy Σ s_k² <= D·(1 + 2^-12.9), where s_k is the true difference along axis k: the squares
/// of the test sum to at most eps², apart from some roundings, and a slot is eps/√D·(1 − 2^-14) wide. To a cell that is
/// m > 0 slots up, the true difference is at least m − offset − 2^-17, the errors of both slots (index/cell_axes.hpp);
/// the same holds downwards. So cells whose squared gaps sum to more than D·(1 + 2^-10) hold no neighbour; float32 is
/// precise enough for that.
template <unsigned D>
struct CellReach {
  float offset[D];

  template <class T>
  __device__ CellReach(const DenseBoxView& view, const Coordinates<T, D>& point) {
    for (unsigned k = 0; k < D; ++k) {
      offset[k] = static_cast<float>(view.axes[k].offset_in_slot(static_cast<double>(point.x[k])));
    }
  }

  /// Returns the distance along an axis, in slots, from the point to the cells that are `step` slots away.
  __device__ float gap(unsigned axis, int step) const {
    return step == 0
               ? 0.0F
               : (step > 0 ? static_cast<float>(step) - offset[axis] : offset[axis] - static_cast<float>(step) - 1.0F);
  }

  /// Returns the squared reach that remains for the last axis in a row; negative if the row is out of reach.
  __device__ float rest(const std::int8_t* steps) const {
    float rest = static_cast<float>(D) * (1 + 0x1p-10F);
    for (unsigned k = 0; k + 1 < D; ++k) rest -= gap(k, steps[k]) * gap(k, steps[k]);
    return rest;
  }

  /// Returns one bit for each cell of a row, set if the cell is within reach. The set bits are consecutive.
  __device__ unsigned cells(float rest) const {
    unsigned mask = 0;
    for (unsigned step = 0; step < kRowCells; ++step) {
      const float along = gap(D - 1, static_cast<int>(step) - kDenseBoxWindow);
      mask |= (along * along <= rest ? 1U : 0U) << step;
    }
    return rest < 0 ? 0 : mask;
  }
};

/// Positions [begin, end).
struct Span {
  std::uint32_t begin;
  std::uint32_t end;
};

/// Returns the positions of the points in the cells of a row that are within reach. key: the key of the point's cell.
template <unsigned D>
__device__ inline Span row_in_reach(const DenseBoxView& view, const CellReach<D>& reach, const DenseBoxRow& row,
                                    std::uint64_t key) {
  const unsigned wanted = reach.cells(reach.rest(row.steps));
  if (wanted == 0) return {0, 0};
  const RowCells cells = row_cells(view, key + static_cast<std::uint64_t>(row.offset));
  const unsigned found = cells.mask & wanted;
  if (found == 0) return {0, 0};
  const std::uint32_t first = cells.at(static_cast<unsigned>(__ffs(static_cast<int>(found))) - 1);
  return {__ldg(view.starts + first), __ldg(view.starts + first + __popc(found))};
}

}  // namespace epsflow::gpu

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_types.hpp>
#include <epsflow/gpu/direct/counting.cuh>
#include <epsflow/gpu/direct/disjoint_sets.cuh>
#include <epsflow/gpu/direct/point_kernels.hpp>
#include <epsflow/gpu/direct/tally.cuh>
#include <epsflow/gpu/grid/row_test.cuh>

namespace epsflow::gpu {
namespace {

/// Calls f(candidate) for the candidates of a row before `end`, until it returns false.
template <class F>
__device__ void for_each_candidate(const GridView& grid, std::uint32_t row, std::uint32_t end, F f) {
  const std::uint32_t cell = grid.cell_of[row];
  for (std::uint64_t r = grid.range_offsets[cell]; r < grid.range_offsets[cell + 1]; ++r) {
    const Range range = grid.ranges[r];
    if (range.begin >= end) return;
    for (std::uint32_t q = range.begin; q < min(range.end, end); ++q) {
      if (!f(q)) return;
    }
  }
}

template <class T, unsigned kKind, class Counting>
__global__ void __launch_bounds__(tuning::kDirectThreads)
    count_kernel(GridView grid, Range rows, std::uint32_t most, Counting counting, std::uint32_t* counts,
                 std::uint32_t* core_bits) {
  const std::uint64_t row = rows.begin + direct_thread();
  std::uint32_t count = 0;
  if (row < rows.end) {
    const DeviceRowTest<T, kKind> test(grid, static_cast<std::uint32_t>(row));
    typename Counting::Sum sum = 0;
    for_each_candidate(grid, static_cast<std::uint32_t>(row), grid.size, [&](std::uint32_t q) {
      if (test(q)) sum += counting.of_point(q);
      return !counting.enough(sum);
    });
    count = counting.count(sum);
    if (counts != nullptr) counts[row] = count;
  }
  if (core_bits == nullptr) return;
  const unsigned word = __ballot_sync(tuning::kWholeWarp, row < rows.end && count >= most);
  if (row < rows.end && threadIdx.x % 32 == 0) core_bits[row / 32] = word;
}

__global__ void begin_kernel(const std::uint32_t* core_bits, const std::uint32_t* before, std::uint32_t size,
                             std::uint32_t* parents) {
  const std::uint64_t thread = direct_thread();
  if (thread >= size) return;
  const auto p = static_cast<std::uint32_t>(thread);
  if (before != nullptr && bit_of(before, p)) return;
  parents[p] = bit_of(core_bits, p) ? p : kNotCore;
}

template <class T, unsigned kKind>
__global__ void __launch_bounds__(tuning::kDirectThreads)
    unite_kernel(GridView grid, Range rows, const std::uint32_t* before, std::uint32_t* parents) {
  const std::uint64_t thread = rows.begin + direct_thread();
  if (thread >= rows.end) return;
  const auto row = static_cast<std::uint32_t>(thread);
  const DisjointSets sets(parents);
  if (sets.parent(row) == kNotCore) return;
  const bool was_core = before != nullptr && bit_of(before, row);
  const DeviceRowTest<T, kKind> test(grid, row);
  std::uint32_t root = sets.find(row);
  for_each_candidate(grid, row, row, [&](std::uint32_t q) {
    const std::uint32_t parent = sets.parent(q);
    if (parent == kNotCore || parent == root || (was_core && bit_of(before, q)) || !test(q)) return true;
    root = sets.unite(row, q);
    return true;
  });
}

template <class T, unsigned kKind>
__global__ void __launch_bounds__(tuning::kDirectThreads)
    label_kernel(GridView grid, Range rows, const std::uint32_t* order, std::uint32_t labelled,
                 const std::uint32_t* numbers, std::int32_t* labels, std::uint32_t* sizes, Tally* tally) {
  const std::uint64_t thread = rows.begin + direct_thread();
  bool noise = false;
  bool border = false;
  std::uint32_t number = kNoNumber;
  if (thread < rows.end && order[thread] < labelled) {
    const auto row = static_cast<std::uint32_t>(thread);
    number = numbers[row] & kNumberMask;
    if (number == kNoNumber) {
      const DeviceRowTest<T, kKind> test(grid, row);
      for_each_candidate(grid, row, grid.size, [&](std::uint32_t q) {
        const std::uint32_t other = __ldg(numbers + q) & kNumberMask;
        if (other < number && test(q)) number = other;
        return number > 0;
      });
      noise = number == kNoNumber;
      border = !noise;
    }
    if (labels != nullptr) labels[order[row]] = noise ? kNoise : static_cast<std::int32_t>(number);
  }
  tally_points(tally, noise, border);
  add_by_block(sizes, border, number, 1);
}

/// Compiles four to six dimensions of plain spaces, and two or three of others. Plain spaces of fewer dimensions come
/// here only if the cells of their index are not dense boxes, which is so rare that the general kernels suffice.
template <class F>
void with_grid_types(const GridView& grid, F f) {
  if (grid.space.plain()) return with_row_types<4, 5, 6>(grid, f);
  with_types<kOtherSpace + 2, kOtherSpace + 3, kOtherSpace>(grid.precision, kOtherSpace + grid.dims, f);
}

}  // namespace

void launch_count_points(const GridView& grid, Range rows, const MinptsRange& minpts, const WeighingView* weights,
                         std::uint32_t* counts, std::uint32_t* core_bits, cudaStream_t stream) {
  with_grid_types(grid, [&]<class T, unsigned kKind>() {
    with_counting(weights, minpts, [&]<class Counting>(const Counting& counting) {
      count_kernel<T, kKind><<<direct_blocks(rows.size()), tuning::kDirectThreads, 0, stream>>>(
          grid, rows, minpts.most, counting, counts, core_bits);
    });
  });
  check_launch(stream);
}

void launch_begin_points(const std::uint32_t* core_bits, const std::uint32_t* before, std::uint32_t size,
                         std::uint32_t* parents, cudaStream_t stream) {
  begin_kernel<<<direct_blocks(size), tuning::kDirectThreads, 0, stream>>>(core_bits, before, size, parents);
  check_launch(stream);
}

void launch_unite_points(const GridView& grid, Range rows, const std::uint32_t* before, std::uint32_t* parents,
                         cudaStream_t stream) {
  with_grid_types(grid, [&]<class T, unsigned kKind>() {
    unite_kernel<T, kKind>
        <<<direct_blocks(rows.size()), tuning::kDirectThreads, 0, stream>>>(grid, rows, before, parents);
  });
  check_launch(stream);
}

void launch_label_points(const GridView& grid, Range rows, const std::uint32_t* order, std::uint32_t labelled,
                         const std::uint32_t* numbers, std::int32_t* labels, std::uint32_t* sizes, Tally* tally,
                         cudaStream_t stream) {
  with_grid_types(grid, [&]<class T, unsigned kKind>() {
    label_kernel<T, kKind><<<direct_blocks(rows.size()), tuning::kDirectThreads, 0, stream>>>(
        grid, rows, order, labelled, numbers, labels, sizes, tally);
  });
  check_launch(stream);
}

}  // namespace epsflow::gpu

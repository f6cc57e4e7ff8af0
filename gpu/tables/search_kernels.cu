#include <algorithm>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_types.hpp>
#include <epsflow/gpu/grid/row_test.cuh>
#include <epsflow/gpu/tables/search_kernels.hpp>

namespace epsflow::gpu {
namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kAll = 0xFFFFFFFFU;

/// For kernels with kPointThreads threads in a block. 64-bit, because there may be nearly 2^32 points.
__device__ std::uint64_t thread_number() { return std::uint64_t{blockIdx.x} * tuning::kPointThreads + threadIdx.x; }

template <class T, unsigned kKind>
__global__ void __launch_bounds__(tuning::kPointThreads)
    count_rows_kernel(GridView grid, RowSet rows, std::uint32_t* counts) {
  const std::uint64_t i = thread_number();
  if (i >= rows.count) return;
  const std::uint32_t row = rows.begin + static_cast<std::uint32_t>(i) * rows.stride;
  const DeviceRowTest<T, kKind> test(grid, row);
  const std::uint32_t cell = grid.cell_of[row];
  std::uint32_t count = 0;
  for (std::uint64_t r = grid.range_offsets[cell]; r < grid.range_offsets[cell + 1]; ++r) {
    const Range range = grid.ranges[r];
    for (std::uint32_t j = range.begin; j < range.end; ++j) count += test(j) ? 1 : 0;
  }
  counts[i] = count;
}

template <class T, unsigned kKind>
__global__ void __launch_bounds__(tuning::kPointThreads)
    fill_rows_kernel(GridView grid, Range rows, const std::uint64_t* offsets, std::uint32_t* ids) {
  constexpr unsigned kTeam = tuning::kRowThreads;
  const std::uint64_t i = thread_number() / kTeam;
  if (i >= rows.end - rows.begin) return;  // whole teams
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned member = lane % kTeam;
  const unsigned shift = lane - member;
  const unsigned team = ((1U << kTeam) - 1) << shift;
  const std::uint32_t row = rows.begin + static_cast<std::uint32_t>(i);
  const DeviceRowTest<T, kKind> test(grid, row);
  const std::uint32_t cell = grid.cell_of[row];
  std::uint32_t* out = ids + (offsets[row] - offsets[rows.begin]);
  for (std::uint64_t r = grid.range_offsets[cell]; r < grid.range_offsets[cell + 1]; ++r) {
    const Range range = grid.ranges[r];
    for (std::uint64_t first = range.begin; first < range.end; first += kTeam) {
      const auto j = static_cast<std::uint32_t>(first + member);
      const bool hit = first + member < range.end && test(j);
      const unsigned hits = (__ballot_sync(team, hit) & team) >> shift;
      if (hit) out[__popc(hits & ((1U << member) - 1))] = j;
      out += __popc(hits);
    }
  }
}

template <class T, unsigned kKind>
__global__ void __launch_bounds__(tuning::kPointThreads)
    pack_rows_kernel(GridView grid, Range rows, std::uint64_t first_word, std::uint32_t* words, std::uint32_t* counts) {
  const std::uint64_t i = thread_number();
  if (i >= rows.end - rows.begin) return;
  const std::uint32_t row = rows.begin + static_cast<std::uint32_t>(i);
  const DeviceRowTest<T, kKind> test(grid, row);
  const std::uint32_t cell = grid.cell_of[row];
  const std::uint32_t cell_begin = grid.cell_starts[cell];
  const std::uint64_t cell_word = grid.cell_words[cell];
  const std::uint64_t row_words = (grid.cell_words[cell + 1] - cell_word) / (grid.cell_starts[cell + 1] - cell_begin);
  std::uint32_t* out = words + (cell_word + (row - cell_begin) * row_words - first_word);
  std::uint32_t count = 0;
  for (std::uint64_t r = grid.range_offsets[cell]; r < grid.range_offsets[cell + 1]; ++r) {
    const Range range = grid.ranges[r];
    for (std::uint32_t first = range.begin; first < range.end;) {
      const std::uint32_t length = min(kWarp, range.end - first);
      std::uint32_t word = 0;
      for (std::uint32_t b = 0; b < length; ++b) word |= (test(first + b) ? 1U : 0U) << b;
      *out++ = word;
      count += __popc(word);
      first += length;
    }
  }
  counts[i] = count;
}

/// Pairs that a warp has found but not written. All lanes of the warp must call its functions together.
class WarpPairs {
 public:
  __device__ WarpPairs(uint2* staged, PairBuffer out) : staged_(staged), out_(out), lane_(threadIdx.x % kWarp) {}

  __device__ void add(bool hit, std::uint32_t row, std::uint32_t neighbor) {
    const unsigned hits = __ballot_sync(kAll, hit);
    if (hit) staged_[count_ + __popc(hits & ((1U << lane_) - 1))] = make_uint2(row, neighbor);
    count_ += __popc(hits);
    if (count_ > tuning::kWarpPairs - kWarp) flush();
  }

  __device__ void flush() {
    __syncwarp();
    std::uint64_t begin = 0;
    if (lane_ == 0 && count_ > 0) {
      begin = atomicAdd(reinterpret_cast<unsigned long long*>(out_.counters), static_cast<unsigned long long>(count_));
    }
    begin = __shfl_sync(kAll, begin, 0);
    for (unsigned i = lane_; i < count_; i += kWarp) {
      if (begin + i < out_.capacity) {
        out_.rows[begin + i] = staged_[i].x;
        out_.neighbors[begin + i] = staged_[i].y;
      }
    }
    __syncwarp();
    count_ = 0;
  }

 private:
  uint2* staged_;
  PairBuffer out_;
  unsigned lane_;
  unsigned count_ = 0;
};

template <class T, unsigned kKind>
__global__ void __launch_bounds__(tuning::kPointThreads) global_kernel(GridView grid, RowSet rows, PairBuffer out) {
  __shared__ uint2 staged[tuning::kPointThreads / kWarp][tuning::kWarpPairs];
  WarpPairs pairs(staged[threadIdx.x / kWarp], out);
  const std::uint64_t i = thread_number();
  const bool active = i < rows.count;
  const std::uint32_t row = active ? rows.begin + static_cast<std::uint32_t>(i) * rows.stride : rows.begin;
  const DeviceRowTest<T, kKind> test(grid, row);
  const std::uint32_t cell = grid.cell_of[row];
  std::uint64_t range = grid.range_offsets[cell];
  const std::uint64_t last_range = active ? grid.range_offsets[cell + 1] : range;
  std::uint32_t candidate = 0;
  std::uint32_t end = 0;
  while (true) {
    if (candidate == end && range < last_range) {  // ranges are not empty
      candidate = grid.ranges[range].begin;
      end = grid.ranges[range].end;
      ++range;
    }
    const bool has = candidate < end;
    if (__ballot_sync(kAll, has) == 0) break;
    pairs.add(has && test(candidate), row, candidate);
    if (has) ++candidate;
  }
  pairs.flush();
}

template <class T, unsigned kKind>
__global__ void __launch_bounds__(tuning::kCellThreads)
    shared_kernel(GridView grid, CellSet cells, PairBuffer out, unsigned piece_size) {
  extern __shared__ double piece_memory[];
  __shared__ uint2 staged[tuning::kCellThreads / kWarp][tuning::kWarpPairs];
  T* const piece = reinterpret_cast<T*>(piece_memory);
  WarpPairs pairs(staged[threadIdx.x / kWarp], out);
  const T* const coordinates = static_cast<const T*>(grid.coordinates);
  const std::uint32_t cell = cells.begin + blockIdx.x * cells.stride;
  const std::uint32_t first_row = max(grid.cell_starts[cell], cells.rows.begin);
  const std::uint32_t last_row = min(grid.cell_starts[cell + 1], cells.rows.end);
  if (threadIdx.x == 0 && first_row < last_row) {
    atomicAdd(reinterpret_cast<unsigned long long*>(out.counters + 1),
              static_cast<unsigned long long>(last_row - first_row));
  }
  // Processes as many points of the cell at a time as the block has threads.
  for (std::uint64_t base = first_row; base < last_row; base += tuning::kCellThreads) {
    const bool active = threadIdx.x < last_row - base;
    const bool warp_active = threadIdx.x / kWarp * kWarp < last_row - base;
    const std::uint32_t row = static_cast<std::uint32_t>(active ? base + threadIdx.x : base);
    const DeviceRowTest<T, kKind> test(grid, row);
    for (std::uint64_t r = grid.range_offsets[cell]; r < grid.range_offsets[cell + 1]; ++r) {
      const Range range = grid.ranges[r];
      for (std::uint32_t first = range.begin; first < range.end;) {
        const std::uint32_t length = min(piece_size, range.end - first);
        for (std::size_t k = 0; k < test.dims(); ++k) {
          for (std::uint32_t j = threadIdx.x; j < length; j += tuning::kCellThreads) {
            piece[k * piece_size + j] = coordinates[k * grid.size + first + j];
          }
        }
        __syncthreads();
        if (warp_active) {
          for (std::uint32_t j = 0; j < length; ++j) {
            pairs.add(active && test.in_shared(piece + j, piece_size), row, first + j);
          }
        }
        __syncthreads();
        first += length;
      }
    }
  }
  pairs.flush();
}

std::uint32_t blocks_of(std::uint64_t items, unsigned threads) {
  return static_cast<std::uint32_t>((items + threads - 1) / threads);
}

/// Compiles plain spaces of up to six dimensions.
template <class F>
void with_grid_types(const GridView& grid, F f) {
  with_row_types<1, 2, 3, 4, 5, 6>(grid, f);
}

}  // namespace

void require_code() {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, count_rows_kernel<double, 2>));
}

void launch_count_rows(const GridView& grid, RowSet rows, std::uint32_t* counts, cudaStream_t stream) {
  if (rows.count == 0) return;
  with_grid_types(grid, [&]<class T, unsigned kKind>() {
    count_rows_kernel<T, kKind>
        <<<blocks_of(rows.count, tuning::kPointThreads), tuning::kPointThreads, 0, stream>>>(grid, rows, counts);
  });
  check_launch(stream);
}

void launch_fill_rows(const GridView& grid, Range rows, const std::uint64_t* offsets, std::uint32_t* ids,
                      cudaStream_t stream) {
  if (rows.size() == 0) return;
  const std::uint64_t threads = std::uint64_t{rows.size()} * tuning::kRowThreads;
  with_grid_types(grid, [&]<class T, unsigned kKind>() {
    fill_rows_kernel<T, kKind>
        <<<blocks_of(threads, tuning::kPointThreads), tuning::kPointThreads, 0, stream>>>(grid, rows, offsets, ids);
  });
  check_launch(stream);
}

void launch_pack_rows(const GridView& grid, Range rows, std::uint64_t first_word, std::uint32_t* words,
                      std::uint32_t* counts, cudaStream_t stream) {
  if (rows.size() == 0) return;
  with_grid_types(grid, [&]<class T, unsigned kKind>() {
    pack_rows_kernel<T, kKind><<<blocks_of(rows.size(), tuning::kPointThreads), tuning::kPointThreads, 0, stream>>>(
        grid, rows, first_word, words, counts);
  });
  check_launch(stream);
}

void launch_global(const GridView& grid, RowSet rows, PairBuffer pairs, cudaStream_t stream) {
  if (rows.count == 0) return;
  with_grid_types(grid, [&]<class T, unsigned kKind>() {
    global_kernel<T, kKind>
        <<<blocks_of(rows.count, tuning::kPointThreads), tuning::kPointThreads, 0, stream>>>(grid, rows, pairs);
  });
  check_launch(stream);
}

void launch_shared(const GridView& grid, CellSet cells, PairBuffer pairs, cudaStream_t stream) {
  if (cells.count == 0) return;
  const auto point_bytes = static_cast<std::uint32_t>(grid.dims * bytes_of(grid.precision));
  const unsigned piece_size = std::max(1U, tuning::kCandidateBytes / point_bytes);
  with_grid_types(grid, [&]<class T, unsigned kKind>() {
    shared_kernel<T, kKind><<<cells.count, tuning::kCellThreads, std::size_t{piece_size} * point_bytes, stream>>>(
        grid, cells, pairs, piece_size);
  });
  check_launch(stream);
}

}  // namespace epsflow::gpu

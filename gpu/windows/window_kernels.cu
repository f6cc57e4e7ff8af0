#include <algorithm>

#include <epsflow/core/labels.hpp>
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/windows/window_kernels.hpp>

namespace epsflow::gpu {
namespace {

constexpr unsigned kThreads = tuning::kIndexThreads;

std::uint32_t blocks_of(std::uint64_t items) { return static_cast<std::uint32_t>((items + kThreads - 1) / kThreads); }
__device__ std::uint64_t thread_number() { return std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; }

/// Returns the row before the step of one that stayed.
__device__ std::uint32_t earlier_row(const StayingRows& rows, std::uint32_t row) {
  if (rows.leaving == nullptr) return row + rows.left;
  std::uint32_t low = 0;
  std::uint32_t high = rows.left;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (__ldg(rows.leaving + middle) - middle <= row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return row + low;
}

/// Clusters of which each block counts points by itself. Those with the first numbers are often the largest, and their
/// counters are side by side, so all threads would wait for a few sectors of memory.
constexpr std::uint32_t kOwnClusters = 1024;
/// The most blocks of a kernel that counts.
constexpr std::uint32_t kTallyBlocks = 132 * 8;
/// Stands for no row and no cluster: the start of each search for a smallest number.
constexpr std::uint32_t kNone = ~0U;

/// Lowers a number. Most calls need no atomic, as the smallest value is soon known.
__device__ void lower(std::uint32_t* number, std::uint32_t value) {
  if (value < *static_cast<volatile std::uint32_t*>(number)) atomicMin(number, value);
}

__global__ void __launch_bounds__(kThreads)
    keep_rows_kernel(StayingRows rows, const double* from, std::uint32_t dims, double* to) {
  const std::uint64_t row = thread_number();
  if (row >= rows.stay) return;
  const double* const at = from + std::uint64_t{earlier_row(rows, static_cast<std::uint32_t>(row))} * dims;
  for (std::uint32_t k = 0; k < dims; ++k) to[row * dims + k] = at[k];
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    take_rows_kernel(const T* from, std::uint32_t dims, const std::uint32_t* rows, std::uint64_t count, double* to) {
  const std::uint64_t i = thread_number();
  if (i >= count * dims) return;
  const std::uint64_t row = i / dims;
  to[i] = static_cast<double>(rows == nullptr ? from[i] : from[rows[row] * std::uint64_t{dims} + (i - row * dims)]);
}

__global__ void __launch_bounds__(kThreads)
    tally_clusters_kernel(StayingRows staying, LabelledRows before, LabelledRows after, std::uint32_t rows,
                          WindowTally tally) {
  __shared__ std::uint32_t core[kOwnClusters], borders[kOwnClusters], first_row[kOwnClusters], first[kOwnClusters];
  for (std::uint32_t c = threadIdx.x; c < kOwnClusters; c += kThreads) {
    core[c] = borders[c] = 0;
    first_row[c] = first[c] = kNone;
  }
  __syncthreads();
  for (std::uint64_t i = thread_number(); i < rows; i += std::uint64_t{gridDim.x} * kThreads) {
    const auto row = static_cast<std::uint32_t>(i);
    const std::int32_t label = after.labels[row];
    if (label == kNoise) continue;
    const auto cluster = static_cast<std::uint32_t>(label);
    const bool is_own = cluster < kOwnClusters;
    if (after.core[row] == 0) {
      atomicAdd((is_own ? borders : tally.borders) + cluster, 1U);
      continue;
    }
    atomicAdd((is_own ? core : tally.core) + cluster, 1U);
    lower((is_own ? first_row : tally.first_row) + cluster, row);
    if (row >= staying.stay) continue;
    const std::uint32_t earlier = earlier_row(staying, row);
    if (before.core[earlier] == 0) continue;
    const auto last = static_cast<std::uint32_t>(before.labels[earlier]);
    lower((last < kOwnClusters ? first : tally.first) + last, cluster);
  }
  __syncthreads();
  for (std::uint32_t c = threadIdx.x; c < kOwnClusters; c += kThreads) {
    if (core[c] > 0) atomicAdd(tally.core + c, core[c]);
    if (borders[c] > 0) atomicAdd(tally.borders + c, borders[c]);
    if (first_row[c] != kNone) lower(tally.first_row + c, first_row[c]);
    if (first[c] != kNone) lower(tally.first + c, first[c]);
  }
}

__device__ std::uint32_t slot_of(std::uint64_t key, std::uint32_t slots) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;  // 2^64 divided by the golden ratio
  return static_cast<std::uint32_t>((key * kGolden) >> 32) & (slots - 1);
}

__device__ void add_pair(const PairTable& table, std::uint64_t key) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  std::uint32_t slot = slot_of(key, table.slots);
  while (*static_cast<volatile std::uint32_t*>(table.pairs) <= table.slots / 2) {
    const std::uint64_t found =
        atomicCAS(reinterpret_cast<unsigned long long*>(table.keys + slot), static_cast<unsigned long long>(kNoPair),
                  static_cast<unsigned long long>(key));
    if (found == kNoPair || found == key) {
      if (found == kNoPair) atomicAdd(table.pairs, 1U);
      atomicAdd(table.counts + slot, 1U);
      return;
    }
    slot = (slot + 1) & (table.slots - 1);
  }
}

__global__ void __launch_bounds__(kThreads) tally_pairs_kernel(StayingRows staying, LabelledRows before,
                                                               LabelledRows after, WindowTally tally, PairTable table) {
  __shared__ std::uint32_t shared[kOwnClusters];
  for (std::uint32_t c = threadIdx.x; c < kOwnClusters; c += kThreads) shared[c] = 0;
  __syncthreads();
  for (std::uint64_t i = thread_number(); i < staying.stay; i += std::uint64_t{gridDim.x} * kThreads) {
    const auto row = static_cast<std::uint32_t>(i);
    if (after.core[row] == 0) continue;
    const std::uint32_t earlier = earlier_row(staying, row);
    if (before.core[earlier] == 0) continue;
    const auto last = static_cast<std::uint32_t>(before.labels[earlier]);
    const auto cluster = static_cast<std::uint32_t>(after.labels[row]);
    if (tally.first[last] == cluster) {
      atomicAdd((last < kOwnClusters ? shared : tally.shared) + last, 1U);
    } else {
      add_pair(table, std::uint64_t{last} << 32 | cluster);
    }
  }
  __syncthreads();
  for (std::uint32_t c = threadIdx.x; c < kOwnClusters; c += kThreads) {
    if (shared[c] > 0) atomicAdd(tally.shared + c, shared[c]);
  }
}

__global__ void __launch_bounds__(kThreads)
    list_pairs_kernel(PairTable table, std::uint64_t* keys, std::uint32_t* counts, std::uint32_t* taken) {
  const std::uint64_t slot = thread_number();
  if (slot >= table.slots || table.keys[slot] == kNoPair) return;
  const std::uint32_t i = atomicAdd(taken, 1U);
  keys[i] = table.keys[slot];
  counts[i] = table.counts[slot];
}

}  // namespace

void launch_keep_rows(const StayingRows& rows, const double* from, std::uint32_t dims, double* to,
                      cudaStream_t stream) {
  if (rows.stay == 0) return;
  keep_rows_kernel<<<blocks_of(rows.stay), kThreads, 0, stream>>>(rows, from, dims, to);
  check_launch(stream);
}

void launch_take_rows(const void* from, Precision precision, std::uint32_t dims, const std::uint32_t* rows,
                      std::uint64_t count, double* to, cudaStream_t stream) {
  if (count == 0) return;
  const auto launch = [&]<class T>(const T* values) {
    take_rows_kernel<T><<<blocks_of(count * dims), kThreads, 0, stream>>>(values, dims, rows, count, to);
    check_launch(stream);
  };
  if (precision == Precision::float32) {
    launch(static_cast<const float*>(from));
  } else {
    launch(static_cast<const double*>(from));
  }
}

void launch_tally_clusters(const StayingRows& staying, LabelledRows before, LabelledRows after, std::uint32_t rows,
                           const WindowTally& tally, cudaStream_t stream) {
  if (rows == 0) return;
  tally_clusters_kernel<<<std::min(blocks_of(rows), kTallyBlocks), kThreads, 0, stream>>>(staying, before, after, rows,
                                                                                          tally);
  check_launch(stream);
}

void launch_tally_pairs(const StayingRows& staying, LabelledRows before, LabelledRows after, const WindowTally& tally,
                        const PairTable& table, cudaStream_t stream) {
  if (staying.stay == 0) return;
  tally_pairs_kernel<<<std::min(blocks_of(staying.stay), kTallyBlocks), kThreads, 0, stream>>>(staying, before, after,
                                                                                               tally, table);
  check_launch(stream);
}

void launch_list_pairs(const PairTable& table, std::uint64_t* keys, std::uint32_t* counts, std::uint32_t* taken,
                       cudaStream_t stream) {
  list_pairs_kernel<<<blocks_of(table.slots), kThreads, 0, stream>>>(table, keys, counts, taken);
  check_launch(stream);
}

}  // namespace epsflow::gpu

#include <epsflow/clustering/cluster_matching.hpp>
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

/// Calls add(lanes) for lanes of the warp with equal values, from the first of them: twice for those that have the
/// value of a first lane, as a few clusters may have most of the points, and for each other lane alone. Only lanes that
/// take part are called. All lanes of the warp must call it.
template <class Value, class Add>
__device__ void add_by_value(bool takes_part, Value value, Add&& add) {
  constexpr int kShared = 2;
  const unsigned lane = threadIdx.x % 32;
  unsigned left = __ballot_sync(tuning::kWholeWarp, takes_part);
  for (int i = 0; i < kShared && left != 0; ++i) {
    const int first = __ffs(static_cast<int>(left)) - 1;
    const Value shared = __shfl_sync(tuning::kWholeWarp, value, first);
    const unsigned same = __ballot_sync(tuning::kWholeWarp, takes_part && value == shared) & left;
    if (lane == static_cast<unsigned>(first)) add(same);
    left &= ~same;
  }
  if ((left >> lane & 1U) != 0) add(1U << lane);
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
  const std::uint64_t thread = thread_number();
  const auto row = static_cast<std::uint32_t>(thread);
  const std::int32_t label = thread < rows ? after.labels[row] : kNoise;
  const bool is_core = label != kNoise && after.core[row] != 0;
  const auto cluster = static_cast<std::uint32_t>(label);
  add_by_value(label != kNoise && !is_core, cluster,
               [&](unsigned lanes) { atomicAdd(tally.borders + cluster, static_cast<std::uint32_t>(__popc(lanes))); });
  add_by_value(is_core, cluster, [&](unsigned lanes) {
    atomicAdd(tally.core + cluster, static_cast<std::uint32_t>(__popc(lanes)));
    // Most rows need no atomic, as the first row of a cluster is soon known.
    if (row < *static_cast<volatile std::uint32_t*>(tally.first_row + cluster))
      atomicMin(tally.first_row + cluster, row);
  });
  if (!is_core || row >= staying.stay) return;
  const std::uint32_t earlier = earlier_row(staying, row);
  const std::int32_t last = before.labels[earlier];
  if (last == kNoise || before.core[earlier] == 0) return;
  if (cluster < *static_cast<volatile std::uint32_t*>(tally.first + last)) atomicMin(tally.first + last, cluster);
}

__device__ std::uint32_t slot_of(std::uint64_t key, std::uint32_t slots) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;  // 2^64 divided by the golden ratio
  return static_cast<std::uint32_t>((key * kGolden) >> 32) & (slots - 1);
}

__device__ void add_pair(const PairTable& table, std::uint64_t key, std::uint32_t points) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  std::uint32_t slot = slot_of(key, table.slots);
  while (*static_cast<volatile std::uint32_t*>(table.pairs) <= table.slots / 2) {
    const std::uint64_t found =
        atomicCAS(reinterpret_cast<unsigned long long*>(table.keys + slot), static_cast<unsigned long long>(kNoPair),
                  static_cast<unsigned long long>(key));
    if (found == kNoPair || found == key) {
      if (found == kNoPair) atomicAdd(table.pairs, 1U);
      atomicAdd(table.counts + slot, points);
      return;
    }
    slot = (slot + 1) & (table.slots - 1);
  }
}

__global__ void __launch_bounds__(kThreads) tally_pairs_kernel(StayingRows staying, LabelledRows before,
                                                               LabelledRows after, WindowTally tally, PairTable table) {
  const std::uint64_t thread = thread_number();
  std::uint64_t key = kNoPair;
  if (thread < staying.stay) {
    const auto row = static_cast<std::uint32_t>(thread);
    const std::uint32_t earlier = earlier_row(staying, row);
    const std::int32_t last = before.labels[earlier];
    if (last != kNoise && before.core[earlier] != 0 && after.core[row] != 0)
      key = static_cast<std::uint64_t>(last) << 32 | static_cast<std::uint32_t>(after.labels[row]);
  }
  add_by_value(key != kNoPair, key, [&](unsigned lanes) {
    const auto points = static_cast<std::uint32_t>(__popc(lanes));
    const auto last = static_cast<std::uint32_t>(key >> 32);
    if (tally.first[last] == static_cast<std::uint32_t>(key)) {
      atomicAdd(tally.shared + last, points);
    } else {
      add_pair(table, key, points);
    }
  });
}

__global__ void __launch_bounds__(kThreads)
    list_pairs_kernel(PairTable table, std::uint64_t* keys, std::uint32_t* counts, std::uint32_t* taken) {
  const std::uint64_t slot = thread_number();
  if (slot >= table.slots || table.keys[slot] == kNoPair) return;
  const std::uint32_t place = atomicAdd(taken, 1U);
  keys[place] = table.keys[slot];
  counts[place] = table.counts[slot];
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
  tally_clusters_kernel<<<blocks_of(rows), kThreads, 0, stream>>>(staying, before, after, rows, tally);
  check_launch(stream);
}

void launch_tally_pairs(const StayingRows& staying, LabelledRows before, LabelledRows after, const WindowTally& tally,
                        const PairTable& table, cudaStream_t stream) {
  if (staying.stay == 0) return;
  tally_pairs_kernel<<<blocks_of(staying.stay), kThreads, 0, stream>>>(staying, before, after, tally, table);
  check_launch(stream);
}

void launch_list_pairs(const PairTable& table, std::uint64_t* keys, std::uint32_t* counts, std::uint32_t* taken,
                       cudaStream_t stream) {
  list_pairs_kernel<<<blocks_of(table.slots), kThreads, 0, stream>>>(table, keys, counts, taken);
  check_launch(stream);
}

}  // namespace epsflow::gpu

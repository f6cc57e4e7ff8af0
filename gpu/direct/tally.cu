#include <algorithm>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/disjoint_sets.cuh>
#include <epsflow/gpu/direct/rank_bitmap.cuh>
#include <epsflow/gpu/direct/tally.cuh>
#include <epsflow/gpu/direct/tally.hpp>

namespace epsflow::gpu {
namespace {

__global__ void compress_kernel(std::uint32_t* parents, std::uint32_t count) {
  const std::uint64_t x = direct_thread();
  if (x >= count) return;
  const DisjointSets sets(parents);
  const auto node = static_cast<std::uint32_t>(x);
  const std::uint32_t parent = sets.parent(node);
  if (parent == kNotCore || parent == node) return;
  sets.flatten(node);
}

/// Links each node to its final root, and finds the smallest core id of each root.
__global__ void __launch_bounds__(tuning::kDirectThreads) flatten_kernel(Nodes nodes, Numbering numbering) {
  const std::uint64_t x = direct_thread();
  const auto node = static_cast<std::uint32_t>(x);
  const DisjointSets sets(numbering.parents);
  const bool valid = x < nodes.count && sets.parent(node) != kNotCore;
  const unsigned valid_lanes = __ballot_sync(tuning::kWholeWarp, valid);
  if (valid_lanes == 0) return;  // whole warps
  std::uint32_t root = kNotCore;
  std::uint32_t id = kNotCore;
  if (valid) {
    root = sets.flatten(node);
    id = __ldg(nodes.order + core_of(nodes, node).first);
  }
  // Threads of a warp mostly share a root. If millions of nodes do, reading first avoids most atomics.
  const std::uint32_t shared = __shfl_sync(tuning::kWholeWarp, root, __ffs(static_cast<int>(valid_lanes)) - 1);
  const bool shares = valid && root == shared;
  const std::uint32_t least = __reduce_min_sync(tuning::kWholeWarp, shares ? id : kNotCore);
  const auto offer = [&](std::uint32_t to, std::uint32_t value) {
    const volatile std::uint32_t* const seen = numbering.smallest + to;
    if (*seen > value) atomicMin(numbering.smallest + to, value);
  };
  if (threadIdx.x % 32 == static_cast<unsigned>(__ffs(static_cast<int>(valid_lanes))) - 1) offer(shared, least);
  if (valid && !shares) offer(root, id);
}

__global__ void mark_kernel(Numbering numbering, std::uint32_t count) {
  const std::uint64_t x = direct_thread();
  if (x >= count || numbering.parents[x] != x) return;
  const std::uint32_t id = numbering.smallest[x];
  atomicOr(&numbering.ids[id / 32].bits, 1U << (id % 32));
}

__global__ void number_roots_kernel(Numbering numbering, std::uint32_t count) {
  const std::uint64_t x = direct_thread();
  if (x < count && numbering.parents[x] == x) numbering.numbers[x] = rank_before(numbering.ids, numbering.smallest[x]);
}

__global__ void __launch_bounds__(tuning::kDirectThreads) number_kernel(Nodes nodes, Numbering numbering) {
  const std::uint64_t x = direct_thread();
  const std::uint32_t root = x < nodes.count ? numbering.parents[x] : kNotCore;
  std::uint32_t number = kNoNumber;
  std::uint32_t points = 0;
  if (root != kNotCore) {
    number = numbering.numbers[root] & kNumberMask;  // the root's own thread may have set kWholeNode already
    const CoreOfNode core = core_of(nodes, static_cast<std::uint32_t>(x));
    points = core.count;
    numbering.numbers[x] = number | (core.count == core.size ? kWholeNode : 0);
  } else if (x < nodes.count) {
    numbering.numbers[x] = kNoNumber;
  }
  add_by_block(numbering.sizes, root != kNotCore, number, points);
}

__global__ void __launch_bounds__(tuning::kDirectThreads)
    first_cores_kernel(Numbering numbering, std::uint32_t* first) {
  const std::uint64_t w = direct_thread();
  if (w >= numbering.id_words) return;
  RankWord word = load_word(numbering.ids, w);
  std::uint32_t k = word.rank - static_cast<std::uint32_t>(__popc(word.bits));
  for (; word.bits != 0; word.bits &= word.bits - 1) {
    first[k++] =
        static_cast<std::uint32_t>(32 * w) + static_cast<std::uint32_t>(__ffs(static_cast<int>(word.bits))) - 1;
  }
}

__global__ void __launch_bounds__(tuning::kDirectThreads) largest_kernel(Numbering numbering, Tally* tally) {
  const std::uint32_t clusters = numbering.ids[numbering.id_words - 1].rank;
  const std::uint64_t x = direct_thread();
  if (x == 0) tally->clusters = clusters;
  if (x / 32 * 32 >= clusters) return;  // whole warps
  const std::uint32_t size = __reduce_max_sync(tuning::kWholeWarp, x < clusters ? numbering.sizes[x] : 0U);
  if (threadIdx.x % 32 == 0 && *const_cast<volatile std::uint32_t*>(&tally->largest) < size) {
    atomicMax(&tally->largest, size);
  }
}

__global__ void __launch_bounds__(tuning::kDirectThreads) total_core_kernel(Numbering numbering, Tally* tally) {
  const std::uint32_t clusters = numbering.ids[numbering.id_words - 1].rank;
  const std::uint64_t x = direct_thread();
  if (x == 0) tally->clusters = clusters;
  if (x / 32 * 32 >= clusters) return;  // whole warps
  // The sum of all core points is less than 2^32.
  const std::uint32_t sum = __reduce_add_sync(tuning::kWholeWarp, x < clusters ? numbering.sizes[x] : 0U);
  if (threadIdx.x % 32 == 0) {
    static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
    atomicAdd(reinterpret_cast<unsigned long long*>(&tally->core[blockIdx.x % tuning::kTallies]),
              static_cast<unsigned long long>(sum));
  }
}

__global__ void core_mask_kernel(const std::uint32_t* core_bits, const std::uint32_t* order, std::uint32_t size,
                                 std::uint32_t labelled, std::uint8_t* core) {
  const std::uint64_t p = direct_thread();
  if (p < size && order[p] < labelled) core[order[p]] = bit_of(core_bits, static_cast<std::uint32_t>(p)) ? 1 : 0;
}

__global__ void core_bits_kernel(const std::uint32_t* counts, std::uint32_t size, std::uint32_t minpts,
                                 std::uint32_t* core_bits) {
  const std::uint64_t p = direct_thread();
  const unsigned word = __ballot_sync(tuning::kWholeWarp, p < size && counts[p] >= minpts);
  if (p < size && threadIdx.x % 32 == 0) core_bits[p / 32] = word;
}

}  // namespace

LabelSummary summary_of(const Tally& tally, std::uint64_t points) {
  LabelSummary summary;
  for (unsigned i = 0; i < tuning::kTallies; ++i) {
    summary.noise += tally.noise[i];
    summary.border += tally.border[i];
  }
  summary.clusters = tally.clusters;
  summary.largest = tally.largest;
  summary.core = points - summary.noise - summary.border;
  return summary;
}

LabelSummary core_summary_of(const Tally& tally) {
  LabelSummary summary{.clusters = tally.clusters, .borders_told = false};
  for (const std::uint64_t core : tally.core) summary.core += core;
  return summary;
}

void launch_compress(std::uint32_t* parents, std::uint32_t count, cudaStream_t stream) {
  compress_kernel<<<direct_blocks(count), tuning::kDirectThreads, 0, stream>>>(parents, count);
  check_launch(stream);
}

void launch_number_roots(const Nodes& nodes, const Numbering& numbering, Scratch scratch) {
  const cudaStream_t stream = scratch.stream;
  check(cudaMemsetAsync(numbering.smallest, 0xFF, std::uint64_t{nodes.count} * sizeof(std::uint32_t), stream));
  check(cudaMemsetAsync(numbering.ids, 0, numbering.id_words * sizeof(RankWord), stream));
  const std::uint32_t blocks = direct_blocks(nodes.count);
  flatten_kernel<<<blocks, tuning::kDirectThreads, 0, stream>>>(nodes, numbering);
  check_launch(stream);
  mark_kernel<<<blocks, tuning::kDirectThreads, 0, stream>>>(numbering, nodes.count);
  check_launch(stream);
  launch_rank(numbering.ids, numbering.id_words, scratch);
  number_roots_kernel<<<blocks, tuning::kDirectThreads, 0, stream>>>(numbering, nodes.count);
  check_launch(stream);
}

void launch_number(const Nodes& nodes, const Numbering& numbering, std::uint64_t sizes, cudaStream_t stream) {
  check(cudaMemsetAsync(numbering.sizes, 0, sizes * sizeof(std::uint32_t), stream));
  number_kernel<<<direct_blocks(nodes.count), tuning::kDirectThreads, 0, stream>>>(nodes, numbering);
  check_launch(stream);
}

void launch_first_cores(const Numbering& numbering, std::uint32_t* first, cudaStream_t stream) {
  first_cores_kernel<<<direct_blocks(numbering.id_words), tuning::kDirectThreads, 0, stream>>>(numbering, first);
  check_launch(stream);
}

void launch_largest(const Numbering& numbering, std::uint32_t nodes, Tally* tally, cudaStream_t stream) {
  largest_kernel<<<direct_blocks(nodes), tuning::kDirectThreads, 0, stream>>>(numbering, tally);
  check_launch(stream);
}

void launch_count_core(const Numbering& numbering, std::uint32_t nodes, Tally* tally, cudaStream_t stream) {
  total_core_kernel<<<direct_blocks(nodes), tuning::kDirectThreads, 0, stream>>>(numbering, tally);
  check_launch(stream);
}

void launch_core_mask(const std::uint32_t* core_bits, const std::uint32_t* order, std::uint32_t size,
                      std::uint32_t labelled, std::uint8_t* core, cudaStream_t stream) {
  core_mask_kernel<<<direct_blocks(size), tuning::kDirectThreads, 0, stream>>>(core_bits, order, size, labelled, core);
  check_launch(stream);
}

void launch_core_bits(const std::uint32_t* counts, std::uint32_t size, std::uint32_t minpts, std::uint32_t* core_bits,
                      cudaStream_t stream) {
  core_bits_kernel<<<direct_blocks(size), tuning::kDirectThreads, 0, stream>>>(counts, size, minpts, core_bits);
  check_launch(stream);
}

}  // namespace epsflow::gpu

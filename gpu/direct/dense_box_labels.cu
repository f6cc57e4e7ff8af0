#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/dense_box_kernels.hpp>
#include <epsflow/gpu/direct/dense_box_members.cuh>
#include <epsflow/gpu/direct/dense_box_remaining_points.cuh>
#include <epsflow/gpu/direct/dense_box_search.cuh>
#include <epsflow/gpu/direct/dense_box_view.cuh>
#include <epsflow/gpu/direct/rank_bitmap.cuh>
#include <epsflow/gpu/direct/tally.cuh>

namespace epsflow::gpu {
namespace {

template <class T, unsigned D>
__global__ void __launch_bounds__(tuning::kDirectThreads)
    label_ids_kernel(DenseBoxView view, const void* points, const std::uint32_t* numbers, std::int32_t* labels,
                     std::uint8_t* core) {
  const std::uint64_t i = direct_thread();
  if (i >= view.ghosts.labelled) return;
  const Coordinates<T, D> point = load_coordinates<T, D>(points, i);
  const std::uint64_t key = cell_key(view, point, static_cast<std::uint32_t>(i));
  const std::uint32_t entry = __ldg(numbers + rank_before(view.words, key));
  if ((entry & kWholeNode) == 0) return;
  labels[i] = static_cast<std::int32_t>(entry & kNumberMask);
  if (core != nullptr) core[i] = 1;
}

/// Replaces a number if there were more candidates than a thread may test.
constexpr std::uint32_t kGaveUp = 0xFFFFFFFFU;

/// Returns the lowest number among clusters with a core point near `point`, which is in `cell`, if it is lower than
/// `best`, else `best`; or kGaveUp. search(members): returns whether a core point of a cell is near `point`.
template <class T, unsigned D, class Search>
__device__ std::uint32_t lowest_number(const DenseBoxView& view, const Nodes& nodes, const std::uint32_t* numbers,
                                       const Coordinates<T, D>& point, std::uint32_t cell, std::uint32_t best,
                                       Search search) {
  if (best == 0) return best;
  for_cells_near(view, point, cell, [&](std::uint32_t other) {
    const std::uint32_t number = __ldg(numbers + other) & kNumberMask;
    if (number >= best) return true;  // kNoNumber is the highest
    const Verdict verdict = search(Members(nodes, other));
    if (verdict == Verdict::apart) return true;
    best = verdict == Verdict::open ? kGaveUp : number;
    return verdict == Verdict::near && best > 0;
  });
  return best;
}

/// Searches a cell with a block of kPairThreads threads, which divide its points. Returns the same to all threads.
template <class T, unsigned D>
__device__ Verdict search_in_block(const DenseBoxView& view, const Nodes& nodes, const Coordinates<T, D>& point,
                                   const Members& members) {
  bool near = false;
  for (std::uint64_t first = members.span.begin; first < members.span.end && !near; first += tuning::kBlockCandidates) {
    const std::uint64_t end = min(first + tuning::kBlockCandidates, std::uint64_t{members.span.end});
    bool hit = false;
    for (std::uint64_t q = first + threadIdx.x; q < end && !hit; q += tuning::kPairThreads) {
      hit = members.is_core(nodes, static_cast<std::uint32_t>(q)) &&
            near_enough(point, load_coordinates<T, D>(view.points, q), view.eps_squared);
    }
    near = __syncthreads_or(hit ? 1 : 0) != 0;
  }
  return near ? Verdict::near : Verdict::apart;
}

template <class T, unsigned D>
__global__ void __launch_bounds__(tuning::kDirectThreads)
    label_positions_kernel(DenseBoxView view, Nodes nodes, const std::uint32_t* numbers, bool all,
                           RemainingPoints remaining, std::int32_t* labels, std::uint8_t* core, std::uint32_t* sizes) {
  const std::uint64_t thread = direct_thread();
  const auto p = static_cast<std::uint32_t>(thread);
  bool noise = false;
  bool border = false;
  std::uint32_t number = kNoNumber;
  if (thread < view.size && !view.ghosts.contains(view.order[p])) {
    const std::uint32_t cell = view.cell_of[p];
    const std::uint32_t entry = __ldg(numbers + cell);
    const bool whole = (entry & kWholeNode) != 0;
    if (all || !whole) {
      number = entry & kNumberMask;
      const bool is_core = whole || (number != kNoNumber && bit_of(nodes.core, p));
      if (!is_core) {
        const std::uint32_t own = number;
        (void)search_or_leave(remaining, p, [&](std::uint32_t limit) {
          const Coordinates<T, D> point = load_coordinates<T, D>(view.points, p);
          number = lowest_number(view, nodes, numbers, point, cell, own, [&](const Members& members) {
            return search_alone(view, nodes, point, members, limit);
          });
          return number != kGaveUp;
        });
        noise = number == kNoNumber;
        border = number < kNoNumber;
      }
      const std::uint32_t id = view.order[p];
      if (labels != nullptr && number != kGaveUp)
        labels[id] = number == kNoNumber ? kNoise : static_cast<std::int32_t>(number);
      if (core != nullptr) core[id] = is_core ? 1 : 0;
    }
  }
  tally_points(remaining.tally, noise, border);
  if (sizes != nullptr) add_by_block(sizes, border, number, 1);
}

/// One block for each point.
template <class T, unsigned D>
__global__ void __launch_bounds__(tuning::kPairThreads)
    remaining_labels_kernel(DenseBoxView view, Nodes nodes, const std::uint32_t* numbers, RemainingPoints remaining,
                            std::int32_t* labels, std::uint32_t* sizes) {
  const std::uint32_t items = min(remaining.tally->remaining, remaining.capacity);
  for (std::uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
    const std::uint32_t position = remaining.positions[item];
    const std::uint32_t cell = view.cell_of[position];
    const Coordinates<T, D> point = load_coordinates<T, D>(view.points, position);
    const std::uint32_t own = __ldg(numbers + cell) & kNumberMask;
    const std::uint32_t number = lowest_number(view, nodes, numbers, point, cell, own, [&](const Members& members) {
      return search_in_block(view, nodes, point, members);
    });
    const bool border = number != kNoNumber;
    tally_points(remaining.tally, threadIdx.x == 0 && !border, threadIdx.x == 0 && border);
    if (threadIdx.x != 0) continue;
    if (labels != nullptr) labels[view.order[position]] = border ? static_cast<std::int32_t>(number) : kNoise;
    if (border && sizes != nullptr) atomicAdd(sizes + number, 1U);
  }
}

}  // namespace

void launch_label_ids(const DenseBoxView& view, PointsOnDevice points, const std::uint32_t* numbers,
                      std::int32_t* labels, std::uint8_t* core, cudaStream_t stream) {
  with_point_types(view.precision, view.dims, [&]<class T, unsigned D>() {
    label_ids_kernel<T, D>
        <<<direct_blocks(view.size), tuning::kDirectThreads, 0, stream>>>(view, points.data, numbers, labels, core);
  });
  check_launch(stream);
}

void launch_label_positions(const DenseBoxView& view, const Nodes& nodes, const std::uint32_t* numbers, bool all,
                            const RemainingPoints& remaining, std::int32_t* labels, std::uint8_t* core,
                            std::uint32_t* sizes, cudaStream_t stream) {
  with_point_types(view.precision, view.dims, [&]<class T, unsigned D>() {
    label_positions_kernel<T, D><<<direct_blocks(view.size), tuning::kDirectThreads, 0, stream>>>(
        view, nodes, numbers, all, remaining, labels, core, sizes);
  });
  check_launch(stream);
}

void launch_remaining_labels(const DenseBoxView& view, const Nodes& nodes, const std::uint32_t* numbers,
                             const RemainingPoints& remaining, std::int32_t* labels, std::uint32_t* sizes,
                             cudaStream_t stream) {
  with_point_types(view.precision, view.dims, [&]<class T, unsigned D>() {
    remaining_labels_kernel<T, D>
        <<<tuning::kPairBlocks, tuning::kPairThreads, 0, stream>>>(view, nodes, numbers, remaining, labels, sizes);
  });
  check_launch(stream);
}

}  // namespace epsflow::gpu

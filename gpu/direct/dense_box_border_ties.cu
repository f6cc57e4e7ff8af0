#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/dense_box_kernels.hpp>
#include <epsflow/gpu/direct/dense_box_members.cuh>
#include <epsflow/gpu/direct/dense_box_search.cuh>
#include <epsflow/gpu/direct/dense_box_view.cuh>
#include <epsflow/gpu/direct/tally.cuh>

namespace epsflow::gpu {
namespace {

/// The largest number of clusters near one border point. There are hardly ever more.
constexpr unsigned kMostNear = 8;
/// Points that a thread tests for one border point.
constexpr std::uint32_t kMostTests = 1 << 14;

/// The clusters near a border point that may become its cluster.
class NearClusters {
 public:
  __device__ bool has(std::uint32_t number) const {
    bool found = false;
    for (unsigned k = 0; k < kMostNear; ++k) found = found || (k < count_ && numbers_[k] == number);
    return found;
  }
  /// Returns false if the list is full.
  __device__ bool add(std::uint32_t number) {
    if (count_ == kMostNear) return false;
    numbers_[count_++] = number;
    lowest_ = min(lowest_, number);
    return true;
  }
  __device__ std::uint32_t lowest() const { return lowest_; }
  __device__ unsigned count() const { return count_; }
  __device__ std::uint32_t operator[](unsigned k) const { return numbers_[k]; }

 private:
  std::uint32_t numbers_[kMostNear];
  unsigned count_ = 0;
  std::uint32_t lowest_ = kNoNumber;
};

/// Adds to `near` the clusters near a border point that may become its cluster. Returns false if there are too many of
/// them, or too many candidates to find all.
template <class T, unsigned D>
__device__ bool find_near(const DenseBoxView& view, const Nodes& nodes, const std::uint32_t* numbers,
                          const std::uint8_t* movable, const Coordinates<T, D>& point, std::uint32_t cell,
                          NearClusters& near) {
  std::uint32_t limit = kMostTests;
  bool told = true;
  for_cells_near(view, point, cell, [&](std::uint32_t other) {
    const std::uint32_t number = __ldg(numbers + other) & kNumberMask;
    if (number == kNoNumber || near.has(number)) return true;
    if (number > near.lowest() && __ldg(movable + number) == 0) return true;  // it never becomes the lowest
    const Verdict verdict = search_alone(view, nodes, point, Members(nodes, other), limit);
    told = verdict == Verdict::apart || (verdict == Verdict::near && near.add(number));
    return told;
  });
  return told;
}

template <class T, unsigned D>
__global__ void __launch_bounds__(tuning::kDirectThreads)
    border_ties_kernel(DenseBoxView view, Nodes nodes, const std::uint32_t* numbers, const std::uint8_t* movable,
                       std::uint32_t own, TieList list) {
  const std::uint64_t thread = direct_thread();
  if (thread >= view.size) return;
  const auto p = static_cast<std::uint32_t>(thread);
  const std::uint32_t id = view.order[p];
  if (id >= own) return;
  const std::uint32_t cell = view.cell_of[p];
  const std::uint32_t entry = __ldg(numbers + cell);
  const std::uint32_t number = entry & kNumberMask;
  if ((entry & kWholeNode) != 0 || (number != kNoNumber && bit_of(nodes.core, p))) return;  // a core point
  NearClusters near;
  if (number != kNoNumber) (void)near.add(number);
  if (!find_near(view, nodes, numbers, movable, load_coordinates<T, D>(view.points, p), cell, near)) {
    atomicOr(&list.count->gave_up, 1U);
    return;
  }
  for (unsigned k = 0; k < near.count(); ++k) {
    if (near[k] == near.lowest() || __ldg(movable + near[k]) == 0) continue;
    const std::uint32_t at = atomicAdd(&list.count->ties, 1U);
    if (at < list.capacity) list.ties[at] = {id, near[k]};
  }
}

}  // namespace

void launch_border_ties(const DenseBoxView& view, const Nodes& nodes, const std::uint32_t* numbers,
                        const std::uint8_t* movable, std::uint32_t own, const TieList& list, cudaStream_t stream) {
  check(cudaMemsetAsync(list.count, 0, sizeof(TieCount), stream));
  with_point_types(view.precision, view.dims, [&]<class T, unsigned D>() {
    border_ties_kernel<T, D>
        <<<direct_blocks(view.size), tuning::kDirectThreads, 0, stream>>>(view, nodes, numbers, movable, own, list);
  });
  check_launch(stream);
}

}  // namespace epsflow::gpu

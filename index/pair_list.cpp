#include <epsflow/index/pair_list.hpp>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>

#include <epsflow/core/parallel.hpp>

namespace epsflow::index {
namespace {

/// One thread clusters this number of points as fast as all threads do.
constexpr std::size_t kMostAlone = 1 << 12;
constexpr std::uint32_t kPointsPerBlock = 1 << 13;
constexpr std::size_t kBlocksPerThread = 4;
/// Points of a single slice that a thread searches at a time.
constexpr std::uint32_t kPointsPerTask = 1 << 10;
/// A list is faster than dense-box cells up to about this number of tests per point, and half as many pairs.
constexpr std::uint64_t kMostTests = 16;
constexpr std::uint64_t kMostPairs = kMostTests / 2;
/// One of several slices may have this number of tests per point.
constexpr std::uint64_t kMostTestsOfSlice = 4 * kMostTests;
/// A single slice, whose dense-box cells all threads would share, may have this number of tests per point, and in all.
constexpr std::uint64_t kMostTestsAlone = 12;
constexpr std::uint64_t kMostTestsTogether = 400'000;
/// A sample of its points has at least kFewestSampled of them, and at least one in kMostSampled.
constexpr std::uint32_t kFewestSampled = 1 << 10;
constexpr std::uint32_t kMostSampled = 16;
/// Squares of distances between these limits neither underflow nor overflow.
constexpr double kLeastEps = 1e-140;
constexpr double kMostEps = 1e140;
/// Cells are wider than eps by this factor, so that coordinates below 2^19, rounded three times, stay in adjacent
/// cells.
constexpr double kWider = 1 + 1e-9;

/// Points of a slice, as positions in the order of its cells: [first, last).
struct Positions {
  std::uint32_t first;
  std::uint32_t last;
};

/// A slice divided into cells of at least eps; the memory is reused for the next slice.
template <class T, std::size_t D>
class SliceCells {
 public:
  /// Returns true on success; false if differences of coordinates are infinite. sampled_from: the number of points
  /// that the points are a sample of, for which there are enough cells.
  bool make(const T* points, std::uint32_t n, double eps, std::uint32_t sampled_from = 0) {
    std::array<double, D> lo, hi;
    for (std::size_t k = 0; k < D; ++k) lo[k] = hi[k] = static_cast<double>(points[k]);
    for (std::uint32_t i = 1; i < n; ++i) {
      for (std::size_t k = 0; k < D; ++k) {
        const auto x = static_cast<double>(points[i * D + k]);
        lo[k] = std::min(lo[k], x);
        hi[k] = std::max(hi[k], x);
      }
    }
    double longest = 0;
    for (std::size_t k = 0; k < D; ++k) longest = std::max(longest, hi[k] - lo[k]);
    if (!std::isfinite(longest)) return false;
    const double most_cells = 4.0 * std::max(n, sampled_from) + 64;
    double side = std::max(eps * kWider, longest / most_cells);
    std::array<double, D> counts;
    for (;; side *= 2) {
      double all = 1;
      for (std::size_t k = 0; k < D; ++k) all *= counts[k] = std::floor((hi[k] - lo[k]) / side) + 1;
      if (all <= most_cells) break;
    }
    const double per_side = 1 / side;
    // One more cell on either side has no points, so that every cell has neighbours.
    std::uint32_t stride = 1;
    for (std::size_t k = D; k-- > 0;) {
      strides_[k] = stride;
      stride *= static_cast<std::uint32_t>(counts[k]) + 2;
    }
    starts_.assign(std::size_t{stride} + 1, 0);
    cell_of_.resize(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      std::uint32_t cell = 0;
      for (std::size_t k = 0; k < D; ++k) {
        const double coordinate = std::min((static_cast<double>(points[i * D + k]) - lo[k]) * per_side, counts[k] - 1);
        cell += (static_cast<std::uint32_t>(coordinate) + 1) * strides_[k];
      }
      cell_of_[i] = cell;
      ++starts_[cell];
    }
    std::uint32_t all = 0;
    for (std::uint32_t& start : starts_) start = all += start;
    order_.resize(n);
    for (std::vector<double>& axis : axes_) axis.resize(n);
    for (std::uint32_t i = n; i-- > 0;) {
      const std::uint32_t at = --starts_[cell_of_[i]];
      order_[at] = static_cast<std::uint16_t>(i);
      for (std::size_t k = 0; k < D; ++k) axes_[k][at] = static_cast<double>(points[i * D + k]);
    }
    return true;
  }

  /// Returns the number of distance tests of scan().
  [[nodiscard]] std::uint64_t tests(Positions of) const {
    std::uint64_t tests = 0;
    for_ranges(of, [&](std::uint32_t, std::uint32_t first, std::uint32_t last) { tests += last - first; });
    return tests;
  }

  /// Writes the pairs of some points with points at later positions, at most tests(of), and returns their end.
  SlicePair* scan(Positions of, double eps_squared, SlicePair* to) const {
    for_ranges(of, [&](std::uint32_t s, std::uint32_t first, std::uint32_t last) {
      for (std::uint32_t t = first; t < last; ++t) {
        double sum = 0;
        for (std::size_t k = 0; k < D; ++k) {
          const double difference = axes_[k][s] - axes_[k][t];
          sum += difference * difference;
        }
        *to = {order_[s], order_[t]};
        to += sum <= eps_squared ? 1 : 0;
      }
    });
    return to;
  }

 private:
  /// Calls f(s, first, last) for some points and ranges of points after them, in their cell and half of those around.
  template <class F>
  void for_ranges(Positions of, F&& f) const {
    for (std::uint32_t s = of.first; s < of.last; ++s) {
      const std::uint32_t cell = cell_of_[order_[s]];
      const auto row = [&](std::uint32_t middle) { f(s, starts_[middle - 1], starts_[middle + 2]); };
      f(s, s + 1, starts_[cell + 2]);
      if constexpr (D == 2) row(cell + strides_[0]);
      if constexpr (D == 3) {
        row(cell + strides_[1]);
        for (const std::uint32_t middle :
             {cell + strides_[0] - strides_[1], cell + strides_[0], cell + strides_[0] + strides_[1]}) {
          row(middle);
        }
      }
    }
  }

  std::array<std::uint32_t, D> strides_{};
  std::vector<std::uint32_t> starts_;        ///< [cells + 1]
  std::vector<std::uint32_t> cell_of_;       ///< [n]
  std::vector<std::uint16_t> order_;         ///< [n] points by cell
  std::array<std::vector<double>, D> axes_;  ///< [n] coordinates of the points by cell
};

/// Finds the pairs of some blocks. Returns true if there were few enough.
template <std::size_t D, class T>
bool find_pairs(const T* points, std::span<const std::uint32_t> starts, double eps, std::span<PairList::Block> blocks,
                const CancelToken& cancel) {
  struct PairScratch {
    SliceCells<T, D> cells;
    std::vector<SlicePair> pairs;
  };
  tbb::enumerable_thread_specific<PairScratch> scratch;
  const std::uint64_t n = starts.back();
  std::atomic<std::uint64_t> tests{0}, pairs{0};
  std::atomic<bool> few{true};
  parallel_for(blocks.size(), [&](std::size_t b) {
    if (cancel.cancelled() || !few.load(std::memory_order_relaxed)) return;
    PairList::Block& block = blocks[b];
    auto& [cells, found] = scratch.local();
    std::size_t count = 0;
    for (std::uint32_t s = block.first; s < block.last; ++s) {
      const std::uint32_t size = starts[s + 1] - starts[s];
      if (size > 1) {
        const bool made = cells.make(points + std::size_t{starts[s]} * D, size, eps);
        const std::uint64_t of_slice = made ? cells.tests({0, size}) : 0;
        if (!made || of_slice > kMostTestsOfSlice * size + kPointsPerBlock || (tests += of_slice) > kMostTests * n) {
          few = false;
          return;
        }
        if (found.size() < count + of_slice + 1) found.resize(count + of_slice + 1);
        count = static_cast<std::size_t>(cells.scan({0, size}, eps * eps, found.data() + count) - found.data());
      }
      block.ends.push_back(static_cast<std::uint32_t>(count));
    }
    if ((pairs += count) > kMostPairs * n) {
      few = false;
      return;
    }
    block.pairs = Buffer<SlicePair>(count);
    std::copy_n(found.begin(), count, block.pairs.begin());
  });
  cancel.check();
  return few;
}

/// Estimates the number of tests of a slice from a sample, one in `every` points.
template <std::size_t D, class T>
std::uint64_t estimate_tests(const T* points, std::uint32_t n, std::uint32_t every, double eps) {
  std::vector<T> sample;
  sample.reserve(std::size_t{n / every + 1} * D);
  for (std::size_t i = 0; i < n; i += every) sample.insert(sample.end(), points + i * D, points + (i + 1) * D);
  const auto size = static_cast<std::uint32_t>(sample.size() / D);
  SliceCells<T, D> cells;
  return cells.make(sample.data(), size, eps, n) ? cells.tests({0, size}) * every * every : 0;
}

/// Finds the pairs of a single slice on all threads. Returns true if there were few enough.
template <std::size_t D, class T>
bool find_pairs_together(const T* points, std::uint32_t n, double eps, PairList::Block& block,
                         const CancelToken& cancel) {
  const std::uint64_t most_tests = std::min(kMostTestsAlone * n + kPointsPerTask, kMostTestsTogether);
  // A sample costs little, and so do dense points whose list would be given up.
  const std::uint32_t every = std::min(n / kFewestSampled, kMostSampled);
  if (every > 1 && estimate_tests<D>(points, n, every, eps) > most_tests) return false;
  SliceCells<T, D> cells;
  if (!cells.make(points, n, eps)) return false;
  const std::size_t tasks = (n + kPointsPerTask - 1) / kPointsPerTask;
  const auto positions = [&](std::size_t task) {
    const auto first = static_cast<std::uint32_t>(task * kPointsPerTask);
    return Positions{first, std::min(n, first + kPointsPerTask)};
  };
  std::vector<std::uint64_t> tests(tasks);
  parallel_for(tasks, [&](std::size_t task) { tests[task] = cells.tests(positions(task)); });
  if (std::accumulate(tests.begin(), tests.end(), std::uint64_t{0}) > most_tests) return false;
  std::vector<std::vector<SlicePair>> found(tasks);
  parallel_for(tasks, [&](std::size_t task) {
    if (cancel.cancelled()) return;
    std::vector<SlicePair>& pairs = found[task];
    pairs.resize(tests[task] + 1);
    pairs.resize(static_cast<std::size_t>(cells.scan(positions(task), eps * eps, pairs.data()) - pairs.data()));
  });
  cancel.check();
  std::size_t count = 0;
  for (const std::vector<SlicePair>& pairs : found) count += pairs.size();
  block.ends.push_back(static_cast<std::uint32_t>(count));
  block.pairs = Buffer<SlicePair>(count);
  auto to = block.pairs.begin();
  for (const std::vector<SlicePair>& pairs : found) to = std::copy(pairs.begin(), pairs.end(), to);
  return true;
}

/// Finds the pairs of all blocks. Returns true if there were few enough.
template <std::size_t D, class T>
bool find_all_pairs(const T* points, std::span<const std::uint32_t> starts, double eps,
                    std::span<PairList::Block> blocks, const CancelToken& cancel) {
  if (starts.size() == 2) return find_pairs_together<D>(points, starts.back(), eps, blocks.front(), cancel);
  return find_pairs<D>(points, starts, eps, blocks, cancel);
}

}  // namespace

std::optional<PairList> PairList::find(PointsView points, const Space& space, double eps, const CancelToken& cancel) {
  if (!space.plain() || points.size() == 0 || points.dims() > 3) return std::nullopt;
  if (!(eps > kLeastEps && eps < kMostEps)) return std::nullopt;
  PairList list;
  if (space.slices == nullptr) {
    if (points.size() > kMostSlicePoints) return std::nullopt;
    list.whole_ = {0, static_cast<std::uint32_t>(points.size())};
    list.starts_ = list.whole_;
  } else {
    list.starts_ = space.slices->starts();
  }
  const auto slices = static_cast<std::uint32_t>(list.starts_.size() - 1);
  for (std::uint32_t s = 0; s < slices; ++s) {
    if (list.starts_[s + 1] - list.starts_[s] > kMostSlicePoints) return std::nullopt;
    if (list.blocks_.empty() || list.starts_[s] - list.starts_[list.blocks_.back().first] >= kPointsPerBlock) {
      list.blocks_.push_back({.first = s, .last = s, .ends = {}, .pairs = {}});
    }
    list.blocks_.back().last = s + 1;
  }
  const auto threads = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
  if (slices > 1 && points.size() > kMostAlone && list.blocks_.size() < kBlocksPerThread * threads) return std::nullopt;
  const bool few = points.visit([&](auto values) {
    const auto* const data = values.data();
    switch (points.dims()) {
      case 1:
        return find_all_pairs<1>(data, list.starts_, eps, list.blocks_, cancel);
      case 2:
        return find_all_pairs<2>(data, list.starts_, eps, list.blocks_, cancel);
      default:
        return find_all_pairs<3>(data, list.starts_, eps, list.blocks_, cancel);
    }
  });
  if (!few) return std::nullopt;
  return list;
}

std::uint64_t PairList::bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.pairs.bytes() + block.ends.size() * sizeof(std::uint32_t);
  return bytes;
}

}  // namespace epsflow::index

#include <epsflow/parts/partition.hpp>

#include <tbb/combinable.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <epsflow/core/parallel.hpp>
#include <epsflow/parts/thread_ranks.hpp>

namespace epsflow::parts {
namespace {

/// Sample size for each part. The sizes of parts differ by about one in the square root of that.
constexpr std::uint64_t kSamplePerPart = 1 << 16;
constexpr std::size_t kBins = 256;
/// Each round adds eight bits to the position of a cut. Rounds end early if at most 1/kCloseEnough of the points of
/// each box lies in the interval of its cut.
constexpr int kRounds = 4;
constexpr std::uint64_t kCloseEnough = 4096;
constexpr std::size_t kCutGrain = 1 << 14;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A box that will be divided into several parts.
struct DividedBox {
  std::int32_t cut = 0;     ///< index of its cut
  std::uint32_t first = 0;  ///< the first of its parts
  std::uint32_t parts = 0;
  std::uint32_t axis = 0;
  // The cut lies between lo, with `below` points below it, and hi.
  double lo = 0;
  double hi = 0;
  std::uint64_t below = 0;
  std::uint64_t points = 0;

  [[nodiscard]] std::uint32_t parts_below() const noexcept { return parts / 2; }
  [[nodiscard]] double wanted() const noexcept { return static_cast<double>(points) * parts_below() / parts; }
  [[nodiscard]] double edge(std::size_t bin) const noexcept {
    return bin == kBins ? hi : lo + (hi - lo) * (static_cast<double>(bin) / kBins);
  }
};

/// Calls f(copy, i) for all points, in parallel. Each thread has its own copy of `start`. Returns the copies combined.
template <class T, class F, class Combine>
std::vector<T> fold_points(std::size_t n, const std::vector<T>& start, F&& f, Combine&& combine) {
  tbb::combinable<std::vector<T>> each([&] { return start; });
  parallel_ranges(n, kCutGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<T>& mine = each.local();
    for (std::size_t i = begin; i < end; ++i) f(mine, i);
  });
  std::vector<T> all = start;
  each.combine_each([&](const std::vector<T>& one) {
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = combine(all[k], one[k]);
  });
  return all;
}

class Cutter {
 public:
  Cutter(Communicator& communicator, PointsView points, std::uint32_t parts)
      : communicator_(communicator), points_(points), box_of_(points.size(), 0) {
    if (parts > 1) boxes_.push_back(DividedBox{.cut = 0, .first = 0, .parts = parts});
    cuts_.resize(boxes_.size());
  }

  Partition cut_all() {
    while (!boxes_.empty()) {
      choose_axes();
      for (int round = 0; round < kRounds && !narrow(); ++round) {
      }
      cut();
    }
    return Partition(std::move(cuts_));
  }

 private:
  static constexpr std::uint32_t kDone = std::numeric_limits<std::uint32_t>::max();

  void choose_axes() {
    const std::size_t d = points_.dims();
    std::vector<double> most = fold_points(
        box_of_.size(), std::vector<double>(boxes_.size() * 2 * d, -kInfinity),
        [&](std::vector<double>& mine, std::size_t i) {
          if (box_of_[i] == kDone) return;
          double* const of_box = mine.data() + box_of_[i] * 2 * d;
          for (std::size_t k = 0; k < d; ++k) {
            const double x = points_.at(i, k);
            of_box[2 * k] = std::max(of_box[2 * k], -x);
            of_box[2 * k + 1] = std::max(of_box[2 * k + 1], x);
          }
        },
        [](double a, double b) { return std::max(a, b); });
    communicator_.max(std::span(most));
    for (std::size_t b = 0; b < boxes_.size(); ++b) {
      const double* const of_box = most.data() + b * 2 * d;
      double longest = -1;
      for (std::size_t k = 0; k < d; ++k) {
        const double lo = -of_box[2 * k], hi = of_box[2 * k + 1];
        if (!(hi - lo > longest)) continue;  // a box without points keeps no axis
        longest = hi - lo;
        boxes_[b].axis = static_cast<std::uint32_t>(k);
        boxes_[b].lo = lo;
        boxes_[b].hi = hi;
      }
    }
  }

  /// Narrows the interval of the cut of each box to one bin. Returns true if all cuts are close to their goal.
  bool narrow() {
    std::vector<std::uint64_t> bins = fold_points(
        box_of_.size(), std::vector<std::uint64_t>(boxes_.size() * (kBins + 1), 0),
        [&](std::vector<std::uint64_t>& mine, std::size_t i) {
          if (box_of_[i] == kDone) return;
          const DividedBox& box = boxes_[box_of_[i]];
          std::uint64_t* const of_box = mine.data() + box_of_[i] * (kBins + 1);
          ++of_box[kBins];
          const double x = points_.at(i, box.axis);
          if (x < box.lo || x >= box.hi) return;
          auto bin = static_cast<std::size_t>((x - box.lo) / (box.hi - box.lo) * kBins);
          bin = std::min(bin, kBins - 1);
          // Corrects the bin by the edges as every rank computes them.
          while (bin > 0 && x < box.edge(bin)) --bin;
          while (bin + 1 < kBins && x >= box.edge(bin + 1)) ++bin;
          ++of_box[bin];
        },
        [](std::uint64_t a, std::uint64_t b) { return a + b; });
    communicator_.sum(std::span(bins));
    bool close = true;
    for (std::size_t b = 0; b < boxes_.size(); ++b) {
      DividedBox& box = boxes_[b];
      const std::uint64_t* const of_box = bins.data() + b * (kBins + 1);
      box.points = of_box[kBins];
      std::size_t bin = 0;
      std::uint64_t below = box.below;
      while (bin + 1 < kBins && static_cast<double>(below + of_box[bin]) < box.wanted()) below += of_box[bin++];
      const double lo = box.edge(bin), hi = box.edge(bin + 1);
      box.below = below;
      box.lo = lo;
      box.hi = hi;
      close = close && of_box[bin] <= box.points / kCloseEnough;
    }
    return close;
  }

  void cut() {
    std::vector<DividedBox> next;
    std::vector<std::uint32_t> child(2 * boxes_.size(), kDone);
    const auto side_of = [&](std::size_t parent, bool above) {
      const DividedBox& box = boxes_[parent];
      const std::uint32_t parts = above ? box.parts - box.parts_below() : box.parts_below();
      const std::uint32_t first = above ? box.first + box.parts_below() : box.first;
      if (parts == 1) return -1 - static_cast<std::int32_t>(first);
      child[2 * parent + (above ? 1 : 0)] = static_cast<std::uint32_t>(next.size());
      const auto cut = static_cast<std::int32_t>(cuts_.size());
      next.push_back(DividedBox{.cut = cut, .first = first, .parts = parts});
      cuts_.emplace_back();
      return cut;
    };
    for (std::size_t b = 0; b < boxes_.size(); ++b) {
      const std::int32_t below = side_of(b, false);
      const std::int32_t above = side_of(b, true);
      cuts_[static_cast<std::size_t>(boxes_[b].cut)] = {boxes_[b].axis, boxes_[b].hi, below, above};
    }
    parallel_ranges(box_of_.size(), kCutGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (box_of_[i] == kDone) continue;
        const DividedBox& box = boxes_[box_of_[i]];
        box_of_[i] = child[2 * box_of_[i] + (points_.at(i, box.axis) < box.hi ? 0 : 1)];
      }
    });
    boxes_ = std::move(next);
  }

  Communicator& communicator_;
  PointsView points_;
  std::vector<std::uint32_t> box_of_;  ///< [points] index in boxes_, or kDone
  std::vector<DividedBox> boxes_;      ///< boxes of one level of cuts
  std::vector<Partition::Cut> cuts_;
};

/// Copies about one in `wanted_stride` points to float64, in runs, because a run costs as much to read as one point.
Points sample(const PointRows& points, std::uint64_t wanted_stride) {
  const std::size_t together = points.in_memory() ? 4 : 64;
  const auto stride = static_cast<std::size_t>(std::max<std::uint64_t>(1, wanted_stride));
  const std::size_t d = points.dims(), n = points.size(), runs = n / (together * stride);
  // Takes whole runs, and after these the remaining points, up to one run.
  const std::size_t left = std::min(together, n - runs * together * stride);
  Points some(runs * together + left, d, Precision::float64);
  const std::span<double> to = some.values<double>();
  parallel_ranges(runs + 1, kCutGrain / together, [&](std::size_t begin, std::size_t end) {
    Buffer<std::byte> buffer;
    for (std::size_t run = begin; run < end; ++run) {
      const std::size_t first = run * together * stride, count = run < runs ? together : left;
      const std::byte* const rows = points.rows(first, first + count, buffer);
      points.visit([&](auto zero) {
        const auto* const values = reinterpret_cast<const decltype(zero)*>(rows);
        std::copy_n(values, count * d, to.data() + run * together * d);
      });
    }
  });
  return some;
}

}  // namespace

Partition::Box Partition::box_of(std::uint32_t part, std::size_t dims) const {
  Box box{std::vector<double>(dims, -kInfinity), std::vector<double>(dims, kInfinity)};
  // Walks from the part to the root: each step finds the cut of which the current box is a side.
  std::int32_t side = -1 - static_cast<std::int32_t>(part);
  while (side != 0 && !cuts_.empty()) {
    for (std::size_t c = 0; c < cuts_.size(); ++c) {
      const Cut& cut = cuts_[c];
      if (cut.below != side && cut.above != side) continue;
      double& hi = box.hi[cut.axis];
      double& lo = box.lo[cut.axis];
      if (cut.below == side) hi = std::min(hi, cut.at);
      if (cut.above == side) lo = std::max(lo, cut.at);
      side = static_cast<std::int32_t>(c);
      break;
    }
  }
  return box;
}

Partition cut_space(Communicator& communicator, PointsView points) {
  const std::uint64_t all = communicator.sum(std::uint64_t{points.size()});
  const auto ranks = static_cast<std::uint32_t>(communicator.size());
  const Points some = sample(points, all / (kSamplePerPart * ranks));
  const std::span<const double> values(static_cast<const double*>(some.view().data()), some.size() * some.dims());
  if (!std::ranges::all_of(values, [](double x) { return std::isfinite(x); })) require_finite(points);
  return Cutter(communicator, some, ranks).cut_all();
}

Partition cut_space(const PointRows& points, std::size_t parts) {
  const Points some = sample(points, points.size() / (kSamplePerPart * parts));
  require_finite(some);
  Partition made;
  run_ranks(1, [&](Communicator& alone) { made = Cutter(alone, some, static_cast<std::uint32_t>(parts)).cut_all(); });
  return made;
}

}  // namespace epsflow::parts

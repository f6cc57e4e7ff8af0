#include <epsflow/tracks/core_links.hpp>

#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <epsflow/core/box_fit.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/index/candidate_ranges.hpp>
#include <epsflow/index/distance.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/tracks/slice_pairs.hpp>

namespace epsflow::tracks {
namespace {

/// The transformed core points of a slice, sorted by feature.
struct CorePoints {
  std::vector<std::uint32_t> features;
  std::vector<double> points;  ///< [core points × dims]
};

/// Consecutive grid positions of one feature.
struct FeatureRun {
  std::uint32_t feature;
  Range positions;
};

/// Consecutive runs of one feature in a list.
struct RunGroup {
  std::uint32_t feature;
  Range runs;
  std::uint32_t near;   ///< the position that was near the previous point
  std::uint32_t count;  ///< the number of points of the current feature that are near it
};

/// The distance rule for D dimensions in plain space.
template <std::size_t D>
struct NearInPlain {
  std::array<const double*, D> x;
  double limit;
  bool operator()(std::uint32_t p, std::uint32_t q) const noexcept {
    return index::squared_distance<D>([&](std::size_t k) { return x[k][p]; }, [&](std::size_t k) { return x[k][q]; },
                                      D) <= limit;
  }
};

/// The distance rule in any space.
struct NearInSpace {
  const std::vector<const double*>& x;
  index::SpaceView space;
  double limit;
  bool operator()(std::uint32_t p, std::uint32_t q) const noexcept {
    return index::norm_sum<0>(
               space, [&](std::size_t k) { return x[k][p]; }, [&](std::size_t k) { return x[k][q]; }, x.size()) <=
           limit;
  }
};

/// The core points of two slices in one grid.
class JointGrid {
 public:
  /// second: the first feature of the later slice.
  JointGrid(const CorePoints& before, const CorePoints& after, std::uint32_t second, const index::Grid& grid)
      : grid_(grid), second_(second), features_(grid.size()), run_ends_(grid.size()) {
    const auto order = grid.order();
    const std::size_t n = grid.size();
    for (std::size_t p = 0; p < n; ++p) {
      const std::size_t i = order[p];
      features_[p] = i < before.features.size() ? before.features[i] : after.features[i - before.features.size()];
    }
    for (std::size_t p = n; p-- > 0;) {
      run_ends_[p] =
          p + 1 < n && features_[p + 1] == features_[p] ? run_ends_[p + 1] : static_cast<std::uint32_t>(p + 1);
    }
  }

  /// Finds which of the points at `rows` are near which features of the other slice, and appends links for them.
  template <class Near>
  void find(Range rows, const Near& near, std::vector<FeatureLink>& links) const {
    std::vector<FeatureRun> runs;
    std::vector<RunGroup> groups;
    index::for_each_bundle(grid_, rows, [&](Range cell, std::span<const Range> candidates) {
      const bool has_before = features_[cell.begin] < second_;
      const bool has_after = features_[cell.end - 1] >= second_;
      runs.clear();
      for (const Range& range : candidates) {
        for (std::uint32_t p = range.begin; p < range.end;) {
          const std::uint32_t end = std::min(run_ends_[p], range.end);
          const bool is_before = features_[p] < second_;
          if (is_before ? has_after : has_before) runs.push_back({features_[p], {p, end}});
          p = end;
        }
      }
      if (runs.empty()) return;
      std::sort(runs.begin(), runs.end(), [](const FeatureRun& a, const FeatureRun& b) {
        return a.feature != b.feature ? a.feature < b.feature : a.positions.begin < b.positions.begin;
      });
      groups.clear();
      for (std::uint32_t r = 0; r < runs.size(); ++r) {
        if (groups.empty() || groups.back().feature != runs[r].feature) {
          groups.push_back({runs[r].feature, {r, r}, runs[r].positions.begin, 0});
        }
        groups.back().runs.end = r + 1;
      }
      for (std::uint32_t p = cell.begin; p < cell.end;) {
        const std::uint32_t feature = features_[p];
        const std::uint32_t end = std::min(run_ends_[p], cell.end);
        for (RunGroup& group : groups) {
          if ((group.feature < second_) == (feature < second_)) continue;
          for (std::uint32_t q = p; q < end; ++q) group.count += is_near(q, group, runs, near) ? 1 : 0;
          if (group.count == 0) continue;
          links.push_back(feature < second_ ? FeatureLink{feature, group.feature, group.count, 0}
                                            : FeatureLink{group.feature, feature, 0, group.count});
          group.count = 0;
        }
        p = end;
      }
    });
  }

 private:
  /// Tests whether a point is near a group. Starts with the position that was near the previous point, because
  /// consecutive points are close to each other.
  template <class Near>
  static bool is_near(std::uint32_t p, RunGroup& group, const std::vector<FeatureRun>& runs, const Near& near) {
    if (near(p, group.near)) return true;
    for (std::uint32_t r = group.runs.begin; r < group.runs.end; ++r) {
      for (std::uint32_t q = runs[r].positions.begin; q < runs[r].positions.end; ++q) {
        if (!near(p, q)) continue;
        group.near = q;
        return true;
      }
    }
    return false;
  }

  const index::Grid& grid_;
  std::uint32_t second_;
  /// The feature at each position, ascending within a cell, because points are sorted by feature before.
  std::vector<std::uint32_t> features_;
  std::vector<std::uint32_t> run_ends_;  ///< by position: the end of the run of its feature
};

class CoreLinks {
 public:
  CoreLinks(const SlicedLabels& slices, double eps, const FeatureRows& rows, const CancelToken& cancel)
      : slices_(slices),
        rows_(rows),
        cancel_(cancel),
        metric_(canonical(slices.metric)),
        space_(transformed_space(metric_)),
        radius_(transformed_radius(metric_, eps)),
        width_(transformed_dims(metric_, slices.points.dims())) {
    for (const ClosedAxis& axis : space_.axes) periods_.push_back(axis.length);
  }

  [[nodiscard]] CorePoints prepare(std::size_t s) const {
    CorePoints core;
    for (std::uint32_t f = rows_.first_feature[s]; f < rows_.first_feature[s + 1]; ++f) {
      const auto of_feature = rows_.of(f);
      for (std::size_t i = 0; i < of_feature.size();) {
        std::size_t end = i;
        while (end < of_feature.size() && of_feature[end] == of_feature[i] + (end - i) &&
               slices_.core[of_feature[end]] != 0)
          ++end;
        if (end == i) {
          ++i;
          continue;
        }
        core.features.insert(core.features.end(), end - i, f);
        core.points.resize(core.features.size() * width_);
        const std::size_t row = of_feature[i];
        transform_points(metric_, slices_.points, row, row + (end - i),
                         core.points.data() + core.points.size() - (end - i) * width_);
        i = end;
      }
    }
    return core;
  }

  [[nodiscard]] std::vector<FeatureLink> compare(const CorePoints& before, const CorePoints& after) const {
    std::vector<FeatureLink> links;
    if (before.features.empty() || after.features.empty()) return links;
    // Isolation keeps this thread from taking up other pairs of slices while it waits.
    tbb::this_task_arena::isolate([&] {
      const std::size_t n = before.features.size() + after.features.size();
      Buffer<double> points(n * width_);
      std::copy(after.points.begin(), after.points.end(),
                std::copy(before.points.begin(), before.points.end(), points.data()));
      const index::Grid grid(PointsView(std::span<const double>(points.data(), n * width_), width_), radius_,
                             Cells::eps, cancel_, space_);
      links = links_in(JointGrid(before, after, after.features.front(), grid), grid);
    });
    join_links(links);
    return links;
  }

 private:
  [[nodiscard]] std::vector<FeatureLink> links_in(const JointGrid& pair, const index::Grid& grid) const {
    std::vector<const double*> x(width_);
    for (std::size_t k = 0; k < width_; ++k) x[k] = grid.coordinates<double>(k);
    const double limit = space_.limit(radius_);
    if (space_.plain() && width_ == 1) return links_by(pair, grid, NearInPlain<1>{{x[0]}, limit});
    if (space_.plain() && width_ == 2) return links_by(pair, grid, NearInPlain<2>{{x[0], x[1]}, limit});
    if (space_.plain() && width_ == 3) return links_by(pair, grid, NearInPlain<3>{{x[0], x[1], x[2]}, limit});
    const index::SpaceView space{space_.norm, space_.power, periods_.empty() ? nullptr : periods_.data()};
    return links_by(pair, grid, NearInSpace{x, space, limit});
  }

  template <class Near>
  [[nodiscard]] std::vector<FeatureLink> links_by(const JointGrid& pair, const index::Grid& grid,
                                                  const Near& near) const {
    constexpr std::uint32_t kBlock = 1 << 14;
    const std::uint32_t n = grid.size();
    const std::uint32_t blocks = (n + kBlock - 1) / kBlock;
    std::vector<std::vector<FeatureLink>> of_block(blocks);
    parallel_for(blocks, [&](std::uint32_t b) {
      cancel_.check();
      pair.find({b * kBlock, b + 1 == blocks ? n : (b + 1) * kBlock}, near, of_block[b]);
      join_links(of_block[b]);
    });
    std::vector<FeatureLink> links = std::move(of_block.front());
    for (std::uint32_t b = 1; b < blocks; ++b) links.insert(links.end(), of_block[b].begin(), of_block[b].end());
    return links;
  }

  const SlicedLabels& slices_;
  const FeatureRows& rows_;
  const CancelToken& cancel_;
  Metric metric_;
  Space space_;
  double radius_;
  std::size_t width_;
  std::vector<double> periods_;
};

/// Throws if no clustering accepts the points.
void check_points(const SlicedLabels& slices, double eps) {
  const std::size_t n = slices.points.size();
  if (n == 0) return;
  check_metric(slices.metric, slices.points.dims());
  const Metric metric = canonical(slices.metric);
  constexpr std::size_t kGrain = 1 << 13;
  parallel_ranges(n, kGrain, [&](std::size_t begin, std::size_t end) {
    require_finite(slices.points, begin, end);
    if (is_identity(metric, slices.points, begin, end)) return;
    Buffer<double> scratch((end - begin) * transformed_dims(metric, slices.points.dims()));
    transform_points(metric, slices.points, begin, end, scratch.data());
  });
  if (metric.box.empty()) return;
  BoxFit fit(metric);
  fit.add(slices.points, 0, n);
  fit.require_fit(eps);
}

}  // namespace

std::vector<std::vector<FeatureLink>> find_core_links(const SlicedLabels& slices, double eps, const Tracks& found,
                                                      const FeatureRows& rows, const CancelToken& cancel) {
  (void)Sweep({{eps, 1}});  // checks eps
  check_points(slices, eps);
  if (slices.points.size() == 0) return std::vector<std::vector<FeatureLink>>(found.slices > 0 ? found.slices - 1 : 0);
  const CoreLinks core(slices, eps, rows, cancel);
  return links_of_pairs(
      found.slices, cancel, [&](std::size_t s) { return core.prepare(s); },
      [&](const CorePoints& before, const CorePoints& after) { return core.compare(before, after); });
}

}  // namespace epsflow::tracks

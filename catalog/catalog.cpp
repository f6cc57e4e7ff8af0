#include <epsflow/catalog/catalog.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include <epsflow/catalog/sphere.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kNoPoint = ~std::uint64_t{0};

/// Points that are summed one after the other. What larger clusters are made of is added in the order of these pieces, so that sums do
/// not depend on threads.
constexpr std::size_t kPiece = 1 << 13;

void require_length(std::size_t n, std::size_t length, const std::string& what) {
  if (length == n) return;
  throw UsageError("there are " + format_count(n, "point") + " and " + std::to_string(length) + " " + what +
                   ": give one for each");
}

void check(const CatalogInput& in) {
  const std::size_t n = in.points.size();
  require_length(n, in.labels.size(), "labels");
  if (!in.core.empty()) require_length(n, in.core.size(), "entries of the mask of core points");
  for (const NamedColumn& column : in.columns) require_length(n, column.values.size(), "values of " + column.name);
  if (in.weights.empty()) return;
  require_length(n, in.weights.size(), "weights");
  for (std::size_t i = 0; i < n; ++i) {
    if (in.weights[i] >= 0 && in.weights[i] < kInfinity) continue;
    throw InputError("point " + std::to_string(i) + " has the weight " + format_number(in.weights[i]) +
                     ": a catalogue is weighted by finite numbers of 0 and more, such as masses");
  }
}

/// For each cluster begin(row), then add(row, c, i) for its points i; a row is `Row`. combine(row, other): what came later is added.
template <class Row, class Add, class Combine, class Done>
void reduce(const ClusterOrder& order, const Row& empty, const CancelToken& cancel, Add add, Combine combine,
            Done done) {
  const auto sum_up = [&](std::size_t c, std::uint64_t first, std::uint64_t last, Row& row) {
    for (std::uint64_t at = first; at < last; ++at) add(row, c, order.points[at]);
  };
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, order.clusters(), 64), [&](const auto& range) {
    if (cancel.cancelled()) return;
    for (std::size_t c = range.begin(); c != range.end(); ++c) {
      const std::uint64_t first = order.offsets[c];
      const std::uint64_t size = order.offsets[c + 1] - first;
      const std::size_t pieces = (size + kPiece - 1) / kPiece;
      Row row = empty;
      if (pieces <= 1) {
        sum_up(c, first, first + size, row);
      } else {
        std::vector<Row> rows(pieces, empty);
        tbb::parallel_for(std::size_t{0}, pieces, [&](std::size_t p) {
          sum_up(c, first + p * kPiece, first + std::min<std::uint64_t>(size, (p + 1) * kPiece), rows[p]);
        });
        for (const Row& other : rows) combine(row, other);
      }
      done(c, row);
    }
  });
  cancel.check();
}

void add_each(std::vector<double>& to, const std::vector<double>& from) {
  for (std::size_t k = 0; k < to.size(); ++k) to[k] += from[k];
}

/// What a cluster is known by, and its columns.
struct Counted {
  std::uint64_t core = 0;
  std::uint64_t first_core = kNoPoint;
  double weight = 0;
  struct Values {
    double sum = 0;
    double weighted = 0;  ///< and its weights
    double weight = 0;
    double min = kInfinity;
    double max = -kInfinity;
    std::uint64_t count = 0;
  };
  std::vector<Values> columns;
};

class Cataloguer {
 public:
  Cataloguer(const CatalogInput& in, const ClusterOrder& order, const CancelToken& cancel)
      : in_(in), order_(order), cancel_(cancel), clusters_(order.clusters()), dims_(in.points.dims()) {}

  Catalog make() {
    made_.dims = dims_;
    number();
    count();
    for (std::vector<double>* list : {&made_.center, &made_.spread, &made_.lower, &made_.upper}) {
      list->resize(clusters_ * dims_);
    }
    made_.radius.resize(clusters_);
    if (on_sphere(in_.metric.kind)) {
      measure_on_sphere();
    } else {
      measure();
    }
    return std::move(made_);
  }

 private:
  void number() {
    made_.cluster.resize(clusters_);
    made_.size.resize(clusters_);
    if (in_.slices != nullptr) made_.slice.resize(clusters_);
    for (std::size_t s = 0; s + 1 < order_.slices.size(); ++s) {
      for (std::uint64_t c = order_.slices[s]; c < order_.slices[s + 1]; ++c) {
        made_.cluster[c] = order_.labels[c];
        if (in_.slices != nullptr) made_.slice[c] = s;
        made_.size[c] = order_.offsets[c + 1] - order_.offsets[c];
      }
    }
  }

  void count() {
    const bool core = !in_.core.empty();
    if (core) {
      made_.core.resize(clusters_);
      made_.first_core.resize(clusters_);
    }
    totals_.resize(clusters_);
    for (const NamedColumn& column : in_.columns) {
      const std::vector<double> room(clusters_);
      made_.columns.push_back({column.name, room, room, room, room});
    }
    Counted empty;
    empty.columns.resize(in_.columns.size());
    reduce(
        order_, empty, cancel_,
        [&](Counted& row, std::size_t, std::uint32_t i) {
          if (core && in_.core[i] != 0) {
            ++row.core;
            row.first_core = std::min<std::uint64_t>(row.first_core, i);
          }
          if (!in_.weights.empty()) row.weight += in_.weights[i];
          for (std::size_t k = 0; k < row.columns.size(); ++k) {
            const double value = in_.columns[k].values[i];
            if (std::isnan(value)) continue;
            Counted::Values& to = row.columns[k];
            to.sum += value;
            if (in_.columns[k].weighted && !in_.weights.empty()) {
              to.weighted += in_.weights[i] * value;
              to.weight += in_.weights[i];
            }
            to.min = std::min(to.min, value);
            to.max = std::max(to.max, value);
            ++to.count;
          }
        },
        [](Counted& row, const Counted& other) {
          row.core += other.core;
          row.first_core = std::min(row.first_core, other.first_core);
          row.weight += other.weight;
          for (std::size_t k = 0; k < row.columns.size(); ++k) {
            row.columns[k].sum += other.columns[k].sum;
            row.columns[k].weighted += other.columns[k].weighted;
            row.columns[k].weight += other.columns[k].weight;
            row.columns[k].min = std::min(row.columns[k].min, other.columns[k].min);
            row.columns[k].max = std::max(row.columns[k].max, other.columns[k].max);
            row.columns[k].count += other.columns[k].count;
          }
        },
        [&](std::size_t c, const Counted& row) {
          if (core) {
            made_.core[c] = row.core;
            made_.first_core[c] = row.first_core;
          }
          totals_[c] = row.weight;
          for (std::size_t k = 0; k < row.columns.size(); ++k) {
            const Counted::Values& values = row.columns[k];
            ColumnSummary& summary = made_.columns[k];
            const bool some = values.count > 0;
            summary.sum[c] = values.sum;
            summary.mean[c] = values.weight > 0 ? values.weighted / values.weight
                              : some            ? values.sum / static_cast<double>(values.count)
                                                : kNothing;
            summary.min[c] = some ? values.min : kNothing;
            summary.max[c] = some ? values.max : kNothing;
          }
        });
    if (!in_.weights.empty()) made_.weight = totals_;
  }

  /// The share of a point in the mean of its cluster.
  [[nodiscard]] double share(std::size_t c, std::uint32_t i) const {
    return totals_[c] > 0 ? in_.weights[i] / totals_[c] : 1 / static_cast<double>(made_.size[c]);
  }

  [[nodiscard]] std::uint32_t first_of(std::size_t c) const { return order_.points[order_.offsets[c]]; }

  [[nodiscard]] double period(std::size_t k) const {
    return in_.metric.box.empty() ? 0 : in_.metric.box[k].hi - in_.metric.box[k].lo;
  }

  /// x − from, on a closed side the shorter way round.
  [[nodiscard]] double difference(double x, double from, std::size_t k) const {
    const double away = x - from;
    const double length = period(k);
    return length > 0 ? away - length * std::round(away / length) : away;
  }

  /// What differences are taken from: a point of the cluster, and on a closed side the mean direction of all.
  void find_references() {
    references_.resize(clusters_ * dims_);
    bool closed = false;
    for (std::size_t k = 0; k < dims_; ++k) closed = closed || period(k) > 0;
    for (std::size_t c = 0; c < clusters_; ++c) {
      for (std::size_t k = 0; k < dims_; ++k) references_[c * dims_ + k] = in_.points.at(first_of(c), k);
    }
    goes_round_.assign(clusters_ * dims_, 0);
    if (!closed) return;
    reduce(
        order_, std::vector<double>(2 * dims_), cancel_,
        [&](std::vector<double>& row, std::size_t c, std::uint32_t i) {
          for (std::size_t k = 0; k < dims_; ++k) {
            if (period(k) <= 0) continue;
            const double angle = 2 * std::numbers::pi * (in_.points.at(i, k) - in_.metric.box[k].lo) / period(k);
            row[2 * k] += share(c, i) * std::cos(angle);
            row[2 * k + 1] += share(c, i) * std::sin(angle);
          }
        },
        add_each,
        [&](std::size_t c, const std::vector<double>& row) {
          constexpr double kEven = 1e-9;  // all round the side: no direction
          for (std::size_t k = 0; k < dims_; ++k) {
            if (period(k) <= 0) continue;
            if (std::hypot(row[2 * k], row[2 * k + 1]) < kEven) {
              goes_round_[c * dims_ + k] = 1;
              continue;
            }
            const double turn = std::atan2(row[2 * k + 1], row[2 * k]) / (2 * std::numbers::pi);
            references_[c * dims_ + k] = in_.metric.box[k].lo + turn * period(k);
          }
        });
  }

  void measure() {
    find_references();
    struct Row {
      std::vector<double> mean, lower, upper;
    };
    std::vector<double> means(clusters_ * dims_);  // of the differences
    reduce(
        order_,
        Row{std::vector<double>(dims_), std::vector<double>(dims_, kInfinity), std::vector<double>(dims_, -kInfinity)},
        cancel_,
        [&](Row& row, std::size_t c, std::uint32_t i) {
          for (std::size_t k = 0; k < dims_; ++k) {
            const double away = difference(in_.points.at(i, k), references_[c * dims_ + k], k);
            row.mean[k] += share(c, i) * away;
            // The coordinates themselves where there is no way round: ends lose nothing.
            const double end = period(k) > 0 ? away : in_.points.at(i, k);
            row.lower[k] = std::min(row.lower[k], end);
            row.upper[k] = std::max(row.upper[k], end);
          }
        },
        [&](Row& row, const Row& other) {
          add_each(row.mean, other.mean);
          for (std::size_t k = 0; k < dims_; ++k) {
            row.lower[k] = std::min(row.lower[k], other.lower[k]);
            row.upper[k] = std::max(row.upper[k], other.upper[k]);
          }
        },
        [&](std::size_t c, const Row& row) {
          for (std::size_t k = 0; k < dims_; ++k) {
            const std::size_t at = c * dims_ + k;
            means[at] = goes_round_[at] != 0 ? 0 : row.mean[k];
            made_.center[at] = references_[at] + means[at];
            const double from = period(k) > 0 ? references_[at] : 0;
            made_.lower[at] = from + row.lower[k];
            made_.upper[at] = from + row.upper[k];
            // All in one turn of the side, in which the centre is.
            if (period(k) <= 0) continue;
            double turns = std::floor((made_.center[at] - in_.metric.box[k].lo) / period(k));
            if (made_.center[at] - turns * period(k) >= in_.metric.box[k].hi) ++turns;  // rounded up to the end
            for (auto* list : {&made_.center, &made_.lower, &made_.upper}) (*list)[at] -= turns * period(k);
          }
        });
    const Metric metric = canonical(in_.metric);
    const bool cosine = metric.kind == MetricKind::cosine;
    const Space space = moved_space(metric);
    reduce(
        order_, std::vector<double>(dims_ + 1), cancel_,
        [&](std::vector<double>& row, std::size_t c, std::uint32_t i) {
          double sum = 0;
          for (std::size_t k = 0; k < dims_; ++k) {
            const std::size_t at = c * dims_ + k;
            const double away = difference(in_.points.at(i, k), references_[at], k) - means[at];
            row[k] += share(c, i) * away * away;
            if (cosine) continue;
            double t = std::abs(away);
            if (period(k) > 0) t = std::min(t, std::abs(period(k) - t));
            add_term(space, metric.scale.empty() ? t : t * metric.scale[k], sum);
          }
          const double distance = cosine ? cosine_distance(c, i) : space.distance(sum);
          row[dims_] += share(c, i) * distance * distance;
        },
        add_each,
        [&](std::size_t c, const std::vector<double>& row) {
          for (std::size_t k = 0; k < dims_; ++k) made_.spread[c * dims_ + k] = std::sqrt(row[k]);
          made_.radius[c] = std::sqrt(row[dims_]);
        });
  }

  static void add_term(const Space& space, double t, double& sum) {
    switch (space.norm) {
      case Norm::euclidean:
        sum += t * t;
        break;
      case Norm::chebyshev:
        sum = std::max(sum, t);
        break;
      case Norm::manhattan:
        sum += t;
        break;
      case Norm::minkowski:
        sum += std::pow(t, space.power);
    }
  }

  [[nodiscard]] double cosine_distance(std::size_t c, std::uint32_t i) const {
    double product = 0;
    double own = 0;
    double of_center = 0;
    for (std::size_t k = 0; k < dims_; ++k) {
      const double x = in_.points.at(i, k);
      const double m = made_.center[c * dims_ + k];
      product += x * m;
      own += x * x;
      of_center += m * m;
    }
    return 1 - product / std::sqrt(own * of_center);  // NaN where directions cancel out
  }

  /// The first point of a cluster.
  [[nodiscard]] std::array<double, 2> point(std::size_t c) const {
    return {in_.points.at(first_of(c), 0), in_.points.at(first_of(c), 1)};
  }

  [[nodiscard]] SkyPlace place(std::uint32_t i) const {
    return sky_place(in_.metric, in_.points.at(i, 0), in_.points.at(i, 1));
  }

  /// Whether the longitudes count from 0° to 360°: where none is below 0 and some are beyond 180°.
  [[nodiscard]] bool counts_from_0() const {
    const std::size_t axis = latitude_comes_first(in_.metric) ? 1 : 0;
    const double half = std::numbers::pi / radians_of_coordinates(in_.metric);
    std::atomic<bool> below = false;
    std::atomic<bool> beyond = false;
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, in_.points.size(), 1 << 16), [&](const auto& range) {
      for (std::size_t i = range.begin(); i != range.end() && !below; ++i) {
        const double x = in_.points.at(i, axis);
        if (x < 0) below = true;
        if (x > half) beyond = true;
      }
    });
    return beyond && !below;
  }

  void measure_on_sphere() {
    std::vector<SkyPlace> centers(clusters_);
    reduce(
        order_, std::vector<double>(3), cancel_,
        [&](std::vector<double>& row, std::size_t c, std::uint32_t i) {
          const Direction v = direction_of(place(i));
          for (std::size_t k = 0; k < 3; ++k) row[k] += share(c, i) * v[k];
        },
        add_each,
        [&](std::size_t c, const std::vector<double>& row) {
          constexpr double kEven = 1e-9;  // all round the sphere: no direction
          const bool even = std::hypot(row[0], row[1], row[2]) < kEven;
          centers[c] = even ? place(first_of(c)) : place_of({row[0], row[1], row[2]});
        });
    struct Row {
      double east = 0;
      double north = 0;
      double distance = 0;
      double farthest = 0;
      double west_end = kInfinity, east_end = -kInfinity;  ///< of the longitudes, from the centre's
      double south_end = kInfinity, north_end = -kInfinity;
    };
    const double unit = radians_of_coordinates(in_.metric);
    const double arc = in_radians(in_.metric.kind) ? 1 : radians_of(in_.metric.unit);
    const bool from_0 = counts_from_0();
    const std::size_t lon = latitude_comes_first(in_.metric) ? 1 : 0;
    const std::size_t lat = 1 - lon;
    constexpr double kTurn = 2 * std::numbers::pi;
    reduce(
        order_, Row{}, cancel_,
        [&](Row& row, std::size_t c, std::uint32_t i) {
          const SkyPlace at = place(i);
          const SkyOffset offset = sky_offset(centers[c], at);
          row.east += share(c, i) * offset.east * offset.east;
          row.north += share(c, i) * offset.north * offset.north;
          row.distance += share(c, i) * offset.distance * offset.distance;
          row.farthest = std::max(row.farthest, offset.distance);
          const double away = at.longitude - centers[c].longitude;
          const double turned = away - kTurn * std::round(away / kTurn);
          row.west_end = std::min(row.west_end, turned);
          row.east_end = std::max(row.east_end, turned);
          row.south_end = std::min(row.south_end, at.latitude);
          row.north_end = std::max(row.north_end, at.latitude);
        },
        [](Row& row, const Row& other) {
          row.east += other.east;
          row.north += other.north;
          row.distance += other.distance;
          row.farthest = std::max(row.farthest, other.farthest);
          row.west_end = std::min(row.west_end, other.west_end);
          row.east_end = std::max(row.east_end, other.east_end);
          row.south_end = std::min(row.south_end, other.south_end);
          row.north_end = std::max(row.north_end, other.north_end);
        },
        [&](std::size_t c, Row row) {
          SkyPlace center = centers[c];
          center.longitude -= from_0 ? kTurn * std::floor(center.longitude / kTurn)
                                     : kTurn * std::ceil((center.longitude - std::numbers::pi) / kTurn);
          constexpr double kQuarter = std::numbers::pi / 2;
          const bool north = row.farthest > 0 && center.latitude + row.farthest >= kQuarter;
          const bool south = row.farthest > 0 && center.latitude - row.farthest <= -kQuarter;
          if (north) row.north_end = kQuarter;
          if (south) row.south_end = -kQuarter;
          if (north || south) {
            row.west_end = -std::numbers::pi;
            row.east_end = std::numbers::pi;
          }
          double* const at = made_.center.data() + c * dims_;
          at[lon] = center.longitude / unit;
          at[lat] = center.latitude / unit;
          if (made_.size[c] == 1) std::copy_n(point(c).data(), dims_, at);
          made_.spread[c * dims_ + lon] = std::sqrt(row.east) / unit;
          made_.spread[c * dims_ + lat] = std::sqrt(row.north) / unit;
          made_.lower[c * dims_ + lon] = (center.longitude + row.west_end) / unit;
          made_.upper[c * dims_ + lon] = (center.longitude + row.east_end) / unit;
          made_.lower[c * dims_ + lat] = row.south_end / unit;
          made_.upper[c * dims_ + lat] = row.north_end / unit;
          made_.radius[c] = std::sqrt(row.distance) / arc;
        });
  }

  const CatalogInput& in_;
  const ClusterOrder& order_;
  const CancelToken& cancel_;
  std::size_t clusters_;
  std::size_t dims_;
  std::vector<double> totals_;            ///< [clusters] sum of the weights
  std::vector<double> references_;        ///< [clusters × d]
  std::vector<std::uint8_t> goes_round_;  ///< [clusters × d] 1 where a closed side has no mean direction
  Catalog made_;
};

}  // namespace

Catalog catalog(const CatalogInput& input, const ClusterOrder& order, const CancelToken& cancel) {
  check(input);
  check_metric(input.metric, input.points.dims());
  return Cataloguer(input, order, cancel).make();
}

Catalog catalog(const CatalogInput& input, const CancelToken& cancel) {
  require_length(input.points.size(), input.labels.size(), "labels");
  return catalog(input, order_by_cluster(input.labels, input.slices, cancel), cancel);
}

}  // namespace epsflow

#include <epsflow/catalog/catalog.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include <epsflow/catalog/catalog_checks.hpp>
#include <epsflow/catalog/cluster_sums.hpp>
#include <epsflow/catalog/metric_arrays.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow {
namespace {

/// The number of points that are summed sequentially. The sums of larger clusters are combined in the order of these
/// pieces, so they do not depend on the number of threads.
constexpr std::size_t kPiece = 1 << 13;

/// The number of axes that are summed in one pass.
constexpr unsigned kAxes = 4;

void check(const CatalogInput& in) {
  require_lengths(in, in.points.size());
  for (std::size_t i = 0; i < in.weights.size(); ++i) {
    if (!weighs(in.weights[i])) throw_bad_weight(i, in.weights[i]);
  }
}

/// Computes one kind of sum for each cluster.
template <class Sums, class Row = typename Sums::Row>
void reduce(const ClusterOrder& order, const CancelToken& cancel, const Sums& of) {
  const auto sum_up = [&](const sums::Cluster& cluster, std::uint64_t first, std::uint64_t last, Row& row) {
    for (std::uint64_t at = first; at < last; ++at) of.add(row, cluster, order.points[at]);
  };
  parallel_ranges(order.clusters(), 64, [&](std::size_t begin, std::size_t end) {
    if (cancel.cancelled()) return;
    for (std::size_t c = begin; c != end; ++c) {
      const std::uint64_t first = order.offsets[c];
      const std::uint64_t size = order.offsets[c + 1] - first;
      const std::size_t pieces = (size + kPiece - 1) / kPiece;
      const sums::Cluster cluster{c, size, order.points[first]};
      Row row = of.empty();
      if (pieces <= 1) {
        sum_up(cluster, first, first + size, row);
      } else {
        std::vector<Row> rows(pieces, row);
        parallel_for(pieces, [&](std::size_t p) {
          sum_up(cluster, first + p * kPiece, first + std::min<std::uint64_t>(size, (p + 1) * kPiece), rows[p]);
        });
        for (const Row& other : rows) of.combine(row, other);
      }
      of.finish(cluster, row);
    }
  });
  cancel.check();
}

class Cataloguer {
 public:
  Cataloguer(const CatalogInput& in, const ClusterOrder& order, const CancelToken& cancel)
      : in_(in), order_(order), cancel_(cancel), clusters_(order.clusters()), dims_(in.points.dims()) {}

  Catalog make() {
    made_.dims = dims_;
    made_.has_slices = in_.slices != nullptr;
    made_.has_core = !in_.core.empty();
    made_.has_weights = !in_.weights.empty();
    number();
    count();
    for (std::vector<double>* list : {&made_.center, &made_.spread, &made_.lower, &made_.upper}) {
      list->resize(clusters_ * dims_);
    }
    made_.radius.resize(clusters_);
    in_.points.visit([&](auto points) { measure(points.data()); });
    require_differences(made_);
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
    sums::Counts counts;
    if (!in_.core.empty()) {
      made_.core.resize(clusters_);
      made_.first_core.resize(clusters_);
      counts.core = in_.core.data();
      counts.cores = made_.core.data();
      counts.first_core = made_.first_core.data();
    }
    if (!in_.weights.empty()) {
      made_.weight.resize(clusters_);
      counts.weights = in_.weights.data();
      counts.totals = made_.weight.data();
    }
    if (counts.core != nullptr || counts.weights != nullptr) reduce(order_, cancel_, counts);
    for (const NamedColumn& column : in_.columns) {
      const std::vector<double> zeros(clusters_);
      ColumnSummary& to = made_.columns.emplace_back(ColumnSummary{column.name, zeros, zeros, zeros, zeros});
      reduce(order_, cancel_,
             sums::ColumnSums{.values = column.values.data(),
                              .weights = column.weighted && !in_.weights.empty() ? in_.weights.data() : nullptr,
                              .mean = to.mean.data(),
                              .sum = to.sum.data(),
                              .min = to.min.data(),
                              .max = to.max.data()});
    }
  }

  template <class T>
  void measure(const T* points) {
    const MetricArrays metric(in_.metric, dims_);
    std::vector<double> means(clusters_ * dims_);
    std::vector<double> references(metric.closed ? clusters_ * dims_ : 0);
    std::vector<std::uint8_t> goes_round(references.size());
    sums::Measured<T> of = metric.measured<T>(metric.values.data());
    of.points = points;
    if (!in_.weights.empty()) of.shares = {in_.weights.data(), made_.weight.data()};
    of.references = metric.closed ? references.data() : nullptr;
    of.goes_round = goes_round.data();
    of.means = means.data();
    of.center = made_.center.data();
    of.spread = made_.spread.data();
    of.lower = made_.lower.data();
    of.upper = made_.upper.data();
    of.radius = made_.radius.data();
    if (on_sphere(in_.metric.kind)) {
      const std::array<std::uint32_t, 2> ways = ways_of_longitudes(metric.sky);
      sums::Sky sky = metric.sky;
      sky.ways = ways.data();
      reduce(order_, cancel_, sums::SkyMeans<T>{of, sky});
      reduce(order_, cancel_, sums::SkySpreads<T>{of, sky});
      return;
    }
    for (std::size_t axis = 0; axis < dims_; axis += kAxes) {
      if (metric.closed) reduce(order_, cancel_, sums::Directions<T, kAxes>{of, axis});
      reduce(order_, cancel_, sums::Means<T, kAxes>{of, axis});
    }
    for (std::size_t axis = 0; axis < dims_; axis += kAxes) {
      reduce(order_, cancel_, sums::Spreads<T, kAxes>{of, axis});
    }
  }

  /// Returns sums::Sky::ways for all points.
  [[nodiscard]] std::array<std::uint32_t, 2> ways_of_longitudes(const sums::Sky& sky) const {
    std::atomic<bool> below = false;
    std::atomic<bool> beyond = false;
    parallel_ranges(in_.points.size(), 1 << 16, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i != end && !below; ++i) {
        const double x = in_.points.at(i, sky.longitude);
        if (x < 0) below = true;
        if (x > sky.half_turn()) beyond = true;
      }
    });
    return {below ? 1U : 0U, beyond ? 1U : 0U};
  }

  const CatalogInput& in_;
  const ClusterOrder& order_;
  const CancelToken& cancel_;
  std::size_t clusters_;
  std::size_t dims_;
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

#include "comparisons.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "metrics.hpp"
#include "options.hpp"
#include "task.hpp"

#include <epsflow/pipeline/compare.hpp>
#include <epsflow/pipeline/validity.hpp>

namespace nb = nanobind;
using namespace nb::literals;

namespace epsflow::python {
namespace {

/// n, the figures of an Agreement in their order, and of each overlap a, b and its points.
nb::tuple compare_labels(const Vector<std::int32_t>& a, const Vector<std::int32_t>& b, const nb::dict& options) {
  const auto engine = options_from<EngineOptions>(options);
  Agreement found;
  std::uint64_t n = 0;
  std::vector<std::int32_t> of_a;
  std::vector<std::int32_t> of_b;
  std::vector<std::int64_t> points;
  {
    const nb::gil_scoped_release release;
    const Contingency table = compare(span_of(a), span_of(b), engine);
    found = agreement(table);
    n = table.points();
    for (const Overlap& o : table.overlaps()) {
      of_a.push_back(o.a);
      of_b.push_back(o.b);
      points.push_back(static_cast<std::int64_t>(o.points));
    }
  }
  return nb::make_tuple(
      n, nb::make_tuple(found.adjusted_rand, found.variation, found.normalised_variation, found.kept, found.kept_back),
      column_of(std::move(of_a)), column_of(std::move(of_b)), column_of(std::move(points)));
}

std::unique_ptr<Task> start_validity(const HostArray& points, const Vector<std::int32_t>& labels,
                                     const MetricWords& words, std::size_t sample, std::size_t samples,
                                     const nb::dict& options) {
  const PointsView view = visit_values(points, [&](auto values) { return PointsView(values, points.shape(1)); });
  return std::make_unique<Task>([view, of_points = span_of(labels), metric = metric_of(words, points.shape(1)),
                                 how = ValidityOptions{sample, samples}, engine = options_from<EngineOptions>(options)](
                                    const Observer& observer, Task::Channel& channel) {
    channel.put(validity(view, of_points, metric, how, engine, observer));
  });
}

/// score, error, and of each cluster its label, points, score, error, sparseness and separation.
using ValidityWords =
    std::tuple<double, double, std::vector<std::tuple<std::int32_t, std::uint64_t, double, double, double, double>>>;

ValidityWords take_validity(Task& task) {
  const auto found = task.take<Validity>();
  ValidityWords words{found.score, found.error, {}};
  for (const ClusterValidity& c : found.clusters) {
    std::get<2>(words).emplace_back(c.cluster, c.points, c.score, c.error, c.sparseness, c.separation);
  }
  return words;
}

}  // namespace

void define_comparisons(nb::module_& m) {
  m.def("compare_labels", &compare_labels, nb::arg("a").noconvert(), nb::arg("b").noconvert(), "options"_a);
  m.def("start_validity", &start_validity, nb::arg("points").noconvert(), nb::arg("labels").noconvert(), "metric"_a,
        "sample"_a, "samples"_a, "options"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>());
  m.def("take_validity", &take_validity, "task"_a);
}

}  // namespace epsflow::python

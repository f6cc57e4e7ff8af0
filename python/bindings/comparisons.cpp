// Comparison and validity of labellings, distances to nearest points, and eps derived from them.
#include "dataset.hpp"
#include "points.hpp"
#include "task.hpp"

#include <epsflow/pipeline/k_distance.hpp>
#include <epsflow/pipeline/on_threads.hpp>
#include <epsflow/pipeline/selectivity.hpp>

namespace epsflow::python {
namespace {

/// Returns the figures, and for each overlap a, b and the number of points.
nb::tuple compare_labels(const Vector<std::int32_t>& a, const Vector<std::int32_t>& b, const nb::dict& options) {
  const auto engine = options_from<EngineOptions>(options);
  Contingency table;
  Agreement found;
  {
    const nb::gil_scoped_release release;
    table = compare(span_of(a), span_of(b), engine);
    found = agreement(table);
  }
  const auto& overlaps = table.overlaps();
  return nb::make_tuple(nb::cast(found), table.points(), column_from<std::int32_t>(overlaps, &Overlap::a),
                        column_from<std::int32_t>(overlaps, &Overlap::b),
                        column_from<std::int64_t>(overlaps, &Overlap::points));
}

std::unique_ptr<Task> start_validity(const PyPoints& points, std::size_t sample, std::size_t samples,
                                     const nb::dict& options) {
  return start_making([view = points.view(), labels = span_of(points.labels), metric = points.metric(),
                       how = ValidityOptions{sample, samples}, engine = options_from<EngineOptions>(options)](
                          const Observer& observer) { return validity(view, labels, metric, how, engine, observer); });
}

/// Returns a getter of a column of the clusters.
template <class To, class Field>
auto of_clusters(Field ClusterValidity::*field) {
  return [field](const Validity& found) { return column_from<To>(found.clusters, field); };
}

std::unique_ptr<Task> start_k_distances(const PyDataset& data, std::vector<std::uint32_t> ks) {
  return start_making([run_on = data.data.get(),
                       ks = std::move(ks)](const Observer& observer) { return k_distances(run_on, ks, {}, observer); },
                      kAsColumn);
}

/// Starts a task that returns the columns eps, neighbours and error.
std::unique_ptr<Task> start_selectivity(const PyDataset& data, std::vector<double> eps, std::size_t sample) {
  return start_making([run_on = data.data.get(), eps = std::move(eps),
                       sample](const Observer& observer) { return selectivity(run_on, eps, sample, {}, observer); },
                      [](const std::vector<Selectivity>& rows) {
                        return columns_from(rows, &Selectivity::eps, &Selectivity::neighbors, &Selectivity::error);
                      });
}

}  // namespace

void define_comparisons(nb::module_& m) {
  nb::class_<Agreement>(m, "Agreement", "How far two labellings agree.")
      .def_ro("ari", &Agreement::adjusted_rand)
      .def_ro("vi", &Agreement::variation)
      .def_ro("normalised_vi", &Agreement::normalised_variation)
      .def_ro("kept", &Agreement::kept)
      .def_ro("kept_back", &Agreement::kept_back);
  nb::class_<Validity>(m, "Validity", "How well clusters are separated, and columns of what each cluster has.")
      .def_ro("score", &Validity::score)
      .def_ro("error", &Validity::error)
      .def_prop_ro("clusters", of_clusters<std::int32_t>(&ClusterValidity::cluster), nb::rv_policy::move)
      .def_prop_ro("sizes", of_clusters<std::int64_t>(&ClusterValidity::points), nb::rv_policy::move)
      .def_prop_ro("cluster_scores", of_clusters<double>(&ClusterValidity::score), nb::rv_policy::move)
      .def_prop_ro("cluster_errors", of_clusters<double>(&ClusterValidity::error), nb::rv_policy::move)
      .def_prop_ro("sparseness", of_clusters<double>(&ClusterValidity::sparseness), nb::rv_policy::move)
      .def_prop_ro("separation", of_clusters<double>(&ClusterValidity::separation), nb::rv_policy::move);
  m.def("compare_labels", &compare_labels, nb::arg("a").noconvert(), nb::arg("b").noconvert(), "options"_a);
  def_task(m, "start_validity", &start_validity, "points"_a, "sample"_a, "samples"_a, "options"_a);
  def_task(m, "start_k_distances", &start_k_distances, "data"_a, "ks"_a);
  def_task(m, "start_selectivity", &start_selectivity, "data"_a, "eps"_a, "sample"_a);
  m.def(
      "knee",
      [](const Vector<double>& distances) {
        const Knee found = knee(span_of(distances));
        return std::pair(found.distance, found.share);
      },
      nb::arg("distances").noconvert(), nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "eps_range",
      [](const Vector<double>& distances) {
        const EpsRange found = eps_range(span_of(distances));
        return std::pair(found.from, found.to);
      },
      nb::arg("distances").noconvert(), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace epsflow::python

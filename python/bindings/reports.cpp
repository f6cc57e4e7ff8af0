#include "reports.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "dataset.hpp"
#include "metrics.hpp"
#include "task.hpp"

#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/report/as_json.hpp>
#include <epsflow/report/report.hpp>

namespace nb = nanobind;
using namespace nb::literals;

namespace epsflow::python {
namespace {

/// Title, provenance, command, hints for a recommendation and for catalogues.
using Told =
    std::tuple<std::string, std::vector<std::pair<std::string, std::string>>, std::string, std::string, std::string>;
/// eps, min_samples, clusters, noise, core, border, largest; and labels, which may be none.
using GivenCell = std::tuple<double, std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                             std::uint64_t, Vector<std::int32_t>>;
/// eps, min_samples, score.
using Score = std::tuple<double, std::uint32_t, double>;

report::Subject subject_of(const HostArray& points, const MetricWords& words, const std::vector<std::string>& names,
                           const Told& told) {
  const PointsView view = visit_values(points, [&](auto values) { return PointsView(values, points.shape(1)); });
  const auto& [title, provenance, command, advice, catalogue] = told;
  return {.title = title,
          .points = view,
          .metric = metric_of(words, points.shape(1)),
          .columns = {.names = names},
          .provenance = provenance,
          .command = command,
          .advice_hint = advice,
          .catalogue_hint = catalogue};
}

/// data: none, or the points as an engine has them, for labels of every cell of the lineage. Whoever calls keeps the arrays and the lineage
/// until the task has ended.
std::unique_ptr<Task> start_report(const std::filesystem::path& file, bool overwrite, const HostArray& points,
                                   const MetricWords& words, const std::vector<std::string>& names, const Told& told,
                                   const std::vector<GivenCell>& cells, const Lineage* lineage, const PyDataset* data,
                                   const Weights& weights, const std::vector<Score>& scores,
                                   const std::string& advice) {
  std::vector<std::tuple<Variant, LabelSummary, std::span<const std::int32_t>>> given;
  for (const auto& [eps, minpts, clusters, noise, core, border, largest, labels] : cells) {
    given.emplace_back(Variant{eps, minpts}, LabelSummary{clusters, noise, core, border, largest}, span_of(labels));
  }
  std::vector<std::pair<Variant, double>> scored;
  for (const auto& [eps, minpts, score] : scores) scored.emplace_back(Variant{eps, minpts}, score);
  std::optional<TaskDataset> loaded;
  if (data != nullptr) loaded.emplace(*data, weights);
  return std::make_unique<Task>([=, subject = subject_of(points, words, names, told)](const Observer& observer,
                                                                                      Task::Channel&) {
    const CancelToken stop(observer.cancel);
    report::Report report(subject);
    for (const auto& [variant, summary, labels] : given) report.add(variant, summary, labels, stop);
    if (loaded) {
      std::vector<Variant> variants;
      for (const LineageCell& cell : lineage->cells()) variants.push_back(cell.variant);
      run_each(
          {loaded->get(observer)}, {}, Sweep(variants), {},
          [&](VariantResult&& result) { report.add(result.variant, result.summary, result.labels, stop); }, observer);
    }
    if (lineage != nullptr) report.add_lineage(*lineage);
    report.add_scores(scored);
    if (!advice.empty()) report.advise(advice);
    io::AtomicFile out(file, overwrite ? io::Overwrite::replace : io::Overwrite::refuse);
    out.write(report.page());
    out.commit();
  });
}

}  // namespace

void define_reports(nb::module_& m) {
  m.def("start_report", &start_report, "file"_a, "overwrite"_a, nb::arg("points").noconvert(), "metric"_a, "names"_a,
        "told"_a, nb::arg("cells").noconvert(), nb::arg("lineage").none(), nb::arg("data").none(),
        nb::arg("weights").noconvert().none(), "scores"_a, "advice"_a, nb::keep_alive<0, 3>(), nb::keep_alive<0, 7>(),
        nb::keep_alive<0, 8>(), nb::keep_alive<0, 9>(), nb::keep_alive<0, 10>());
  m.def(
      "advice_of",
      [](const Exploration& made) {
        return report::as_json(made).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
      },
      "made"_a, "What is recommended, as explore.json has it.");
}

}  // namespace epsflow::python

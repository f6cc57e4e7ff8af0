// Pages of results.
#include <filesystem>

#include "dataset.hpp"
#include "points.hpp"

#include <epsflow/io/results/results_manifest.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/report/as_json.hpp>
#include <epsflow/report/report.hpp>

namespace epsflow::python {
namespace {

/// Figures and labels. The labels may be empty.
using InputCell = std::pair<const io::SweepEntry*, Vector<std::int32_t>>;
/// Labels and texts.
using Provenance = std::vector<std::pair<std::string, std::string>>;
/// eps, min_samples, score.
using ScoreTuple = std::tuple<double, std::uint32_t, double>;

/// Data of all cells: the lineage, or null; the loaded points if labels of every cell of the lineage are to be
/// computed, else null; scores; the recommendation, as in explore.json; and its labels, if it has several eps.
using ReportGrid =
    std::tuple<const Lineage*, const PyDataset*, std::vector<ScoreTuple>, std::string, Vector<std::int32_t>>;

std::unique_ptr<Task> start_report(const std::filesystem::path& file, bool overwrite, const PyPoints& points,
                                   report::Subject subject, const std::vector<InputCell>& cells,
                                   const ReportGrid& grid) {
  subject.points = points.view();
  subject.metric = points.metric();
  std::vector<std::tuple<Variant, LabelSummary, std::span<const std::int32_t>>> given;
  for (const auto& [figures, labels] : cells) given.emplace_back(figures->variant, figures->summary, span_of(labels));
  const auto& [lineage, data, scores, advice, recommended] = grid;
  std::vector<std::pair<Variant, double>> scored;
  for (const auto& [eps, minpts, score] : scores) scored.emplace_back(Variant{eps, minpts}, score);
  std::optional<TaskDataset> loaded;
  if (data != nullptr) loaded.emplace(*data, points.weights);
  return std::make_unique<Task>([=, lineage = lineage, advice = advice, recommended = span_of(recommended),
                                 subject = std::move(subject)](const Observer& observer, Task::Channel&) {
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
    if (!advice.empty()) report.advise(advice, recommended, stop);
    io::write_text_file(file, report.page(), overwrite ? io::Overwrite::replace : io::Overwrite::refuse);
  });
}

}  // namespace

void define_reports(nb::module_& m) {
  nb::class_<report::Subject>(m, "Subject", "What a page says of the points, which start_report() adds.")
      .def(
          "__init__",
          [](report::Subject* made, const std::string& title, const Provenance& provenance, const std::string& command,
             const std::pair<std::string, std::string>& hints, const std::vector<std::string>& names) {
            new (made) report::Subject{.title = title,
                                       .points = {},
                                       .columns = {.names = names},
                                       .provenance = provenance,
                                       .command = command,
                                       .advice_hint = hints.first,
                                       .catalogue_hint = hints.second};
          },
          "title"_a, "provenance"_a, "command"_a, "hints"_a, "names"_a);
  def_task(m, "start_report", &start_report, "file"_a, "overwrite"_a, "points"_a, "subject"_a,
           nb::arg("cells").noconvert(), "grid"_a);
  m.def(
      "advice_of",
      [](const Exploration& made) {
        return report::as_json(made).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
      },
      "made"_a, "What is recommended, as explore.json has it.");
}

}  // namespace epsflow::python

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/interrupt.hpp>
#include <epsflow/cli/metric.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/cli/outputs.hpp>
#include <epsflow/cli/reading.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/row_numbers.hpp>
#include <epsflow/io/write/npy_writer.hpp>
#include <epsflow/io/write_labels.hpp>
#include <epsflow/pipeline/predict.hpp>

namespace epsflow::cli {
namespace {

/// Those of labels that say nothing of a variant.
constexpr std::array kPlainFormats{io::OutputFormat::npy, io::OutputFormat::csv, io::OutputFormat::fits};

/// A file of one whole number for each point, as this program writes labels and masks.
std::vector<std::int32_t> read_numbers(const Arguments& arguments, std::string_view option, std::size_t points,
                                       double least, double most) {
  const std::string& file = arguments.text(option);
  const Points read = io::read_points(file);
  if (read.dims() != 1 || read.size() != points) {
    throw InputError(fmt::format("{} holds {} rows of {}, and {} has {}: give the {} of these points", file,
                                 format_count(read.size()), format_count(read.dims(), "column"),
                                 arguments.text("points"), format_count(points, "point"), option));
  }
  std::vector<std::int32_t> numbers(points);
  for (std::size_t i = 0; i < points; ++i) {
    const double value = read.view().at(i, 0);
    if (!(value >= least && value <= most) || value != std::floor(value)) {
      throw InputError(fmt::format("{} has {} in row {}, which is none of the {}: are --labels and --core swapped?",
                                   file, format_number(value), i, option == "core" ? "mask of core points" : "labels"));
    }
    numbers[i] = static_cast<std::int32_t>(value);
  }
  return numbers;
}

/// The core points of a clustering.
struct Core {
  Points points;
  std::vector<std::int32_t> labels;
  std::vector<std::string> column_names;
};

Core read_core(const Arguments& arguments, Metric& metric) {
  Points points = read_input(arguments, arguments.text("points"));
  settle_columns(arguments, points, metric);
  const std::vector<std::int32_t> labels =
      read_numbers(arguments, "labels", points.size(), kNoise, std::numeric_limits<std::int32_t>::max());
  const std::vector<std::int32_t> mask = read_numbers(arguments, "core", points.size(), 0, 1);
  const auto count =
      static_cast<std::size_t>(std::count_if(mask.begin(), mask.end(), [](std::int32_t core) { return core != 0; }));
  Core core{Points(count, points.dims(), points.precision()), {}, points.column_names};
  const auto copy = [&](auto from, auto to) {
    auto next = to.begin();
    for (std::size_t i = 0; i < mask.size(); ++i) {
      if (mask[i] == 0) continue;
      next = std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(i * points.dims()), points.dims(), next);
      core.labels.push_back(labels[i]);
    }
  };
  if (points.precision() == Precision::float32) {
    copy(points.values<float>(), core.points.values<float>());
  } else {
    copy(points.values<double>(), core.points.values<double>());
  }
  return core;
}

double eps_of_clustering(const Arguments& arguments) {
  const std::vector<double> eps = parse_eps_list(arguments.text("eps"));
  if (eps.size() == 1) return eps.front();
  throw UsageError(fmt::format("predict takes one eps, that of the clustering, and --eps {} gives {}",
                               arguments.text("eps"), eps.size()));
}

int run_predict(const Arguments& arguments) {
  arguments.require({"points", "labels", "core", "eps"});
  const double eps = eps_of_clustering(arguments);
  Words files = arguments.operands();
  for (const char* option : {"points", "labels", "core"}) files.push_back(arguments.text(option));
  require_output(arguments, "out", kPlainFormats, files);
  const Options options = run_options(arguments);
  if (std::count(files.begin(), files.end(), "-") > 1) {
    throw UsageError("- stands for standard input, which can be read only once; name it once");
  }
  Metric metric = requested_metric(arguments);
  const Core core = read_core(arguments, metric);
  Points points = read_input(arguments);
  settle_columns(arguments, points, metric);
  const bool by_place = metric.kind != MetricKind::greatcircle && metric.kind != MetricKind::haversine;
  if (by_place && !core.column_names.empty() && !points.column_names.empty() &&
      core.column_names != points.column_names) {
    throw UsageError(fmt::format("the columns are {}, and those of {} are {}: choose the same of both with --columns",
                                 fmt::join(points.column_names, ", "), arguments.text("points"),
                                 fmt::join(core.column_names, ", ")));
  }
  const std::filesystem::path rows = rows_file(arguments, points);
  if (!rows.empty()) io::require_target(rows, overwrite(arguments), paths_of(files));
  const InterruptGuard interrupt;
  VariantResult result;
  result.variant = {eps, 0};
  result.labels = predict({core.points.view(), core.labels, eps, metric}, points.view(), options,
                          {.cancel = &interrupt.token(), .on_notice = notices(arguments)});
  const auto noise = static_cast<std::uint64_t>(std::count(result.labels.begin(), result.labels.end(), kNoise));
  if (arguments.given("out")) io::write_labels(arguments.text("out"), result, overwrite(arguments));
  if (!rows.empty()) io::write_npy(rows, io::npy_rows(io::row_numbers(points)), overwrite(arguments));
  if (arguments.flag("json")) {
    nlohmann::ordered_json json{
        {"points", points.size()}, {"eps", eps}, {"core", core.labels.size()}, {"noise", noise}};
    add_input(json, points);
    print_json(json);
  } else if (!arguments.flag("quiet") && !goes_to_standard_output(arguments, "out")) {
    print_result("{}: {} in clusters, {} noise\n", format_count(points.size(), "point"),
                 format_count(points.size() - noise), format_count(noise));
  }
  return kDone;
}

}  // namespace

Command predict_command() {
  return {.name = "predict",
          .summary = "find the clusters of new points",
          .usage = "FILE … --points FILE --labels FILE --core FILE --eps EPS --out labels.npy",
          .about =
              "Gives each point of the files the lowest cluster among the core points within eps of a clustering, and\n"
              "-1 where there is none: what a border point would have got. The clustering is its points with the\n"
              "labels and the mask of core points that cluster --core and sweep --core write. On the CPU.",
          .example = "epsflow predict new.csv --points old.csv --labels labels.npy --core core.npy --eps 0.3",
          .operand = {"FILE …"},
          .groups =
              {{"The clustering",
                {{.name = "points", .kind = ValueKind::file, .value = "FILE", .help = "the points that were clustered"},
                 {.name = "labels", .kind = ValueKind::file, .value = "FILE", .help = "their labels"},
                 {.name = "core", .kind = ValueKind::file, .value = "FILE", .help = "their mask of core points"},
                 {.name = "eps", .value = "EPS", .help = "its neighbourhood radius"}}},
               metric_options(),
               {"Results",
                {{.name = "out",
                  .kind = ValueKind::file,
                  .value = "FILE",
                  .help = "labels as .npy (int32), .csv or .fits, or - for CSV on standard output"},
                 overwrite_option()}},
               input_options(),
               run_options_group(),
               message_options()},
          .run = run_predict};
}

}  // namespace epsflow::cli

// Pages of results (report/report.hpp) as commands make them.
#pragma once

#include <span>

#include <epsflow/cli/arguments.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/results/results_manifest.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/report/report.hpp>

namespace epsflow::cli {

/// Returns --report FILE of a command that makes results.
[[nodiscard]] OptionSpec report_option(std::string help);

/// Returns a command of the program as a shell takes it. options: name and value, "true" for flags; those that say
/// where results go, and what is printed, are left out.
[[nodiscard]] std::string command_line(std::string_view command, const Words& files,
                                       std::span<const std::pair<std::string, std::string>> options);

/// Adds --columns to the options of a run that names columns which are no coordinates: commands without these options
/// would take them for coordinates. names, numbers: of the columns that were read.
void name_columns(std::vector<std::pair<std::string, std::string>>& options, const Words& names,
                  const std::vector<std::size_t>& numbers);

/// Tells what a page says of a run.
struct Origin {
  std::string command;  ///< its name
  Words files = {};
  std::string checksum = {};
  std::string started = {};
  io::RunDescription run = {};
};

/// Returns what a page is of. The points outlive it.
[[nodiscard]] report::Subject subject_of(const io::FilePoints& points, const Metric& metric, const Origin& origin);

/// Writes the page, and tells of it.
void write_page(const Messages& messages, const std::string& file, io::Overwrite overwrite,
                const report::Report& report);

/// Adds what a results folder holds of the points to a page: counts, labels, lineage, scores, recommendation. Throws
/// InputError for what is not as it was written.
void add_folder(report::Report& report, const std::filesystem::path& folder, const io::Manifest& manifest);

}  // namespace epsflow::cli

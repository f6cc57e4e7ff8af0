// Pages of results (report/report.hpp) for the commands that make them.
#pragma once

#include <epsflow/cli/arguments.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/results/results_manifest.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/report/report.hpp>

namespace epsflow::cli {

/// Returns the option --report FILE.html of the commands that make results. help: its description.
[[nodiscard]] OptionSpec report_option(std::string help);

/// The origin of the results on a page.
struct Origin {
  std::string command;          ///< the name of the command
  Words files = {};             ///< its operands
  std::string checksum = {};    ///< of the points, as text
  std::string started = {};     ///< when the run began, as text
  io::RunDescription run = {};  ///< the program, the machine and the options of the run
};

/// Returns the subject of a page: title, provenance, the command that repeats the run, and commands that make a
/// catalogue of a cell and, except for hdbscan, a recommendation. The points must outlive the subject.
[[nodiscard]] report::Subject subject_of(const io::FilePoints& points, const Metric& metric, const Origin& origin);

/// Writes the page, and prints a line about it unless --quiet is given. Throws as io::write_text_file().
void write_page(const Messages& messages, const std::string& file, io::Overwrite overwrite,
                const report::Report& report);

/// Adds the contents of a results folder to a page: counts, labels, lineage, trees, scores, recommendation. Throws
/// InputError for files that are missing or have changed since they were written, Cancelled after an interrupt.
void add_folder(report::Report& report, const std::filesystem::path& folder, const io::Manifest& manifest);

}  // namespace epsflow::cli

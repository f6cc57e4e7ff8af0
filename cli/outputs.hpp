// The single files that commands write: what they may be called, and whether they may replace others.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <span>
#include <string_view>

#include <epsflow/cli/arguments.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/io/write_labels.hpp>

namespace epsflow::cli {

/// --overwrite for commands that write single files.
[[nodiscard]] OptionSpec overwrite_option();
[[nodiscard]] io::Overwrite overwrite(const Arguments& arguments);

/// The files and folders that a command reads: its operands, and those of every option that names a file and does not write it.
[[nodiscard]] std::vector<std::filesystem::path> inputs_of(const Arguments& arguments);

/// Checks the file of `option`, if it is given: its name has to say one of `formats`, it can be written, and it replaces neither another
/// file without --overwrite, nor what another option of the command writes, nor ever one of inputs_of() or of `more_inputs`, nor a file of
/// a results folder among them. Throws UsageError, ResourceError.
void require_output(const Arguments& arguments, std::string_view option, std::span<const io::OutputFormat> formats,
                    const Words& more_inputs = {});
/// The same for a file of any format.
void require_place(const Arguments& arguments, std::string_view option, io::Overwrite overwrite,
                   const Words& more_inputs = {});

/// require_output() of --out for what has NAME.rows.npy beside it where rows were dropped or files joined: the input row of each point.
/// That file may not be there without --overwrite either, is never one that epsflow did not write (io::is_marked_npy()), and is none that
/// another option writes.
void require_row_output(const Arguments& arguments, std::span<const io::OutputFormat> formats,
                        const Words& more_inputs = {});

/// Removes NAME.rows.npy before what it belongs to is replaced, with --overwrite: never do rows stand beside what is not theirs.
void remove_rows(const Arguments& arguments);
/// Writes NAME.rows.npy, where rows are needed to tell what --out is of. Where there is no such place, as for standard output, a line says
/// so of `what`, unless --quiet is given.
void write_rows(const Arguments& arguments, const io::FilePoints& points, std::string_view what);

/// Writes the labels to --out, where it is given, and the rows beside them; NAME.rows.npy of other labels goes. Where there is no
/// such place, as for standard output, and rows are needed to tell what labels or a mask of core points are of, a line says so,
/// unless --quiet is given.
void write_label_output(const Arguments& arguments, const VariantResult& result, const io::FilePoints& points,
                        const Metric& metric, io::LabelNumbers numbers = io::LabelNumbers::label);

/// Whether the file of `option` is standard output, so that nothing else may be printed there. Throws UsageError where
/// that is to carry the JSON of --json as well.
[[nodiscard]] bool goes_to_standard_output(const Arguments& arguments, std::string_view option);

}  // namespace epsflow::cli

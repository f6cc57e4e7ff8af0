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

/// Finds out whether the file of `option`, where it is given, has a name that says one of `formats`, can be written, and
/// replaces no other without --overwrite, and none of `inputs` at all. Throws UsageError, ResourceError.
void require_output(const Arguments& arguments, std::string_view option, std::span<const io::OutputFormat> formats,
                    const Words& inputs);

/// Throws UsageError where two of the options name one and the same place.
void require_different_outputs(const Arguments& arguments, std::initializer_list<std::string_view> options);

/// require_output() of --out for what has NAME.rows.npy beside it where rows were dropped or files joined: the input row of each point,
/// which may not be there without --overwrite either, nor ever as a file that epsflow did not write (io::is_marked_npy()).
void require_row_output(const Arguments& arguments, std::span<const io::OutputFormat> formats, const Words& inputs);
/// The same for labels; --core is another file.
void require_label_output(const Arguments& arguments, std::span<const io::OutputFormat> formats, const Words& inputs);

/// Removes NAME.rows.npy before what it belongs to is replaced, with --overwrite: never do rows stand beside what is not theirs.
void remove_rows(const Arguments& arguments);
/// Writes NAME.rows.npy, where rows are needed to tell what --out is of. Where there is no such place, as for standard output, a line says
/// so of `what`, unless --quiet is given.
void write_rows(const Arguments& arguments, const io::FilePoints& points, std::string_view what);

/// Writes the labels to --out, where it is given, and the rows beside them; NAME.rows.npy of other labels goes. Where there is no
/// such place, as for standard output, and rows are needed to tell what labels or a mask of core points are of, a line says so,
/// unless --quiet is given.
void write_label_output(const Arguments& arguments, const VariantResult& result, const io::FilePoints& points,
                        const Metric& metric);

/// Whether the file of `option` is standard output, so that nothing else may be printed there. Throws UsageError where
/// that is to carry the JSON of --json as well.
[[nodiscard]] bool goes_to_standard_output(const Arguments& arguments, std::string_view option);

}  // namespace epsflow::cli

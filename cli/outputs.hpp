// The single files that commands write: what they may be called, and whether they may replace others.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <span>
#include <string_view>

#include <epsflow/cli/arguments.hpp>
#include <epsflow/core/points.hpp>
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

/// Where to tell the input row of each label, beside the labels; empty where label i is of row i.
[[nodiscard]] std::filesystem::path rows_file(const Arguments& arguments, const Points& points);

/// Whether the file of `option` is standard output, so that nothing else may be printed there. Throws UsageError where
/// that is to carry the JSON of --json as well.
[[nodiscard]] bool goes_to_standard_output(const Arguments& arguments, std::string_view option);

}  // namespace epsflow::cli

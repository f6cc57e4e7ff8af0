// Points that join the groups of epsflow fof: --attach and --attached.
#pragma once

#include <epsflow/cli/input.hpp>
#include <epsflow/cli/outputs.hpp>
#include <epsflow/core/table.hpp>

namespace epsflow::cli {

/// --attach.
[[nodiscard]] OptionSpec attach_option();

struct Attaching {
  std::string said;  ///< what --attach says; empty if it is not given
  std::string out;   ///< the file of --attached, or empty

  [[nodiscard]] bool is_given() const { return !said.empty(); }
};

/// Throws UsageError, ResourceError for words that cannot be.
[[nodiscard]] Attaching parse_attaching(const Arguments& arguments, Outputs& outputs);

/// Returns the points of --attach: other particles of the snapshot that was read, or those of a file, in the same columns. read: as
/// Input::settle() left it. Throws as Input::read(), and InputError if rows of them were dropped.
[[nodiscard]] io::FilePoints read_attached(const Attaching& attaching, Input input, const io::FilePoints& read);

/// Labels of points that were attached, with the counts of such a result.
[[nodiscard]] VariantResult attached_result(const VariantResult& groups, const std::vector<std::int32_t>& labels);

/// How many were attached to each of so many groups, as a column of the catalogue.
[[nodiscard]] TableColumn attached_counts(const VariantResult& attached, std::size_t groups);

}  // namespace epsflow::cli

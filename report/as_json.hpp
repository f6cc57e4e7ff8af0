// Counts and recommendations as JSON. The form is the same in --json, in explore.json and on the page.
#pragma once

#include <nlohmann/json.hpp>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/explore.hpp>

namespace epsflow::report {

/// Returns a variant with its counts.
[[nodiscard]] nlohmann::ordered_json counts_as_json(const Variant& variant, const LabelSummary& summary);

/// Returns the grid, "recommended" (null if there is no structure), "alternatives" and "doubts".
[[nodiscard]] nlohmann::ordered_json as_json(const Exploration& made);

}  // namespace epsflow::report

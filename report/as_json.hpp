// Recommendations as JSON. The form is the same in --json, in explore.json and on the page.
#pragma once

#include <nlohmann/json.hpp>

#include <epsflow/pipeline/explore.hpp>

namespace epsflow::report {

/// Returns an object with "grid", "recommended" (null if there is no structure), "one_eps" (if there is such an offer),
/// "alternatives" and "doubts".
[[nodiscard]] nlohmann::ordered_json as_json(const Exploration& made);

}  // namespace epsflow::report

// Stage: variants that share eps share one index, and one table or one count of neighbours.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <epsflow/core/metric.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/stages/eps_job.hpp>

namespace epsflow::stages {

/// Returns groups in descending order of eps. As the largest tables come first, a table that does not fit the memory
/// budget is found early. Throws as transformed_radius(). O(variants · log variants).
[[nodiscard]] std::vector<EpsGroup> group_by_eps(const Sweep& sweep, const Metric& metric = {});

/// Returns the largest number of minpts of a group, at least 1.
[[nodiscard]] std::size_t most_levels(std::span<const EpsGroup> groups) noexcept;

}  // namespace epsflow::stages

// Results in the order of the sweep.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/sweep.hpp>

namespace epsflow {

/// Returns one result for each variant of `sweep`, in its order. start(on_result) calls it for each, one at a time.
template <class Result = VariantResult, class Start>
[[nodiscard]] std::vector<Result> in_order(const Sweep& sweep, Start&& start) {
  std::vector<Result> results(sweep.size());
  std::map<std::pair<double, std::uint32_t>, std::size_t> positions;
  for (const Variant& v : sweep.variants()) positions.emplace(std::pair(v.eps, v.minpts), positions.size());
  start([&](Result&& result) {
    results[positions.at({result.variant.eps, result.variant.minpts})] = std::move(result);
  });
  return results;
}

}  // namespace epsflow

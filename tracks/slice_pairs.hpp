// Comparison of consecutive slices, each of which is prepared before it is compared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/tracks/tracks.hpp>

namespace epsflow::tracks {

/// Returns [slices − 1] lists: the links of each slice with the next. prepare(slice) returns the data by which a slice
/// is compared. compare(before, after) returns the links of two slices, sorted by from and then by to. Several pairs
/// run in parallel. A slice at which the work is divided is prepared twice: at most one in four.
template <class Prepare, class Compare>
[[nodiscard]] std::vector<std::vector<FeatureLink>> links_of_pairs(std::size_t slices, const CancelToken& cancel,
                                                                   Prepare prepare, Compare compare) {
  constexpr std::size_t kGrain = 8;
  std::vector<std::vector<FeatureLink>> links(slices > 0 ? slices - 1 : 0);
  parallel_ranges(links.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    auto before = prepare(begin);
    for (std::size_t s = begin; s < end; ++s) {
      cancel.check();
      auto after = prepare(s + 1);
      links[s] = compare(before, after);
      before = std::move(after);
    }
  });
  return links;
}

/// Sorts links by from and then by to, and merges links of the same two features by adding up their counts.
inline void join_links(std::vector<FeatureLink>& links) {
  std::sort(links.begin(), links.end(), [](const FeatureLink& a, const FeatureLink& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  std::size_t last = 0;
  for (std::size_t i = 1; i < links.size(); ++i) {
    if (links[i].from == links[last].from && links[i].to == links[last].to) {
      links[last].from_points += links[i].from_points;
      links[last].to_points += links[i].to_points;
    } else {
      links[++last] = links[i];
    }
  }
  if (!links.empty()) links.resize(last + 1);
}

}  // namespace epsflow::tracks

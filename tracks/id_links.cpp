#include <epsflow/tracks/id_links.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

#include <epsflow/core/error.hpp>
#include <epsflow/tracks/slice_pairs.hpp>

namespace epsflow::tracks {
namespace {

struct IdRow {
  std::int64_t id;
  std::uint32_t row;
};

/// Returns the clustered rows of a slice sorted by id.
std::vector<IdRow> sorted_ids(const SlicedLabels& slices, const Tracks& found, std::size_t s) {
  std::vector<IdRow> ids;
  ids.reserve(slices.starts[s + 1] - slices.starts[s]);
  for (std::size_t i = slices.starts[s]; i < slices.starts[s + 1]; ++i) {
    if (found.feature_of[i] != Tracks::kNoFeature) ids.push_back({slices.ids[i], static_cast<std::uint32_t>(i)});
  }
  const auto by_id = [](const IdRow& a, const IdRow& b) { return a.id != b.id ? a.id < b.id : a.row < b.row; };
  if (!std::is_sorted(ids.begin(), ids.end(), by_id)) std::sort(ids.begin(), ids.end(), by_id);
  const auto twice =
      std::adjacent_find(ids.begin(), ids.end(), [](const IdRow& a, const IdRow& b) { return a.id == b.id; });
  if (twice != ids.end()) {
    throw InputError("rows " + std::to_string(twice->row) + " and " + std::to_string((twice + 1)->row) + " of slice " +
                     std::to_string(s) + " have the same id, " + std::to_string(twice->id) +
                     ": an id is one point of a slice; leave one of the rows out, or match by core points");
  }
  return ids;
}

}  // namespace

std::vector<std::vector<FeatureLink>> find_id_links(const SlicedLabels& slices, const Tracks& found,
                                                    const CancelToken& cancel) {
  if (found.slices == 1) (void)sorted_ids(slices, found, 0);  // for the errors that it throws
  return links_of_pairs(
      found.slices, cancel, [&](std::size_t s) { return sorted_ids(slices, found, s); },
      [&](const std::vector<IdRow>& before, const std::vector<IdRow>& after) {
        std::vector<FeatureLink> links;
        auto a = before.begin();
        auto b = after.begin();
        while (a != before.end() && b != after.end()) {
          if (a->id < b->id) {
            ++a;
          } else if (b->id < a->id) {
            ++b;
          } else {
            const std::uint32_t from = found.feature_of[(a++)->row];
            const std::uint32_t to = found.feature_of[(b++)->row];
            if (!links.empty() && links.back().from == from && links.back().to == to) {
              ++links.back().from_points;
              ++links.back().to_points;
            } else {
              links.push_back({from, to, 1, 1});
            }
          }
        }
        join_links(links);
        return links;
      });
}

}  // namespace epsflow::tracks

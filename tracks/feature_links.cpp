#include <epsflow/tracks/feature_links.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

#include <epsflow/core/error.hpp>

namespace epsflow::tracks {
namespace {

struct IdRow {
  std::int64_t id;
  std::uint32_t row;
};

/// Returns the clustered rows of a slice sorted by id.
std::vector<IdRow> sorted_ids(const SlicedLabels& slices, std::span<const std::uint32_t> feature_of, std::size_t s) {
  std::vector<IdRow> ids;
  ids.reserve(slices.starts[s + 1] - slices.starts[s]);
  for (std::size_t i = slices.starts[s]; i < slices.starts[s + 1]; ++i) {
    if (feature_of[i] != Tracks::kNoFeature) ids.push_back({slices.ids[i], static_cast<std::uint32_t>(i)});
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

void join_links(std::vector<FeatureLink>& links) {
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

LinksOfSlices find_id_links(const SlicedLabels& slices, std::span<const std::uint32_t> feature_of,
                            const CancelToken& cancel) {
  const std::size_t count = slices.starts.size() - 1;
  if (count == 1) (void)sorted_ids(slices, feature_of, 0);  // for the errors that it throws
  return links_of_pairs(
      count, cancel, [&](std::size_t s) { return sorted_ids(slices, feature_of, s); },
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
            const std::uint32_t from = feature_of[(a++)->row];
            const std::uint32_t to = feature_of[(b++)->row];
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

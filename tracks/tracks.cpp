#include <epsflow/tracks/tracks.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include <epsflow/clustering/cluster_matching.hpp>
#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/tracks/core_links.hpp>
#include <epsflow/tracks/feature_rows.hpp>
#include <epsflow/tracks/slice_pairs.hpp>

namespace epsflow {
namespace {

void check_options(const SlicedLabels& slices, const TrackOptions& options) {
  if (!(options.least_share >= 0 && options.least_share <= 1)) {
    throw UsageError("the least share of a link is " + format_number(options.least_share) +
                     "; it is a number from 0 to 1");
  }
  if (slices.labels.empty()) return;
  if (options.match == TrackMatch::ids && slices.ids.empty()) {
    throw UsageError("there are no ids to match clusters by: give an id for each point, or match by core points");
  }
  if (options.match == TrackMatch::cores && (slices.core.empty() || slices.points.size() == 0)) {
    throw UsageError(std::string("there are no ") + (slices.core.empty() ? "marks of core points" : "points") +
                     " to match clusters by: give points and a core mask, or match by ids");
  }
}

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

/// Returns [slices − 1] lists: the links of each slice with the next, sorted by from and then by to. Their same_cell is
/// not set. found: of find_features(). O(n) if each slice is sorted by id, else O(n log n). Throws InputError for an id
/// that is twice among the clusters of a slice, Cancelled.
std::vector<std::vector<FeatureLink>> find_id_links(const SlicedLabels& slices, const Tracks& found,
                                                    const CancelToken& cancel) {
  if (found.slices == 1) (void)sorted_ids(slices, found, 0);  // for the errors that it throws
  return tracks::links_of_pairs(
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
        tracks::join_links(links);
        return links;
      });
}

/// Removes links with a share below `least`. by_core: whether core points are matched.
void keep_shares(std::vector<FeatureLink>& links, const std::vector<Feature>& features, double least, bool by_core) {
  if (least <= 0) return;
  const auto share = [&](std::uint32_t shared, const Feature& f) {
    return static_cast<double>(shared) / static_cast<double>(by_core ? f.core : f.points);
  };
  std::erase_if(links, [&](const FeatureLink& link) {
    return std::max(share(link.from_points, features[link.from]), share(link.to_points, features[link.to])) < least;
  });
}

/// Returns the links between two slices in the form that clusters are matched by. Features are numbered in their
/// slices.
std::vector<SharedCore> shared_by(const std::vector<FeatureLink>& links, std::uint32_t first_before,
                                  std::uint32_t first_after) {
  std::vector<SharedCore> shared;
  shared.reserve(links.size());
  for (const FeatureLink& link : links) {
    shared.push_back(
        {link.from - first_before, link.to - first_after, std::uint64_t{link.from_points} + link.to_points});
  }
  return shared;
}

/// Numbers the cells, slice by slice, and marks the links along which they continue. shared: as the links. first:
/// [slices + 1] the first feature of each slice.
void number_cells(Tracks& found, std::vector<std::vector<FeatureLink>>& links,
                  const std::vector<std::vector<SharedCore>>& shared, const std::vector<std::uint32_t>& first) {
  for (std::uint32_t s = 0; s < found.slices; ++s) {
    const std::uint32_t count = first[s + 1] - first[s];
    std::vector<std::uint64_t> cells;
    std::vector<std::uint32_t> continued(count, kNoCluster);
    if (s > 0) {
      for (std::uint32_t f = first[s - 1]; f < first[s]; ++f) cells.push_back(found.features[f].cell);
      continued = continued_clusters(shared[s - 1], cells, count);
      for (FeatureLink& link : links[s - 1]) {
        link.same_cell = continued[link.to - first[s]] == link.from - first[s - 1];
      }
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      found.features[first[s] + i].cell =
          continued[i] == kNoCluster ? ++found.cells : static_cast<std::uint32_t>(cells[continued[i]]);
    }
  }
}

void number_tracks(Tracks& found) {
  std::vector<std::uint32_t> parent(found.features.size());
  std::iota(parent.begin(), parent.end(), 0U);
  const clustering::UnionFind sets(parent);
  for (const FeatureLink& link : found.links) sets.unite(link.from, link.to);
  for (std::uint32_t f = 0; f < found.features.size(); ++f) {
    const std::uint32_t first = sets.find(f);  // the smallest feature of the set
    found.features[f].track = first == f ? ++found.tracks : found.features[first].track;
  }
}

/// Returns the events between slice − 1 and slice. first: [slices + 1] the first feature of each slice.
std::vector<TrackEvent> events_of(const std::vector<SharedCore>& shared, const std::vector<std::uint32_t>& first,
                                  std::uint32_t slice) {
  // The kinds are the same, and in the same order.
  static_assert(static_cast<int>(TrackEventKind::death) == static_cast<int>(ClusterChange::ended));
  const std::uint32_t begin = first[slice - 1];
  const std::uint32_t middle = first[slice];
  const ClusterChanges changes(shared, middle - begin, first[slice + 1] - middle);
  std::vector<TrackEvent> events;
  events.reserve(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto change = changes[i];
    TrackEvent& event = events.emplace_back(TrackEvent{static_cast<TrackEventKind>(change.kind), slice});
    for (const std::uint32_t f : change.before) event.before.push_back(begin + f);
    for (const std::uint32_t f : change.after) event.after.push_back(middle + f);
  }
  return events;
}

}  // namespace

Tracks find_tracks(const SlicedLabels& slices, const TrackOptions& options, const CancelToken& cancel) {
  tracks::check_slices(slices);
  check_options(slices, options);
  Tracks found;
  const tracks::FeatureRows rows = tracks::find_features(slices, found, cancel);
  const bool by_core = options.match == TrackMatch::cores;
  auto links = by_core ? tracks::find_core_links(slices, options.eps, found, rows, cancel)
                       : find_id_links(slices, found, cancel);

  std::vector<std::vector<SharedCore>> shared(links.size());
  std::vector<std::vector<TrackEvent>> events(links.size());
  parallel_for(links.size(), [&](std::size_t s) {
    keep_shares(links[s], found.features, options.least_share, by_core);
    shared[s] = shared_by(links[s], rows.first_feature[s], rows.first_feature[s + 1]);
    events[s] = events_of(shared[s], rows.first_feature, static_cast<std::uint32_t>(s + 1));
  });
  number_cells(found, links, shared, rows.first_feature);
  for (std::size_t s = 0; s < links.size(); ++s) {
    found.links.insert(found.links.end(), links[s].begin(), links[s].end());
    std::move(events[s].begin(), events[s].end(), std::back_inserter(found.events));
  }
  number_tracks(found);
  return found;
}

}  // namespace epsflow

#include <epsflow/tracks/tracks.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include <epsflow/catalog/cluster_order.hpp>
#include <epsflow/clustering/cluster_matching.hpp>
#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/core/slices.hpp>
#include <epsflow/tracks/feature_links.hpp>

namespace epsflow {
namespace {

void require_size(std::size_t size, std::size_t n, const char* what) {
  if (size == n) return;
  throw UsageError("there are " + std::to_string(n) + " labels and " + std::to_string(size) + " " + what +
                   ": give one for each point");
}

void check_slices(const SlicedLabels& slices) {
  const auto& starts = slices.starts;
  const std::size_t n = slices.labels.size();
  if (n > kMaxPoints) {
    throw UsageError("there are " + std::to_string(n) + " points, and tracks are found for at most " +
                     std::to_string(kMaxPoints) + ": give fewer slices at a time");
  }
  if (starts.empty() || starts.front() != 0 || starts.back() != n) {
    throw UsageError("the first rows of the slices are " +
                     (starts.empty()
                          ? std::string("missing")
                          : "from " + std::to_string(starts.front()) + " to " + std::to_string(starts.back())) +
                     ", and there are " + std::to_string(n) +
                     " labels: give the first row of each slice, from 0 on, and then " + std::to_string(n));
  }
  if (starts.size() - 1 > kMaxPoints) throw UsageError("there are more than 4 billion slices: give fewer at a time");
  const auto down = std::is_sorted_until(starts.begin(), starts.end());
  if (down != starts.end()) {
    const auto slice = down - starts.begin();
    throw UsageError("slice " + std::to_string(slice) + " begins at row " + std::to_string(*down) +
                     ", and the one before at row " + std::to_string(*(down - 1)) +
                     ": slices follow each other and do not overlap; sort the rows by slice");
  }
  if (!slices.core.empty()) require_size(slices.core.size(), n, "values of the core mask");
  if (!slices.ids.empty()) require_size(slices.ids.size(), n, "ids");
  if (slices.points.size() > 0) require_size(slices.points.size(), n, "points");
  for (std::size_t i = 0; i < n; ++i) {
    if (slices.labels[i] < kNoise) {
      throw UsageError("row " + std::to_string(i) + " has the label " + std::to_string(slices.labels[i]) +
                       ", and labels are clusters from 0 on, or -1 for noise");
    }
    if (slices.labels[i] == kNoise && !slices.core.empty() && slices.core[i] != 0) {
      throw InputError("row " + std::to_string(i) +
                       " is a core point and has the label -1, of noise, and core points are in clusters: give "
                       "labels and mask of the same clustering");
    }
  }
}

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

/// Returns the features, without their cells and tracks, and the feature of each point.
Tracks features_of(const SlicedLabels& slices, const ClusterOrder& order) {
  Tracks found;
  found.slices = static_cast<std::uint32_t>(slices.starts.size() - 1);
  found.features.reserve(order.clusters());
  for (std::uint32_t s = 0; s < found.slices; ++s) {
    for (std::size_t f = order.slices[s]; f < order.slices[s + 1]; ++f) {
      found.features.push_back({.slice = s,
                                .label = order.labels[f],
                                .place = static_cast<std::uint32_t>(f - order.slices[s]),
                                .points = static_cast<std::uint32_t>(tracks::rows_of(order, f).size())});
    }
  }
  found.feature_of.assign(slices.labels.size(), Tracks::kNoFeature);
  constexpr std::size_t kGrain = 16;
  parallel_ranges(order.clusters(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t f = begin; f < end; ++f) {
      for (const std::uint32_t row : tracks::rows_of(order, f)) {
        found.feature_of[row] = static_cast<std::uint32_t>(f);
        if (!slices.core.empty() && slices.core[row] != 0) ++found.features[f].core;
      }
    }
  });
  return found;
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
void number_cells(Tracks& found, tracks::LinksOfSlices& links, const std::vector<std::vector<SharedCore>>& shared,
                  const std::vector<std::uint32_t>& first) {
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
  check_slices(slices);
  check_options(slices, options);
  const Slices in_slices(slices.starts, slices.labels.size());
  const ClusterOrder order = order_by_cluster(slices.labels, &in_slices, cancel);
  const std::vector<std::uint32_t> first(order.slices.begin(), order.slices.end());
  Tracks found = features_of(slices, order);
  const bool by_core = options.match == TrackMatch::cores;
  tracks::LinksOfSlices links = by_core ? tracks::find_core_links(slices, options.eps, order, cancel)
                                        : tracks::find_id_links(slices, found.feature_of, cancel);

  std::vector<std::vector<SharedCore>> shared(links.size());
  std::vector<std::vector<TrackEvent>> events(links.size());
  parallel_for(links.size(), [&](std::size_t s) {
    keep_shares(links[s], found.features, options.least_share, by_core);
    shared[s] = shared_by(links[s], first[s], first[s + 1]);
    events[s] = events_of(shared[s], first, static_cast<std::uint32_t>(s + 1));
  });
  number_cells(found, links, shared, first);
  for (std::size_t s = 0; s < links.size(); ++s) {
    found.links.insert(found.links.end(), links[s].begin(), links[s].end());
    std::move(events[s].begin(), events[s].end(), std::back_inserter(found.events));
  }
  number_tracks(found);
  return found;
}

}  // namespace epsflow

#include <epsflow/tracks/tracks.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/tracks/core_links.hpp>
#include <epsflow/tracks/feature_rows.hpp>
#include <epsflow/tracks/id_links.hpp>

namespace epsflow {
namespace {

constexpr std::uint32_t kNone = Tracks::kNoFeature;

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

std::uint64_t shared(const FeatureLink& link) { return std::uint64_t{link.from_points} + link.to_points; }

/// Chooses the links between two slices along which cells continue. before, goes_on: [features] the feature that each
/// one continues, and whether it is continued. Entries of features outside these two slices are not touched.
void continue_cells(std::vector<FeatureLink>& links, std::vector<std::uint32_t>& before,
                    std::vector<std::uint8_t>& goes_on) {
  std::vector<std::uint32_t> order(links.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  // Links are sorted by from and to, so a stable sort resolves ties as the rule demands.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return shared(links[a]) > shared(links[b]); });
  for (const std::uint32_t i : order) {
    FeatureLink& link = links[i];
    if (goes_on[link.from] != 0 || before[link.to] != kNone) continue;
    goes_on[link.from] = 1;
    before[link.to] = link.from;
    link.same_cell = true;
  }
}

void number_cells(Tracks& found, const std::vector<std::uint32_t>& before) {
  for (std::size_t f = 0; f < found.features.size(); ++f) {
    found.features[f].cell = before[f] == kNone ? ++found.cells : found.features[before[f]].cell;
  }
}

/// Disjoint sets. The smallest feature of each set represents it.
class Sets {
 public:
  explicit Sets(std::size_t n) : parent_(n) {
    for (std::uint32_t i = 0; i < n; ++i) parent_[i] = i;
  }
  std::uint32_t find(std::uint32_t i) noexcept {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void unite(std::uint32_t a, std::uint32_t b) noexcept {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

void number_tracks(Tracks& found) {
  Sets sets(found.features.size());
  for (const FeatureLink& link : found.links) sets.unite(link.from, link.to);
  for (std::uint32_t f = 0; f < found.features.size(); ++f) {
    const std::uint32_t first = sets.find(f);
    found.features[f].track = first == f ? ++found.tracks : found.features[first].track;
  }
}

/// Appends the events between slice − 1 and slice. links: the links between the two, sorted by from and then by to.
/// first: [slices + 1] the first feature of each slice.
void add_events(const std::vector<FeatureLink>& links, const std::vector<std::uint32_t>& first, std::uint32_t slice,
                std::vector<TrackEvent>& events) {
  std::vector<std::vector<std::uint32_t>> after(first[slice] - first[slice - 1]);
  std::vector<std::vector<std::uint32_t>> before(first[slice + 1] - first[slice]);
  for (const FeatureLink& link : links) {
    after[link.from - first[slice - 1]].push_back(link.to);
    before[link.to - first[slice]].push_back(link.from);
  }
  const auto at_after = [&](TrackEventKind kind, auto&& is_such) {
    for (std::uint32_t i = 0; i < before.size(); ++i) {
      if (is_such(before[i])) events.push_back({kind, slice, before[i], {first[slice] + i}});
    }
  };
  const auto at_before = [&](TrackEventKind kind, auto&& is_such) {
    for (std::uint32_t i = 0; i < after.size(); ++i) {
      if (is_such(after[i])) events.push_back({kind, slice, {first[slice - 1] + i}, after[i]});
    }
  };
  using List = std::vector<std::uint32_t>;
  at_after(TrackEventKind::birth, [](const List& linked) { return linked.empty(); });
  at_before(TrackEventKind::continuation, [&](const List& linked) {
    return linked.size() == 1 && before[linked.front() - first[slice]].size() == 1;
  });
  at_after(TrackEventKind::merge, [](const List& linked) { return linked.size() > 1; });
  at_before(TrackEventKind::split, [](const List& linked) { return linked.size() > 1; });
  at_before(TrackEventKind::death, [](const List& linked) { return linked.empty(); });
}

}  // namespace

Tracks find_tracks(const SlicedLabels& slices, const TrackOptions& options, const CancelToken& cancel) {
  tracks::check_slices(slices);
  check_options(slices, options);
  Tracks found;
  const tracks::FeatureRows rows = tracks::find_features(slices, found, cancel);
  const bool by_core = options.match == TrackMatch::cores;
  auto links = by_core ? tracks::find_core_links(slices, options.eps, found, rows, cancel)
                       : tracks::find_id_links(slices, found, cancel);

  std::vector<std::uint32_t> before(found.features.size(), kNone);
  std::vector<std::uint8_t> goes_on(found.features.size(), 0);
  std::vector<std::vector<TrackEvent>> events(links.size());
  parallel_for(links.size(), [&](std::size_t s) {
    keep_shares(links[s], found.features, options.least_share, by_core);
    continue_cells(links[s], before, goes_on);
    add_events(links[s], rows.first_feature, static_cast<std::uint32_t>(s + 1), events[s]);
  });
  for (std::size_t s = 0; s < links.size(); ++s) {
    found.links.insert(found.links.end(), links[s].begin(), links[s].end());
    std::move(events[s].begin(), events[s].end(), std::back_inserter(found.events));
  }
  number_cells(found, before);
  number_tracks(found);
  return found;
}

}  // namespace epsflow

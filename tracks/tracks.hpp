// Clusters of slices that follow each other, such as maps of one place at one time after the other: which cluster goes on as which, where
// some merge or split, where one begins or ends.
//
// The words are those of tobac (Heikenfeld et al. 2019, Sokolowsky et al. 2024). A cluster of one slice is a feature. A cell is a chain of
// features, at most one for each slice. A track is all cells that are connected by merges and splits.
//
// The rules:
//   Link   Two features of slices that follow each other are linked if they share something. Matching by ids, this is an id that is in
//          both. Matching by core points, it is a core point of one that is within eps of a core point of the other, by the metric, and
//          by the same rule as in a clustering (core/space.hpp). A slice between two others is never passed over: where a cluster is
//          missing in one slice, it ends there, and one that is in its place later is new.
//   Share  What two features share is from_points + to_points of their link. The share of a feature is the part of it that is shared: of its ids,
//          or of its core points. The share of a link is the larger of the two, so that what merges into something larger, or splits
//          from it, counts in full. Links with less than TrackOptions::least_share are no links.
//   Cell   Of the links between two slices the one that shares most goes first, then that of the lower feature before, then that of the
//          lower feature after. A cell goes on along a link if neither of its features goes on along another one yet.
//   Track  Features that are connected by links, over any number of slices.
// All numbers follow from the order of the features, which is that of slices and then of labels. So whatever the number of threads is, the
// result is the same.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/choices.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// What two features have in common.
enum class TrackMatch : std::uint8_t { cores, ids };
template <>
struct Choice<TrackMatch> {
  static constexpr std::string_view kType = "TrackMatch";
  static constexpr std::array kWords{Word{"cores", TrackMatch::cores}, Word{"ids", TrackMatch::ids}};
};

/// Labelled points of slices, those of the first slice first. It owns nothing. [host]
struct SlicedLabels {
  /// [slices + 1] ascending: the first row of each slice, and n. Equal ones have a slice without points between them.
  std::span<const std::uint64_t> starts;
  /// [n] the cluster of each point in its slice, or kNoise. Labels of one slice have nothing to do with those of another.
  std::span<const std::int32_t> labels;
  /// [n] other than 0 for core points: to match by them.
  std::span<const std::uint8_t> core = {};
  /// [n × d] in the unit of the metric: to match by core points, and for mean positions.
  PointsView points = {};
  Metric metric = {};
  /// [n] what a point is, such as the number of its pixel: to match by ids. Those of the clusters of one slice differ.
  std::span<const std::int64_t> ids = {};
};

struct TrackOptions {
  TrackMatch match = TrackMatch::cores;
  /// Matching by core points: in the unit of the metric's eps.
  double eps = 0;
  /// The least share of a link, from 0 (any) to 1.
  double least_share = 0;
};

/// A cluster of one slice. They are in order of slices, then of labels.
struct Feature {
  std::uint32_t slice = 0;
  std::int32_t label = 0;
  std::uint32_t place = 0;   ///< among the features of its slice, from 0
  std::uint32_t points = 0;  ///< core and border
  std::uint32_t core = 0;    ///< core points; 0 where core was not given
  std::uint32_t cell = 0;    ///< from 1, by the first feature of each
  std::uint32_t track = 0;   ///< from 1, by the first feature of each

  friend bool operator==(const Feature&, const Feature&) = default;
};

/// Two features that share something: places in Tracks::features, in slices that follow each other.
struct FeatureLink {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  /// By ids: the number of ids in both. By core points: those of `from` that are near `to`, and those of `to` that are near `from`.
  std::uint32_t from_points = 0;
  std::uint32_t to_points = 0;
  bool same_cell = false;  ///< the cell goes on along this link

  friend bool operator==(const FeatureLink&, const FeatureLink&) = default;
};

/// What happens between a slice and the one before it. Nothing is known of what was before the first slice or is after the last, so
/// nothing is born in the first and nothing dies after the last.
enum class TrackEventKind : std::uint8_t {
  birth,         ///< a feature after that is linked to none before
  continuation,  ///< two features that are linked to each other and to no other
  merge,         ///< a feature after that is linked to several before
  split,         ///< a feature before that is linked to several after
  death,         ///< a feature before that is linked to none after
};
template <>
struct Choice<TrackEventKind> {
  static constexpr std::string_view kType = "TrackEventKind";
  static constexpr std::array kWords{
      Word{"birth", TrackEventKind::birth}, Word{"continuation", TrackEventKind::continuation},
      Word{"merge", TrackEventKind::merge}, Word{"split", TrackEventKind::split}, Word{"death", TrackEventKind::death}};
};

struct TrackEvent {
  TrackEventKind kind = TrackEventKind::birth;
  std::uint32_t slice = 0;              ///< the later one of the two
  std::vector<std::uint32_t> before{};  ///< places in Tracks::features, ascending
  std::vector<std::uint32_t> after{};

  friend bool operator==(const TrackEvent&, const TrackEvent&) = default;
};

struct Tracks {
  std::vector<Feature> features;
  std::vector<FeatureLink> links;  ///< by from, then by to
  /// By slice, then by kind, then by feature: births and merges by the one after, others by the one before.
  std::vector<TrackEvent> events;
  std::uint32_t slices = 0;
  std::uint32_t cells = 0;
  std::uint32_t tracks = 0;
  /// [n] the feature of each point, a place in features, or kNoFeature.
  std::vector<std::uint32_t> feature_of;

  static constexpr std::uint32_t kNoFeature = ~std::uint32_t{0};
};

/// O(n) and a sort of the ids, or of the core points into cells, for each pair of slices. Several pairs at a time, in parallel, on the
/// threads of the calling arena. Takes 8 bytes for each point, beside what the slices that are worked on take.
/// Throws UsageError for sizes that differ, starts that do not ascend, labels below kNoise, options that are out of range, and a metric
/// that does not fit; InputError for core points that are noise, ids that are twice among the clusters of a slice, and points that the metric does not take;
/// Cancelled.
[[nodiscard]] Tracks find_tracks(const SlicedLabels& slices, const TrackOptions& options,
                                 const CancelToken& cancel = {});

}  // namespace epsflow

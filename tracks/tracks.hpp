// Tracks: how clusters continue, merge, split, begin and end across consecutive slices, such as successive maps.
//
// The terms come from tobac (Heikenfeld et al. 2019, Sokolowsky et al. 2024). A feature is a cluster of one slice. A
// cell is a chain of features, at most one in each slice. A track is all cells that are connected by merges and splits.
//
// The rules:
//   Link   Two features of consecutive slices are linked if they share something. Matching by ids, they share the ids
//          that both have. Matching by core points, they share the core points of one that are within eps of a core
//          point of the other, by the metric and by the same rule as in a clustering (core/space.hpp). No slice is
//          skipped: a cluster that is missing in one slice ends there, and one at its position in a later slice is new.
//   Share  Two features share from_points + to_points of their link. The share of a feature is the fraction of its ids
//          or core points that is shared. The share of a link is the larger of the two, so that a feature that merges
//          into a larger one, or splits from it, counts in full. Links below TrackOptions::least_share are dropped.
//   Cell   A cell continues from slice to slice as a cluster of a window does (clustering/cluster_matching.hpp): of the
//          later features that share something with an earlier one, only the one that shares most may continue its
//          cell, of several the first. A feature that may continue several cells continues the one that it shares most
//          with, of several the one with the smallest number.
//   Track  A track is all features that are connected by links, over any number of slices.
// All numbers follow from the order of the features: by slice, then by label. So the result does not depend on the
// number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/choices.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// The property by which features are linked.
enum class TrackMatch : std::uint8_t { cores, ids };
template <>
struct Choice<TrackMatch> {
  static constexpr std::string_view kType = "TrackMatch";
  static constexpr std::array kWords{Word{"cores", TrackMatch::cores}, Word{"ids", TrackMatch::ids}};
};

/// Labelled points of slices, ordered by slice. It is a view and owns nothing. [host]
struct SlicedLabels {
  /// [slices + 1] ascending: the first row of each slice, then n. Two equal entries mean a slice without points.
  std::span<const std::uint64_t> starts;
  /// [n] the cluster of each point in its slice, or kNoise. The labels of different slices are unrelated.
  std::span<const std::int32_t> labels;
  /// [n] nonzero for core points. Required to match by core points.
  std::span<const std::uint8_t> core = {};
  /// [n × d] in the unit of the metric. Required to match by core points, and for mean positions.
  PointsView points = {};
  Metric metric = {};
  /// [n] the id of each point, such as its pixel. Required to match by ids. All ids in the clusters of a slice differ.
  std::span<const std::int64_t> ids = {};
};

struct TrackOptions {
  TrackMatch match = TrackMatch::cores;
  /// The largest distance of linked core points, in the unit of the metric's eps. Used to match by core points.
  double eps = 0;
  /// The smallest share of a link, from 0 (any) to 1.
  double least_share = 0;
};

/// A cluster of one slice. Features are sorted by slice, then by label.
struct Feature {
  std::uint32_t slice = 0;
  std::int32_t label = 0;
  std::uint32_t index = 0;   ///< its index among the features of its slice, from 0
  std::uint32_t points = 0;  ///< the number of core and border points
  std::uint32_t core = 0;    ///< the number of core points; 0 if SlicedLabels::core is empty
  std::uint32_t cell = 0;    ///< from 1, in the order of first features
  std::uint32_t track = 0;   ///< from 1, in the order of first features

  friend bool operator==(const Feature&, const Feature&) = default;
};

/// Two features that share something: indices in Tracks::features, of consecutive slices.
struct FeatureLink {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  /// By ids: the number of ids in both. By core points: the core points of `from` near `to`, and the reverse.
  std::uint32_t from_points = 0;
  std::uint32_t to_points = 0;
  bool same_cell = false;  ///< whether the cell continues along this link

  friend bool operator==(const FeatureLink&, const FeatureLink&) = default;
};

/// The change between a slice and the one before it. So features of the first slice have no birth, and features of the
/// last slice no death.
enum class TrackEventKind : std::uint8_t {
  birth,         ///< a later feature without a link to the earlier slice
  continuation,  ///< two features that are linked to each other and to no other
  merge,         ///< a later feature that is linked to several earlier ones
  split,         ///< an earlier feature that is linked to several later ones
  death,         ///< an earlier feature without a link to the later slice
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
  std::uint32_t slice = 0;              ///< the later of the two slices
  std::vector<std::uint32_t> before{};  ///< features of the earlier slice: indices in Tracks::features, ascending
  std::vector<std::uint32_t> after{};   ///< features of the later slice, in the same form

  friend bool operator==(const TrackEvent&, const TrackEvent&) = default;
};

struct Tracks {
  std::vector<Feature> features;
  std::vector<FeatureLink> links;  ///< by from, then by to
  /// Sorted by slice, then by kind, then by feature: the later one for births and merges, otherwise the earlier one.
  std::vector<TrackEvent> events;
  std::uint32_t slices = 0;
  std::uint32_t cells = 0;
  std::uint32_t tracks = 0;
  /// [n] the feature of each point, an index in `features`, or kNoFeature.
  std::vector<std::uint32_t> feature_of;

  static constexpr std::uint32_t kNoFeature = ~std::uint32_t{0};
};

/// Returns the tracks. O(n), and for each pair of slices a sort of the ids, or of the core points into cells. Several
/// pairs are processed in parallel on the threads of the calling arena. Memory: 8 bytes per point, and the working
/// memory of the slices in progress. Throws UsageError if sizes differ, starts are not ascending, a label is below
/// kNoise, an option is out of range, an array that TrackOptions::match requires is missing, or the metric
/// does not fit; InputError if a core point is noise; by ids, if an id is twice among the clusters of a slice; by core
/// points, if a point is not finite or outside the periodic box, or the metric does not accept a core point; Cancelled.
[[nodiscard]] Tracks find_tracks(const SlicedLabels& slices, const TrackOptions& options,
                                 const CancelToken& cancel = {});

}  // namespace epsflow

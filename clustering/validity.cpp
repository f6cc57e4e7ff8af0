#include <epsflow/clustering/validity.hpp>

#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include <epsflow/clustering/inner_points.hpp>
#include <epsflow/clustering/separations.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/core/scatter.hpp>

namespace epsflow {
namespace {

void check(PointsView points, std::span<const std::int32_t> labels, const ValidityOptions& options) {
  if (points.size() != labels.size()) {
    throw UsageError("there are " + std::to_string(points.size()) + " points and " + std::to_string(labels.size()) +
                     " labels: give one for each");
  }
  if (options.sample < 2 || options.samples < 2) {
    throw UsageError("a sample has at least 2 points, and an error needs at least 2 samples");
  }
  parallel_ranges(points.size(), 1 << 13,
                  [&](std::size_t begin, std::size_t end) { require_finite(points, begin, end); });
}

/// The ids of a cluster, sorted by the coordinates of the points.
struct ClusterIds {
  std::int32_t label = 0;
  std::vector<std::uint32_t> ids;
};

/// Returns the clusters by label. Throws UsageError.
std::vector<ClusterIds> clusters_of(PointsView points, std::span<const std::int32_t> labels) {
  std::vector<std::uint64_t> clustered;  // label of each point, above its id in the low bits
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < kNoise) {
      throw UsageError("point " + std::to_string(i) + " has the label " + std::to_string(labels[i]) +
                       ", and labels are clusters from 0 on or -1 for noise");
    }
    if (labels[i] == kNoise) continue;
    clustered.push_back(static_cast<std::uint64_t>(labels[i]) << 32 | static_cast<std::uint32_t>(i));
  }
  parallel_sort(clustered);
  std::vector<ClusterIds> clusters;
  for (const std::uint64_t both : clustered) {
    const auto label = static_cast<std::int32_t>(both >> 32);
    if (clusters.empty() || clusters.back().label != label) clusters.push_back({label, {}});
    clusters.back().ids.push_back(static_cast<std::uint32_t>(both));
  }
  parallel_for(clusters.size(), [&](std::size_t c) {
    std::sort(clusters[c].ids.begin(), clusters[c].ids.end(), [&](std::uint32_t a, std::uint32_t b) {
      for (std::size_t k = 0; k < points.dims(); ++k) {
        if (points.at(a, k) != points.at(b, k)) return points.at(a, k) < points.at(b, k);
      }
      return false;
    });
  });
  return clusters;
}

/// The part of a cluster that is processed: all of it, or the sample of one round.
struct ValidityPiece {
  std::uint32_t cluster;  // index in the list of clusters
  std::size_t begin;      // index in the list of its ids
  std::size_t end;
  std::size_t round;
  bool whole;
};

/// Moves `count` random ids to the front.
void draw(std::span<std::uint32_t> ids, std::size_t count) {
  Scattered numbers;
  for (std::size_t i = 0; i < count; ++i) std::swap(ids[i], ids[i + numbers.next() % (ids.size() - i)]);
}

/// Returns the pieces of clusters with at least two points. Reorders the ids of clusters that are sampled.
std::vector<ValidityPiece> pieces_of(std::vector<ClusterIds>& clusters, const ValidityOptions& options) {
  std::vector<ValidityPiece> pieces;
  for (std::uint32_t c = 0; c < clusters.size(); ++c) {
    const std::size_t size = clusters[c].ids.size();
    if (size < 2) continue;
    if (size <= options.samples * options.sample) {
      pieces.push_back({c, 0, size, 0, true});
      continue;
    }
    draw(clusters[c].ids, options.samples * options.sample);
    for (std::size_t s = 0; s < options.samples; ++s) {
      pieces.push_back({c, s * options.sample, (s + 1) * options.sample, s, false});
    }
  }
  return pieces;
}

template <class Real>
std::vector<InnerPoints<Real>> inner_points_of(PointsView points, std::span<const ClusterIds> clusters,
                                               std::span<const ValidityPiece> pieces, const CancelToken& cancel) {
  std::vector<std::size_t> most_work_first(pieces.size());
  std::iota(most_work_first.begin(), most_work_first.end(), std::size_t{0});
  const auto work = [&](std::size_t i) {
    return (pieces[i].end - pieces[i].begin) * clusters[pieces[i].cluster].ids.size();
  };
  std::stable_sort(most_work_first.begin(), most_work_first.end(), [&](auto a, auto b) { return work(a) > work(b); });
  std::vector<InnerPoints<Real>> inner(pieces.size());
  parallel_tasks(pieces.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t i = most_work_first[k];
      const ValidityPiece& piece = pieces[i];
      // A thread that waits for a part of its cluster must not start another cluster.
      tbb::this_task_arena::isolate(
          [&] { inner[i] = inner_points<Real>(points, clusters[piece.cluster].ids, piece.begin, piece.end, cancel); });
    }
  });
  return inner;
}

std::pair<double, double> mean_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() == 1) return {mean, 0};
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return {mean, std::sqrt(sum / (n * (n - 1)))};
}

/// Returns true if float64 holds squares of differences, and of core distances, up to 2^32 times as large.
bool squares_fit(PointsView points, std::span<const ClusterIds> clusters) {
  constexpr double kLeast = 0x1p-440, kMost = 0x1p440;
  for (const ClusterIds& cluster : clusters) {
    if (cluster.ids.size() < 2) continue;
    for (const std::uint32_t i : cluster.ids) {
      for (std::size_t k = 0; k < points.dims(); ++k) {
        const double x = std::abs(points.at(i, k));
        if (x != 0 && !(x > kLeast && x < kMost)) return false;
      }
    }
  }
  return true;
}

template <class Real>
Validity judged(PointsView points, std::vector<ClusterIds>& clusters, const ValidityOptions& options,
                const CancelToken& cancel) {
  const std::vector<ValidityPiece> pieces = pieces_of(clusters, options);
  const std::vector<InnerPoints<Real>> inner = inner_points_of<Real>(points, clusters, pieces, cancel);
  std::size_t rounds = 1;
  for (const ValidityPiece& piece : pieces) rounds = std::max(rounds, piece.round + 1);

  Validity found;
  found.clusters.resize(clusters.size());
  std::vector<std::vector<double>> scores(clusters.size());
  std::vector<double> totals(rounds);
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<const InnerPoints<Real>*> parts;
    std::vector<std::uint32_t> of;  // cluster of each part
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (!pieces[i].whole && pieces[i].round != round) continue;
      parts.push_back(&inner[i]);
      of.push_back(pieces[i].cluster);
    }
    const std::vector<double> separation = separations<Real>(parts, points.dims(), cancel);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      ClusterValidity& cluster = found.clusters[of[i]];
      const Real sparseness = parts[i]->sparseness;
      const Real apart = separation[i];
      // NaN if there is no other cluster: the separation is infinite.
      const auto score = static_cast<double>((apart - sparseness) / std::max(apart, sparseness));
      scores[of[i]].push_back(score);
      totals[round] += static_cast<double>(clusters[of[i]].ids.size()) / static_cast<double>(points.size()) * score;
      cluster.sparseness += static_cast<double>(sparseness) / static_cast<double>(rounds);
      cluster.separation += separation[i] / static_cast<double>(rounds);
    }
  }
  std::tie(found.score, found.error) = mean_of(totals);
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    ClusterValidity& cluster = found.clusters[c];
    cluster.cluster = clusters[c].label;
    cluster.points = clusters[c].ids.size();
    if (scores[c].empty()) {
      cluster.score = cluster.sparseness = cluster.separation = std::numeric_limits<double>::quiet_NaN();
    } else {
      std::tie(cluster.score, cluster.error) = mean_of(scores[c]);
    }
  }
  return found;
}

}  // namespace

Validity validity(PointsView points, std::span<const std::int32_t> labels, const ValidityOptions& options,
                  const CancelToken& cancel) {
  check(points, labels, options);
  std::vector<ClusterIds> clusters = clusters_of(points, labels);
  return squares_fit(points, clusters) ? judged<double>(points, clusters, options, cancel)
                                       : judged<long double>(points, clusters, options, cancel);
}

}  // namespace epsflow

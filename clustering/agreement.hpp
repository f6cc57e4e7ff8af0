// Agreement of two labellings of the same points, and the fate of each cluster of one in the other.
//
// Sources: Hubert & Arabie 1985 for the adjusted Rand index; Meilă 2007 for the variation of information.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace epsflow {

/// The number of points in cluster `a` of one labelling and cluster `b` of the other. kNoise means no cluster.
struct Overlap {
  std::int32_t a = 0;
  std::int32_t b = 0;
  std::uint64_t points = 0;

  friend bool operator==(const Overlap&, const Overlap&) = default;
};

/// The number of points of one cluster, or of noise if the label is kNoise.
struct LabelCount {
  std::int32_t label = 0;
  std::uint64_t points = 0;

  friend bool operator==(const LabelCount&, const LabelCount&) = default;
};

/// The contingency table of two labellings, a and b, without its zeros. Noise is a separate class.
class Contingency {
 public:
  Contingency() = default;
  /// a, b: [n] each, clusters from 0 on or kNoise. In parallel: O(n) and a sort of the overlaps; overlaps are stored
  /// once per thread. Throws UsageError if sizes differ, a label is below kNoise, or points exceed kMaxPoints.
  Contingency(std::span<const std::int32_t> a, std::span<const std::int32_t> b);
  /// Makes the table from overlaps in any order. Overlaps of equal labels are summed, and overlaps without points are
  /// ignored. O(overlaps · log overlaps). Throws UsageError if a label is below kNoise or there are more than
  /// kMaxPoints points.
  explicit Contingency(std::vector<Overlap> overlaps);

  [[nodiscard]] std::uint64_t points() const noexcept { return points_; }
  /// Returns the non-empty overlaps, by a, then by b.
  [[nodiscard]] std::span<const Overlap> overlaps() const noexcept { return overlaps_; }
  /// Returns the sizes of the classes of a, by ascending label; noise comes first if there is any. b() does so for b.
  [[nodiscard]] std::span<const LabelCount> a() const noexcept { return a_; }
  [[nodiscard]] std::span<const LabelCount> b() const noexcept { return b_; }

  /// Returns the table with a and b exchanged. O(overlaps · log overlaps).
  [[nodiscard]] Contingency swapped() const;

 private:
  std::uint64_t points_ = 0;
  std::vector<Overlap> overlaps_;
  std::vector<LabelCount> a_;
  std::vector<LabelCount> b_;
};

struct Agreement {
  /// Adjusted Rand index: 1 for equal partitions, around 0 for independent ones. Noise is a class. Equal to
  /// scikit-learn's adjusted_rand_score(), including its convention of 1 if no two points are separated by one
  /// labelling and not by the other, as with fewer than two points.
  double adjusted_rand = 1;
  /// Variation of information, in nats: 0 for equal partitions, at most ln n. Noise is a class.
  double variation = 0;
  /// Variation of information divided by ln n, from 0 to 1; 0 for fewer than two points.
  double normalised_variation = 0;
  /// The share of the points in clusters of a that stay together: for each cluster of a, its points in the cluster of b
  /// that holds most of them. Points that are noise in b count as not kept. 1 if a has no clusters.
  double kept = 1;
  /// The same share for clusters of b in a.
  double kept_back = 1;
};

/// Returns the agreement of two labellings. Pairs are summed exactly, in integers of 128 bits. O(overlaps · log
/// overlaps).
[[nodiscard]] Agreement agreement(const Contingency& contingency);

struct Fate {
  std::int32_t cluster = 0;          ///< kNoise: the points of a without a cluster
  std::uint64_t points = 0;          ///< the number of its points
  std::uint64_t noise = 0;           ///< the number of its points that are noise in b
  std::vector<LabelCount> became{};  ///< the clusters of b with its other points: most points first, then by label
};

/// Returns the fate of each cluster of a, by label; the noise of a comes first if there is any. O(overlaps · log
/// overlaps).
[[nodiscard]] std::vector<Fate> fates(const Contingency& contingency);

}  // namespace epsflow

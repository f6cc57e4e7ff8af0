// How far two labellings of the same points agree, and what became of the clusters of one in the other.
//
// Sources: Hubert & Arabie 1985 for the adjusted Rand index; Meilă 2007 for the variation of information.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace epsflow {

/// Points that are in cluster `a` of one labelling and in cluster `b` of another. kNoise stands for those in none.
struct Overlap {
  std::int32_t a = 0;
  std::int32_t b = 0;
  std::uint64_t points = 0;

  friend bool operator==(const Overlap&, const Overlap&) = default;
};

/// The points of one cluster, or with the label kNoise of none.
struct LabelCount {
  std::int32_t label = 0;
  std::uint64_t points = 0;

  friend bool operator==(const LabelCount&, const LabelCount&) = default;
};

/// The contingency table of two labellings, a and b, without its zeros. Noise is a class of its own.
class Contingency {
 public:
  /// Of no points.
  Contingency() = default;
  /// a, b: [n] each, clusters from 0 on or kNoise. In parallel: O(n) and a sort of the overlaps; memory for the overlaps once for each
  /// thread. Throws UsageError where sizes differ, for a label below kNoise, and for more than kMaxPoints points.
  Contingency(std::span<const std::int32_t> a, std::span<const std::int32_t> b);
  /// Of overlaps that are known, in any order; those of equal labels are added up. O(overlaps · log). Throws UsageError for a label
  /// below kNoise and for more than kMaxPoints points.
  explicit Contingency(std::vector<Overlap> overlaps);

  [[nodiscard]] std::uint64_t points() const noexcept { return points_; }
  /// By a, then by b. None is empty.
  [[nodiscard]] std::span<const Overlap> overlaps() const noexcept { return overlaps_; }
  /// By label, noise first where there is some.
  [[nodiscard]] std::span<const LabelCount> a() const noexcept { return a_; }
  [[nodiscard]] std::span<const LabelCount> b() const noexcept { return b_; }

  /// The same with a and b exchanged. O(overlaps · log).
  [[nodiscard]] Contingency swapped() const;

 private:
  std::uint64_t points_ = 0;
  std::vector<Overlap> overlaps_;
  std::vector<LabelCount> a_;
  std::vector<LabelCount> b_;
};

/// Indices of agreement.
struct Agreement {
  /// Adjusted Rand index: 1 for equal partitions, around 0 for independent ones. Noise is a class. What scikit-learn's
  /// adjusted_rand_score() gives, also where it is a matter of definition: 1 where no two points are parted by one labelling and not by
  /// the other, as with fewer than two points.
  double adjusted_rand = 1;
  /// Variation of information, in nats: 0 for equal partitions, at most ln n. Noise is a class.
  double variation = 0;
  /// The same divided by ln n, from 0 to 1; 0 for fewer than two points.
  double normalised_variation = 0;
  /// Who keeps company: of the points that are in clusters of a, the share that is in the cluster of b that holds most of their cluster
  /// of a. Points that are noise in b keep none. 1 where a has no clusters.
  double kept = 1;
  /// The same of the clusters of b in a.
  double kept_back = 1;
};

/// Sums of pairs are whole numbers of 128 bits, and exact. O(overlaps · log).
[[nodiscard]] Agreement agreement(const Contingency& contingency);

/// What became of a cluster of a.
struct Fate {
  std::int32_t cluster = 0;          ///< kNoise: of the points that are in none
  std::uint64_t points = 0;          ///< its size
  std::uint64_t noise = 0;           ///< its points that are noise in b
  std::vector<LabelCount> became{};  ///< the clusters of b that have the others: most points first, then by label
};

/// Of each cluster of a, by label, and of its noise, which comes first where there is some. O(overlaps · log).
[[nodiscard]] std::vector<Fate> fates(const Contingency& contingency);

}  // namespace epsflow

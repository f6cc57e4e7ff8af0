// Finds which clusters of a later clustering continue clusters of an earlier one, by the core points that both share.
//
// The rule. Of the later clusters that share core points with an earlier one, only the one that shares most may
// continue it; of several, the first, which in a numbering by the smallest core point is the one with the oldest core
// point. A later cluster that may continue several earlier ones continues the one that it shares most with; of several,
// the one with the smallest id. So the result depends on the shared core points and the ids alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/choices.hpp>

namespace epsflow {

/// The core points that an earlier and a later cluster, given by their indices, have in common.
struct SharedCore {
  std::uint32_t before = 0;
  std::uint32_t after = 0;
  std::uint64_t points = 0;  ///< at least 1

  friend bool operator==(const SharedCore&, const SharedCore&) = default;
};

/// Counts the core points that clusters share. Most earlier clusters share core points with one later cluster only.
class SharedCoreCounter {
 public:
  /// earlier: the number of earlier clusters.
  explicit SharedCoreCounter(std::size_t earlier) : first_(earlier) {}

  void add(std::uint32_t before, std::uint32_t after, std::uint64_t points) {
    SharedCore& pair = first_[before];
    if (pair.points == 0) pair = {before, after, 0};
    if (pair.after == after) {
      pair.points += points;
    } else {
      more_.push_back({before, after, points});
    }
  }

  /// Returns all pairs, sorted by `before` and then by `after`.
  [[nodiscard]] std::vector<SharedCore> take() &&;

 private:
  std::vector<SharedCore> first_;  ///< for each earlier cluster the pair that was added first
  std::vector<SharedCore> more_;
};

/// Stands for no cluster in place of an index.
inline constexpr std::uint32_t kNoCluster = ~std::uint32_t{0};

/// Returns, for each of the later clusters, the earlier one that it continues, or kNoCluster. shared: sorted by
/// `before` and then by `after`, each pair once. ids: [earlier clusters] the id of each, by which the rule above
/// decides ties. later: their number. O(shared + later).
[[nodiscard]] std::vector<std::uint32_t> continued_clusters(std::span<const SharedCore> shared,
                                                            std::span<const std::uint64_t> ids, std::size_t later);

/// A change between two clusterings that follow each other. A cluster may take part in several changes: a pair of
/// clusters may belong to one that merged and to one that split.
enum class ClusterChange : std::uint8_t {
  born,       ///< a later cluster that shares core points with no earlier one
  continued,  ///< an earlier and a later cluster that share core points with each other and with no other
  merged,     ///< a later cluster that shares core points with several earlier ones
  split,      ///< an earlier cluster that shares core points with several later ones
  ended,      ///< an earlier cluster that shares core points with no later one
};
template <>
struct Choice<ClusterChange> {
  static constexpr std::string_view kType = "ClusterChange";
  static constexpr std::array kWords{Word{"born", ClusterChange::born}, Word{"continued", ClusterChange::continued},
                                     Word{"merged", ClusterChange::merged}, Word{"split", ClusterChange::split},
                                     Word{"ended", ClusterChange::ended}};
};

/// The changes of two clusterings, sorted by kind, then by cluster: the later one if born or merged, else the earlier.
class ClusterChanges {
 public:
  /// The clusters of a change, by their indices, ascending.
  struct Change {
    ClusterChange kind;
    std::span<const std::uint32_t> before;
    std::span<const std::uint32_t> after;
  };

  ClusterChanges() = default;
  /// shared: as in continued_clusters(). earlier, later: numbers of clusters. O(shared log shared + clusters).
  ClusterChanges(std::span<const SharedCore> shared, std::size_t earlier, std::size_t later) {
    assign(shared, earlier, later);
  }
  /// Replaces the changes, and reuses their memory.
  void assign(std::span<const SharedCore> shared, std::size_t earlier, std::size_t later);

  [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] Change operator[](std::size_t i) const noexcept;

 private:
  struct Row {
    ClusterChange kind;
    std::size_t first;  ///< index in members_ of its clusters: the earlier ones, then the later ones
    std::uint32_t before;
    std::uint32_t after;
  };
  std::vector<Row> rows_;
  std::vector<std::uint32_t> members_;
};

}  // namespace epsflow

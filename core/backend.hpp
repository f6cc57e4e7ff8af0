// What a neighbour search must offer to the flow. The CPU's is in index/; another device's goes into a folder of its
// own.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/neighbor_table.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// What the search of a csr batch gives: whole rows in order, or the paper's pairs in any order, which are then sorted.
enum class Emit : std::uint8_t { rows, pairs };

/// A share of the query points whose rows are produced together.
struct Batch {
  Run rows;
  std::uint64_t expected_pairs = 0;
};

/// How the work of one eps is cut up.
struct BatchPlan {
  std::vector<Batch> batches;
  std::uint64_t estimated_pairs = 0;  ///< csr: from the sample; packed: 0
  std::uint64_t lane_pairs = 0;       ///< csr: pairs that a lane's buffer holds; packed: 0
};

/// One (row, neighbour) of the pair-emitting search; sorting the numbers sorts by row, then by neighbour.
using Pair = std::uint64_t;
[[nodiscard]] constexpr Pair make_pair(std::uint32_t row, std::uint32_t neighbor) noexcept {
  return (Pair{row} << 32) | neighbor;
}

/// A token of the flow: one stream of work with its buffers, used by one batch at a time.
struct Lane {
  Lane() = default;
  Lane(const Lane&) = delete;  // buffers are bound to the lane
  Lane& operator=(const Lane&) = delete;
  virtual ~Lane() = default;

  /// Sorts `pairs` where they lie and leaves them as rows: `counts` and `ids`.
  virtual void sort_pairs() = 0;

  // What the last search left behind, valid until the next. Empty for packed tables, whose rows land in the table
  // itself.
  Run rows;
  std::span<const std::uint32_t> counts;  ///< csr rows: neighbours per row of the batch
  std::span<const std::uint32_t> ids;     ///< csr rows: neighbours, row after row
  std::span<Pair> pairs;                  ///< csr pairs: not sorted
  bool overflow = false;                  ///< the buffer was too small: the spans are empty
  std::uint64_t needed_pairs = 0;         ///< pairs that the batch has
};

struct PlanOptions {
  TableFormat format = TableFormat::csr;
  unsigned workers = 1;          ///< lanes that work at the same time
  std::uint64_t lane_pairs = 0;  ///< forces the size of a lane's buffer; 0: the plan chooses
};

/// The index of one eps, ready to be searched. Thread-safe for calls with different lanes.
class NeighborSearch {
 public:
  /// Called exactly once per search, from any thread, with the error if it failed. Must not throw.
  using Completion = std::function<void(std::exception_ptr)>;

  NeighborSearch() = default;
  NeighborSearch(const NeighborSearch&) = delete;  // shared by address between the stages
  NeighborSearch& operator=(const NeighborSearch&) = delete;
  virtual ~NeighborSearch() = default;

  /// Input id of each position. [n]
  [[nodiscard]] virtual std::span<const std::uint32_t> order() const = 0;
  /// Bytes that the index holds.
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  /// The layout of a packed table, or null where the index has none (then the table is csr).
  [[nodiscard]] virtual std::shared_ptr<const PackedLayout> packed_layout() = 0;
  [[nodiscard]] virtual BatchPlan plan(const PlanOptions& options) = 0;
  /// Finds all neighbours of the batch's rows. Packed: writes them into `table`. Csr: leaves them in the lane. Returns
  /// at once or when done; `done` tells.
  virtual void search(const Batch& batch, Emit emit, Lane& lane, NeighborTable& table, Completion done) = 0;
};

/// A device that builds indexes and owns lanes.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;  // lanes and searches hold its address
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Lanes that keep the device busy.
  [[nodiscard]] virtual unsigned lanes() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Lane> make_lane() = 0;
  /// Index of `points` for eps. `points` must outlive it. Throws Cancelled when the token is set.
  [[nodiscard]] virtual std::unique_ptr<NeighborSearch> build_index(PointsView points, double eps,
                                                                    const CancelToken& cancel) = 0;
};

}  // namespace epsflow

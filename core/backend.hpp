// What a neighbour search must offer to the flow. The CPU's is in index/; another device's goes into a folder of its
// own.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/choices.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/neighbor_table.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// A share of the query points whose rows are produced together: every stride-th unit of [begin, end).
struct Batch {
  enum class Unit : std::uint8_t { row, cell };

  Run range;  ///< of rows, or of cells of the index
  std::uint64_t expected_pairs = 0;
  std::uint32_t stride = 1;
  Unit unit = Unit::row;

  [[nodiscard]] std::uint32_t units() const noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{range.size()} + stride - 1) / stride);
  }
};

/// How the work of one eps is cut up.
struct BatchPlan {
  std::vector<Batch> batches;
  /// Ranges of rows that cost about the same to read; they cover all rows.
  std::vector<Run> blocks;
  std::uint64_t pairs = 0;       ///< csr: of the whole table, from a sample or counted; packed: 0
  std::uint64_t lane_pairs = 0;  ///< csr: pairs that a lane's buffer holds; packed: 0
  bool counted = false;          ///< `pairs` and every batch's expected_pairs are exact
};

/// A token of the flow: one stream of work with its buffers, used by one batch at a time.
struct Lane {
  Lane() = default;
  Lane(const Lane&) = delete;  // buffers are bound to the lane
  Lane& operator=(const Lane&) = delete;
  virtual ~Lane() = default;

  /// Forgets the last batch.
  void clear() noexcept {
    rows = {};
    row_list = {};
    counts = {};
    ids = {};
    pairs = 0;
    overflow = out_of_memory = ids_in_table = false;
  }

  // What the last search or sort left behind, valid until the next.
  Run rows;                                 ///< the rows of the batch, in order,
  std::span<const std::uint32_t> row_list;  ///< or, where they do not follow each other, one by one
  std::span<const std::uint32_t> counts;    ///< neighbours per row; empty where the table has them already
  std::span<const std::uint32_t> ids;       ///< csr: neighbours, row after row
  bool ids_in_table = false;                ///< `ids` lie where NeighborTable::reserve() said
  std::uint64_t pairs = 0;                  ///< csr: pairs that the batch has
  bool overflow = false;                    ///< the lane's buffer is too small for them: split the batch
  bool out_of_memory = false;               ///< the table, or the device, has no room for them
};

struct PlanOptions {
  TableFormat format = TableFormat::csr;
  Kernel kernel = Kernel::rows;
  unsigned workers = 1;          ///< threads that will read the table; on the CPU also lanes that work at the same time
  unsigned lanes = 1;            ///< lanes that share a device's memory
  std::uint64_t lane_pairs = 0;  ///< forces the size of a lane's buffer; 0: the plan chooses
  double estimate_factor = 1;    ///< what an estimate is multiplied with: less makes batches overflow
};

/// The index of one eps, ready to be searched. Thread-safe for calls with different lanes.
class NeighborSearch {
 public:
  /// Called exactly once per search or sort, from any thread, with the error if it failed. Must not throw, and must not
  /// call the backend. A search or sort that throws instead has left nothing behind that still works on the lane.
  using Completion = std::function<void(std::exception_ptr)>;

  NeighborSearch() = default;
  NeighborSearch(const NeighborSearch&) = delete;  // shared by address between the stages
  NeighborSearch& operator=(const NeighborSearch&) = delete;
  virtual ~NeighborSearch() = default;

  /// Input id of each position. [host] [n]
  [[nodiscard]] virtual std::span<const std::uint32_t> order() const = 0;
  /// Bytes of host memory that the index holds.
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  /// The layout of a packed table, or null where the index has none (then the table is csr).
  [[nodiscard]] virtual std::shared_ptr<const PackedLayout> packed_layout() = 0;
  /// Whether a packed table is likely to be made sooner than a csr one, where there is a choice.
  [[nodiscard]] virtual bool suits_packed() const { return true; }
  /// Called once, before the first search.
  [[nodiscard]] virtual BatchPlan plan(const PlanOptions& options) = 0;
  /// The two halves of a batch that overflowed.
  [[nodiscard]] virtual std::pair<Batch, Batch> split(const Batch& batch) const = 0;
  /// Finds all neighbours of the batch's rows, with the kernel of the plan. Packed: writes them into `table`. Csr:
  /// leaves rows in the lane, or pairs, which sort_pairs() then makes rows of. Returns at once or when done; `done`
  /// tells.
  virtual void search(const Batch& batch, Lane& lane, NeighborTable& table, Completion done) = 0;
  /// Makes rows of the pairs that the last search left in the lane.
  virtual void sort_pairs(Lane& lane, NeighborTable& table, Completion done) = 0;
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
  /// Tables in flight that keep device and host busy.
  [[nodiscard]] virtual unsigned tables() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Lane> make_lane() = 0;
  /// Bytes of host memory that building the index of `points` takes at its peak, at most.
  [[nodiscard]] virtual std::uint64_t index_bytes(PointsView points) const = 0;
  /// Index of `points` for eps. `points` must outlive it, and be the same for all indexes of a backend. Throws
  /// Cancelled when the token is set.
  [[nodiscard]] virtual std::unique_ptr<NeighborSearch> build_index(PointsView points, double eps,
                                                                    const CancelToken& cancel) = 0;
  /// Runs a task that may wait for the device: on a thread of the backend, or at once where nothing ever waits. The
  /// task must not throw.
  virtual void post(const std::function<void()>& task) { task(); }
  /// Makes the memory of tables reachable for the device's copies; null where any memory is.
  [[nodiscard]] virtual PagePinner* pinner() noexcept { return nullptr; }
};

}  // namespace epsflow

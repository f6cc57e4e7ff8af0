// The search that fills the neighbour table of one eps, batch by batch.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <epsflow/core/choices.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/neighbor_table.hpp>

namespace epsflow {

/// A share of the query points whose rows are produced together: every stride-th unit of [begin, end).
struct Batch {
  enum class Unit : std::uint8_t { row, cell };

  Range range;                       ///< range of rows, or of cells of the index
  std::uint64_t expected_pairs = 0;  ///< csr: estimated or counted; packed: 0
  std::uint32_t stride = 1;
  Unit unit = Unit::row;

  [[nodiscard]] std::uint32_t units() const noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{range.size()} + stride - 1) / stride);
  }
};

/// The division of the work of one table.
struct BatchPlan {
  std::vector<Batch> batches;
  /// Ranges of rows that cost about the same to read; they cover all rows.
  std::vector<Range> blocks;
  std::uint64_t pairs = 0;       ///< csr: pairs of the whole table, from a sample or counted; packed: 0
  std::uint64_t lane_pairs = 0;  ///< csr: pairs that a lane's buffer holds; packed: 0
  bool counted = false;          ///< `pairs` and every batch's expected_pairs are exact
};

/// The options of a table search.
struct TableOptions {
  FormatChoice format = FormatChoice::automatic;
  Kernel kernel = Kernel::rows;
  unsigned workers = 1;  ///< threads that will read the table; on the CPU also lanes that search at a time
  unsigned lanes = 1;    ///< lanes to make
  /// Size of a lane's buffer in pairs, at most as large as memory permits; 0: the plan chooses. packed: in words on a
  /// GPU, without effect on the CPU.
  std::uint64_t lane_pairs = 0;
  double estimate_factor = 1;  ///< factor on estimated numbers of pairs: below 1 it makes batches overflow
};

// The possible results of a batch follow. Spans are valid until its lane's next search or sort.

/// csr: rows whose ids are in the table already, in memory from NeighborTable::reserve().
struct WrittenRows {
  RowNumbers rows;
  std::span<const std::uint32_t> counts;  ///< neighbours per row
  const std::uint32_t* ids;               ///< row after row
};
/// csr: rows whose ids are still in the lane.
struct LaneRows {
  Range rows;
  std::span<const std::uint32_t> counts;
  std::span<const std::uint32_t> ids;
};
/// packed: rows whose bits are in the table already.
struct PackedRows {
  Range rows;
  std::span<const std::uint32_t> counts;
};
/// Pairs in the lane, in any order: sort() turns them into rows.
struct UnsortedPairs {
  std::uint64_t count;
};
/// The lane's buffer is too small: the batch must be split.
struct BatchTooLarge {
  std::uint64_t needed;  ///< the size that suffices: a number of ids, pairs, or words of bits
};
/// The table cannot hold the rows.
struct TableFull {};
/// The memory of a device, which other tables may share, does not suffice for the work.
struct DeviceFull {
  std::exception_ptr error;
};
struct BatchFailed {
  std::exception_ptr error;
};

using BatchResult =
    std::variant<PackedRows, WrittenRows, LaneRows, UnsortedPairs, BatchTooLarge, TableFull, DeviceFull, BatchFailed>;

/// The input id of each position, and the owner of its memory. Must not outlive the backend.
struct RowOrder {
  std::shared_ptr<const void> owner;
  std::span<const std::uint32_t> ids;  ///< [host] [n]
};

/// The search of one table. Its constructor plans the work. It owns its lanes: streams of work with their buffers, each
/// used by one batch at a time. Thread-safe for calls with different lanes.
class TableSearch {
 public:
  /// Called exactly once per search or sort, from any thread. Must not throw, and must not call the backend. If a
  /// search or sort throws instead, no work on the lane is left.
  using Completion = std::function<void(BatchResult)>;

  TableSearch() = default;
  TableSearch(const TableSearch&) = delete;  // shared by address between the stages
  TableSearch& operator=(const TableSearch&) = delete;
  virtual ~TableSearch() = default;

  [[nodiscard]] virtual const BatchPlan& plan() const = 0;
  /// Returns the layout of a packed table; null if the table is csr.
  [[nodiscard]] virtual std::shared_ptr<const PackedLayout> layout() const { return nullptr; }
  [[nodiscard]] virtual RowOrder order() const = 0;
  /// Returns the number of pairs so far that a faster test left undecided, and that were tested in float64; on a GPU an
  /// upper bound.
  [[nodiscard]] virtual std::uint64_t undecided_pairs() const { return 0; }
  /// Returns the two halves of a batch that was too large.
  [[nodiscard]] virtual std::pair<Batch, Batch> split(const Batch& batch) const = 0;
  /// Finds all neighbours of the batch's rows. `table` has the layout layout(). Packed: writes the bits into it.
  /// Returns at once or when finished; calls `done` with the result.
  virtual void search(const Batch& batch, unsigned lane, NeighborTable& table, Completion done) = 0;
  /// Turns the UnsortedPairs that the last search left in the lane into rows.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): as in search()
  virtual void sort(unsigned /*lane*/, NeighborTable& /*table*/, Completion /*done*/) {
    throw Error("a search that finds rows was asked to sort pairs, which is a defect of epsflow: please report it");
  }
};

/// Throws the UsageError of Index::table().
[[noreturn]] inline void throw_not_packable() {
  throw UsageError(
      "a packed table needs SearchOptions::kernel = Kernel::rows and at most three dimensions: leave the choice with "
      "SearchOptions::format = FormatChoice::automatic");
}

/// Returns the bytes of a csr table with its offsets and counts.
[[nodiscard]] constexpr std::uint64_t csr_table_bytes(std::uint64_t rows, std::uint64_t pairs) noexcept {
  return rows * 12 + pairs * sizeof(std::uint32_t);
}
/// Returns the bytes of a packed table with its counts and layout.
[[nodiscard]] inline std::uint64_t packed_table_bytes(std::uint64_t rows, const PackedLayout& layout) noexcept {
  return rows * 4 + layout.bytes() + layout.words() * sizeof(std::uint32_t);
}

}  // namespace epsflow

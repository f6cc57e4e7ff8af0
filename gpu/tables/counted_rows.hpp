// The rows of a csr table after their neighbours have been counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <epsflow/core/table_search.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/tables/gpu_lane.hpp>

namespace epsflow::gpu {

/// The sizes of batches are exact, so a batch is too large only if the device lacks memory for a lane's buffer.
class CountedRows {
 public:
  /// counts: number of neighbours of each row, made on `stream`. stream and memory must outlive the object. Waits.
  /// Without rows only the constructor and pairs() may be called.
  CountedRows(DeviceBuffer<std::uint32_t> counts, const Stream& stream, DeviceMemory& memory);

  [[nodiscard]] std::uint64_t pairs() const noexcept { return pairs_; }
  /// The offset of the neighbours of each row in the whole table. [device] [rows + 1]
  [[nodiscard]] const std::uint64_t* offsets() const noexcept { return offsets_.data(); }

  /// Cuts between parts of about equally many pairs: first row and offset of each part, and the end. Parts may be
  /// empty.
  struct Cuts {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint64_t> offsets;
  };
  /// Cuts the rows into `parts` parts, but at most one for each row. Waits.
  [[nodiscard]] Cuts cut(std::uint64_t parts) const;
  /// Divides the rows of a batch in two halves by number, and counts the pairs of each. Waits.
  [[nodiscard]] std::pair<Batch, Batch> split(const Batch& batch) const;

  /// Implements TableSearch::search(), as work of start_on(). fill() puts work on the lane that writes the neighbours
  /// of the batch's rows, as positions and row by row, to lane.words. lane_pairs: the requested capacity of a lane.
  template <class F>
  void search(const Batch& batch, GpuLane& lane, std::uint64_t lane_pairs, NeighborTable& table,
              const TableSearch::Completion& done, F&& fill) const {
    const std::uint64_t pairs = batch.expected_pairs;
    const std::uint32_t rows = batch.range.size();
    if (pairs > lane.ensure_words(lane_pairs, longest_) && rows > 1) return done(BatchTooLarge{pairs});
    std::uint32_t* const ids = table.reserve(pairs);
    if (ids == nullptr) return done(TableFull{});
    lane.ensure_counts(rows);
    fill();
    copy_to_table(ids, lane.words.data(), pairs * sizeof(std::uint32_t), lane.stream.get());
    const std::span<const std::uint32_t> counts = lane.copy_counts(counts_.data() + batch.range.begin, rows);
    report(lane, done, [found = WrittenRows{batch.range, counts, ids}] { return found; });
  }

 private:
  const Stream& stream_;
  DeviceMemory& memory_;
  DeviceBuffer<std::uint32_t> counts_;
  DeviceBuffer<std::uint64_t> offsets_;
  std::uint64_t pairs_ = 0;
  std::uint64_t longest_ = 0;  // number of neighbours of the row that has most
};

/// Adds the batch between two cuts to a plan, if it has a row, and raises BatchPlan::lane_pairs to its pairs.
void add_batch(BatchPlan& plan, const CountedRows::Cuts& cuts, std::size_t begin, std::size_t end);

}  // namespace epsflow::gpu

// Makes a small neighbour table and its memory from given rows, as the flow hands it to the clustering.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/clustering/dbscan.hpp>
#include <epsflow/clustering/table_source.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/neighbor_table.hpp>

namespace epsflow::test {

template <class T>
Buffer<T> filled(const std::vector<T>& values) {
  Buffer<T> buffer(values.size());
  std::copy(values.begin(), values.end(), buffer.begin());
  return buffer;
}

class TableMaker {
 public:
  TableMaker() : pool_(budget_) {}

  /// Returns the csr table of `rows` (by id), in which position p holds point order[p]. If `seed` is not 0, the batches
  /// arrive in random order and the entries of a row are in random order, as a search may leave them.
  NeighborTable& csr(const OracleTable& rows, std::vector<std::uint32_t> order, std::uint64_t seed = 0) {
    const auto n = static_cast<std::uint32_t>(rows.rows.size());
    order_ = std::move(order);
    OracleTable moved = by_position(rows, order_);
    table_ = std::make_unique<NeighborTable>(n, pool_.acquire(std::uint64_t{1} << 24));
    std::vector<Range> blocks = make_blocks(n);
    std::vector<Range> arrival = blocks;
    Random random(seed);
    if (seed != 0) random.shuffle(arrival);
    for (const Range block : arrival) {
      std::vector<std::uint32_t> counts;
      std::vector<std::uint32_t> ids;
      for (std::uint32_t p = block.begin; p < block.end; ++p) {
        std::vector<std::uint32_t>& row = moved.rows[p];
        if (seed != 0) random.shuffle(row);
        counts.push_back(static_cast<std::uint32_t>(row.size()));
        ids.insert(ids.end(), row.begin(), row.end());
      }
      if (!table_->append(block, counts, ids)) throw std::bad_alloc();
    }
    table_->set_blocks(std::move(blocks));
    return *table_;
  }

  /// Returns the packed table of the same rows, with cells of up to `cell_size` consecutive positions. Candidates are
  /// one range from a cell's smallest to its largest neighbour, cut in two if it is long and has none at the cut.
  NeighborTable& packed(const OracleTable& rows, std::vector<std::uint32_t> order, std::uint32_t cell_size) {
    const auto n = static_cast<std::uint32_t>(rows.rows.size());
    order_ = std::move(order);
    const OracleTable moved = by_position(rows, order_);
    std::vector<std::uint32_t> starts;
    std::vector<std::vector<Range>> ranges;
    for (std::uint32_t first = 0; first < n; first += cell_size) {
      starts.push_back(first);
      std::set<std::uint32_t> near{first};
      for (std::uint32_t p = first; p < std::min(n, first + cell_size); ++p) {
        near.insert(moved.rows[p].begin(), moved.rows[p].end());
      }
      const std::uint32_t lowest = *near.begin(), highest = *near.rbegin();
      ranges.push_back({{lowest, highest + 1}});
      if (highest - lowest > 3 && !near.contains(lowest + 2)) {
        ranges.back() = {{lowest, lowest + 2}, {lowest + 3, highest + 1}};
      }
    }
    starts.push_back(n);
    std::vector<std::uint64_t> offsets, first_words;
    std::vector<Range> all;
    std::uint64_t words = 0;
    for (std::size_t c = 0; c < ranges.size(); ++c) {
      offsets.push_back(all.size());
      first_words.push_back(words);
      for (const Range& range : ranges[c]) words += packed_words(range.size()) * (starts[c + 1] - starts[c]);
      all.insert(all.end(), ranges[c].begin(), ranges[c].end());
    }
    offsets.push_back(all.size());
    first_words.push_back(words);
    auto layout = std::make_shared<PackedLayout>();
    layout->bundles = {filled(starts), filled(offsets), filled(all)};
    layout->first_words = filled(first_words);
    table_ = std::make_unique<NeighborTable>(layout, pool_.acquire(words * 4));
    std::uint32_t* word = table_->packed_words_for_writing();
    std::fill_n(word, words, 0U);
    for (std::uint32_t p = 0; p < n; ++p) {
      const std::vector<std::uint32_t>& row = moved.rows[p];
      for (const Range& range : layout->bundles.ranges_of(layout->bundles.bundle_of(p))) {
        for (const std::uint32_t q : row) {
          if (q >= range.begin && q < range.end) word[(q - range.begin) / 32] |= 1U << ((q - range.begin) % 32);
        }
        word += packed_words(range.size());
      }
      table_->add_counts(p, std::vector<std::uint32_t>{static_cast<std::uint32_t>(row.size())});
    }
    table_->set_blocks(make_blocks(n));
    return *table_;
  }

  [[nodiscard]] clustering::ClusterSource& source() {
    source_ = std::make_unique<clustering::TableSource>(*table_, order_);
    return *source_;
  }
  [[nodiscard]] clustering::ClusterInput input(double eps = 1) { return {source(), eps}; }
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }

 private:
  static std::vector<Range> make_blocks(std::uint32_t n) {
    std::vector<Range> blocks;
    for (std::uint32_t first = 0; first < n; first += 5) blocks.push_back({first, std::min(n, first + 5)});
    return blocks;
  }

  MemoryBudget budget_{std::uint64_t{1} << 30};
  ArenaPool pool_;
  std::vector<std::uint32_t> order_;
  std::unique_ptr<NeighborTable> table_;
  std::unique_ptr<clustering::TableSource> source_;
};

/// Returns 0 … n - 1, in random order if `seed` is not 0.
inline std::vector<std::uint32_t> make_order(std::size_t n, std::uint64_t seed = 0) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  if (seed != 0) Random(seed).shuffle(order);
  return order;
}

}  // namespace epsflow::test

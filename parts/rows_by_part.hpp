// Lists the rows of an input by the part in which they lie.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::parts {

/// The rows stay in place. They are divided into blocks of consecutive rows, and each block lists its rows by part.
/// Here the id of a point is its index among the rows of its part, in the order of the rows. Takes 2 bytes for each
/// row, and 6 for each block and part.
class RowsByPart {
 public:
  /// rows: the number of rows, less than 2^32. parts: at most 65,536.
  RowsByPart(std::size_t rows, std::size_t parts);

  /// Lists the rows of a block. part_of: the part of each row of the block, less than parts(). Call it once for each
  /// block, in any order, on any thread.
  void list(std::size_t block, std::span<const std::uint16_t> part_of);
  /// Counts the points of each part before each block. Call it once after all blocks are listed, and before all
  /// functions below that take a part or call f, except in(), which needs only its block listed. O(blocks · parts), in
  /// parallel.
  void number();

  [[nodiscard]] std::size_t rows() const noexcept { return by_part_.size(); }
  [[nodiscard]] std::size_t parts() const noexcept { return sizes_.size(); }
  [[nodiscard]] std::size_t blocks() const noexcept { return blocks_; }
  /// Returns the first row of a block. begin(b + 1) is the end of block b.
  [[nodiscard]] std::size_t begin(std::size_t block) const noexcept { return std::min(rows(), block * block_); }
  [[nodiscard]] std::size_t block_of(std::size_t row) const noexcept { return row / block_; }
  /// Returns the bytes of memory of the lists.
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return by_part_.bytes() + begins_.size() * sizeof(std::uint16_t) + starts_.size() * sizeof(std::uint32_t);
  }

  /// The number of points of a part.
  [[nodiscard]] std::size_t size(std::size_t part) const noexcept { return sizes_[part]; }
  /// The number of points of a part in the blocks before this one.
  [[nodiscard]] std::uint32_t start(std::size_t part, std::size_t block) const noexcept {
    return starts_[part * (blocks_ + 1) + block];
  }
  /// Returns the block that contains a point of a part. O(log blocks).
  [[nodiscard]] std::size_t block_of(std::size_t part, std::size_t id) const noexcept {
    const std::uint32_t* const starts = starts_.data() + part * (blocks_ + 1);
    return static_cast<std::size_t>(std::upper_bound(starts, starts + blocks_ + 1, id) - starts) - 1;
  }
  /// The offsets within a block of the rows of a part, ascending.
  [[nodiscard]] std::span<const std::uint16_t> in(std::size_t part, std::size_t block) const noexcept {
    const std::uint16_t* const begins = begins_.data() + block * (parts() + 1) + part;
    return {by_part_.data() + block * block_ + begins[0], by_part_.data() + block * block_ + begins[1]};
  }
  /// Returns the rows of points of a part. ids: ascending. In parallel, O(ids + blocks · log ids).
  [[nodiscard]] std::vector<std::uint32_t> rows_of(std::size_t part, std::span<const std::uint32_t> ids) const;

  /// Calls f(row, id) for each point of a part, in parallel.
  template <class F>
  void for_part(std::size_t part, F&& f) const {
    for_blocks([&](std::size_t block) { for_part(part, block, f); });
  }
  /// Calls f(part, row, id) for all points, in parallel over blocks of rows; within a block the parts follow each
  /// other.
  template <class F>
  void for_all(F&& f) const {
    for_blocks([&](std::size_t block) {
      for (std::size_t part = 0; part < parts(); ++part) {
        for_part(part, block, [&](std::size_t row, std::size_t id) { f(part, row, id); });
      }
    });
  }

 private:
  template <class F>
  void for_blocks(F&& f) const {
    parallel_ranges(blocks_, 4, [&](std::size_t begin, std::size_t end) {
      for (std::size_t block = begin; block < end; ++block) f(block);
    });
  }
  template <class F>
  void for_part(std::size_t part, std::size_t block, F&& f) const {
    std::size_t id = start(part, block);
    for (const std::uint16_t at : in(part, block)) f(block * block_ + at, id++);
  }

  std::vector<std::size_t> sizes_;  ///< [parts]
  std::size_t block_;               ///< rows of a block
  std::size_t blocks_;
  Buffer<std::uint16_t> by_part_;      ///< [rows] offsets within their block, by part
  std::vector<std::uint16_t> begins_;  ///< [blocks × (parts + 1)] where the rows of each part begin
  std::vector<std::uint32_t> starts_;  ///< [parts × (blocks + 1)] number of points in the blocks before
};

}  // namespace epsflow::parts

// The rows of an input by the part that they lie in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::parts {

/// Nothing is moved. Rows are in blocks, and each block has a list of its rows by part. The points of a part are its rows in their order, and
/// are numbered so. It takes 2 bytes a row, and 6 for each block and part.
class RowsByPart {
 public:
  RowsByPart(std::size_t rows, std::size_t parts);

  /// Lists the rows of a block. part_of: theirs. Once for each block, in any order and by any thread.
  void list(std::size_t block, std::span<const std::uint16_t> part_of);
  /// Numbers the points of all parts, once all blocks are listed. O(blocks · parts), in parallel.
  void number();

  [[nodiscard]] std::size_t rows() const noexcept { return by_part_.size(); }
  [[nodiscard]] std::size_t parts() const noexcept { return sizes_.size(); }
  [[nodiscard]] std::size_t blocks() const noexcept { return blocks_; }
  /// The first row of a block; that of the next is where it ends.
  [[nodiscard]] std::size_t begin(std::size_t block) const noexcept { return std::min(rows(), block * block_); }
  [[nodiscard]] std::size_t block_of(std::size_t row) const noexcept { return row / block_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return by_part_.bytes() + begins_.size() * sizeof(std::uint16_t) + starts_.size() * sizeof(std::uint32_t);
  }

  /// Points of a part.
  [[nodiscard]] std::size_t size(std::size_t part) const noexcept { return sizes_[part]; }
  /// How many of them are in the blocks before.
  [[nodiscard]] std::uint32_t start(std::size_t part, std::size_t block) const noexcept {
    return starts_[part * (blocks_ + 1) + block];
  }
  /// The block that a point of a part is in. O(log blocks).
  [[nodiscard]] std::size_t block_of(std::size_t part, std::size_t id) const noexcept {
    const std::uint32_t* const starts = starts_.data() + part * (blocks_ + 1);
    return static_cast<std::size_t>(std::upper_bound(starts, starts + blocks_ + 1, id) - starts) - 1;
  }
  /// Where in a block the rows of a part are, ascending.
  [[nodiscard]] std::span<const std::uint16_t> in(std::size_t part, std::size_t block) const noexcept {
    const std::uint16_t* const begins = begins_.data() + block * (parts() + 1) + part;
    return {by_part_.data() + block * block_ + begins[0], by_part_.data() + block * block_ + begins[1]};
  }
  /// The rows of points of a part. ids: ascending. In parallel, O(blocks + ids · log ids) at most.
  [[nodiscard]] std::vector<std::uint32_t> rows_of(std::size_t part, std::span<const std::uint32_t> ids) const;

  /// Calls f(row, id) for each point of a part, in parallel.
  template <class F>
  void for_part(std::size_t part, F&& f) const {
    for_blocks([&](std::size_t block) { for_part(part, block, f); });
  }
  /// Calls f(part, row, id) for the points of all parts, in parallel by row, and within some rows by part.
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
  std::size_t block_;               ///< rows
  std::size_t blocks_;
  Buffer<std::uint16_t> by_part_;      ///< [rows] within their block, by part
  std::vector<std::uint16_t> begins_;  ///< [blocks × (parts + 1)] where those of each part begin
  std::vector<std::uint32_t> starts_;  ///< [parts × (blocks + 1)] points of the blocks before
};

}  // namespace epsflow::parts

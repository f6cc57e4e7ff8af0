#include <epsflow/parts/rows_by_part.hpp>

#include <array>

#include <epsflow/core/parallel.hpp>
#include <epsflow/parts/find_equal.hpp>

namespace epsflow::parts {
namespace {

/// With at most this many parts the rows of a block are listed part by part, in vectors.
constexpr std::size_t kFewParts = 32;
constexpr std::size_t kFewRows = 1 << 12;
/// Rows of a block with more parts; they are numbered by 16 bits.
constexpr std::size_t kManyRows = 1 << 15;

}  // namespace

RowsByPart::RowsByPart(std::size_t rows, std::size_t parts)
    : sizes_(parts, 0),
      block_(parts <= kFewParts ? kFewRows : kManyRows),
      blocks_((rows + block_ - 1) / block_),
      by_part_(rows),
      begins_(blocks_ * (parts + 1), 0),
      starts_(parts * (blocks_ + 1), 0) {}

void RowsByPart::list(std::size_t block, std::span<const std::uint16_t> part_of) {
  std::uint16_t* const begins = begins_.data() + block * (parts() + 1);
  std::uint16_t* const by_part = by_part_.data() + block * block_;
  const auto count = [&](std::size_t part) -> std::uint32_t& { return starts_[part * (blocks_ + 1) + block + 1]; };
  if (parts() <= kFewParts) {
    std::array<std::uint16_t, kFewRows + kFoundBeyond> indices;
    for (std::size_t part = 0; part < parts(); ++part) {
      const std::size_t found = find_equal(part_of, static_cast<std::uint16_t>(part), indices.data() + begins[part]);
      count(part) = static_cast<std::uint32_t>(found);
      begins[part + 1] = static_cast<std::uint16_t>(begins[part] + found);
    }
    std::copy_n(indices.begin(), part_of.size(), by_part);
    return;
  }
  std::vector<std::uint32_t> next(parts(), 0);
  for (const std::uint16_t part : part_of) ++next[part];
  for (std::size_t part = 0; part < parts(); ++part) {
    count(part) = next[part];
    begins[part + 1] = static_cast<std::uint16_t>(begins[part] + next[part]);
    next[part] = begins[part];
  }
  for (std::size_t i = 0; i < part_of.size(); ++i) by_part[next[part_of[i]]++] = static_cast<std::uint16_t>(i);
}

void RowsByPart::number() {
  parallel_for(parts(), [&](std::size_t part) {
    std::uint32_t* const starts = starts_.data() + part * (blocks_ + 1);
    for (std::size_t block = 1; block <= blocks_; ++block) {
      sizes_[part] += starts[block];
      starts[block] = static_cast<std::uint32_t>(sizes_[part]);
    }
  });
}

std::vector<std::uint32_t> RowsByPart::rows_of(std::size_t part, std::span<const std::uint32_t> ids) const {
  std::vector<std::uint32_t> found(ids.size());
  for_blocks([&](std::size_t block) {
    const std::uint32_t first = start(part, block), last = start(part, block + 1);
    const std::span<const std::uint16_t> at = in(part, block);
    for (auto id = std::lower_bound(ids.begin(), ids.end(), first); id != ids.end() && *id < last; ++id) {
      found[static_cast<std::size_t>(id - ids.begin())] = static_cast<std::uint32_t>(begin(block) + at[*id - first]);
    }
  });
  return found;
}

}  // namespace epsflow::parts

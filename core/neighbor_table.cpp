#include <epsflow/core/neighbor_table.hpp>

#include <algorithm>
#include <cstring>
#include <string>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {
namespace {

std::vector<Range> even_blocks(std::uint32_t n) {
  constexpr std::uint32_t kRows = 4096;
  std::vector<Range> blocks;
  for (std::uint32_t first = 0; first < n; first += std::min(kRows, n - first)) {
    blocks.push_back({first, first + std::min(kRows, n - first)});
  }
  return blocks;
}

}  // namespace

NeighborTable::NeighborTable(std::uint32_t n, Arena arena)
    : size_(n),
      arena_(std::move(arena)),
      words_(reinterpret_cast<std::uint32_t*>(arena_.data())),
      counts_(n),
      offsets_(n),
      blocks_(even_blocks(n)) {}

NeighborTable::NeighborTable(std::shared_ptr<const PackedLayout> layout, Arena arena)
    : size_(layout->bundles.starts[layout->bundles.size()]),
      layout_(std::move(layout)),
      arena_(std::move(arena)),
      words_(reinterpret_cast<std::uint32_t*>(arena_.data())),
      counts_(size_),
      blocks_(even_blocks(size_)) {
  const std::uint64_t bytes = layout_->words() * sizeof(std::uint32_t);
  if (!arena_.grow(bytes)) {
    throw ResourceError("the neighbour table needs " + format_bytes(bytes) +
                        ", more than the memory budget has left: raise EngineOptions::memory or lower eps");
  }
}

std::uint64_t NeighborTable::pairs() const noexcept {
  std::uint64_t sum = 0;
  for (const std::uint32_t c : counts_) sum += c;
  return sum;
}

std::uint64_t NeighborTable::bytes() const noexcept {
  const std::uint64_t words = layout_ == nullptr ? appended_.load(std::memory_order_relaxed) : layout_->words();
  return words * sizeof(std::uint32_t) + counts_.bytes() + offsets_.bytes() +
         (layout_ == nullptr ? 0 : layout_->bytes());
}

std::uint32_t* NeighborTable::reserve(std::uint64_t ids) {
  const std::uint64_t first = appended_.fetch_add(ids, std::memory_order_relaxed);
  return arena_.grow((first + ids) * sizeof(std::uint32_t)) ? words_ + first : nullptr;
}

void NeighborTable::add_rows(RowNumbers rows, std::span<const std::uint32_t> counts,
                             const std::uint32_t* ids) noexcept {
  std::uint64_t offset = ids - words_;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts_[rows[i]] = counts[i];
    offsets_[rows[i]] = offset;
    offset += counts[i];
  }
}

bool NeighborTable::append(Range rows, std::span<const std::uint32_t> counts, std::span<const std::uint32_t> ids) {
  std::uint32_t* const destination = reserve(ids.size());
  if (destination == nullptr) return false;
  if (!ids.empty()) std::memcpy(destination, ids.data(), ids.size_bytes());
  add_rows(rows, counts, destination);
  return true;
}

}  // namespace epsflow

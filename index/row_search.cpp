#include <epsflow/index/row_search.hpp>

#include <epsflow/index/instruction_sets.hpp>
// Must come before any header of Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE \
  "epsflow/index/row_search.cpp"  // NOLINT: highway compiles this file once per instruction set
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include <epsflow/index/row_test-inl.hpp>
#include <epsflow/index/tile_test-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace epsflow::index {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using U32 = hn::ScalableTag<std::uint32_t>;

constexpr std::size_t kLanes32 = hn::MaxLanes(U32());

/// Calls visit(first candidate, word) for all words of a row, range by range.
template <class T, std::size_t D, class Visit>
HWY_INLINE void for_each_word(const SearchInput& in, std::uint32_t row, std::span<const Range> candidates,
                              Visit visit) {
  const RowTest<T, D> test(in, row);
  for (const Range& range : candidates) {
    for (std::uint64_t first = range.begin; first < range.end; first += 32) visit(first, test.word(first, range.end));
  }
}

/// The bits of a row against panels of candidates.
struct PanelBits {
  std::span<const Panel> panels;
  const std::uint16_t* bits;  ///< [panels]
};

/// Calls visit(first candidate, word) for all words of a row, range by range, from the bits of panels.
template <class Visit>
HWY_INLINE void for_each_word(const PanelBits& row, std::span<const Range> candidates, Visit visit) {
  constexpr std::uint32_t kPanel = RoundedPoints::kPanel;
  std::size_t at = 0;
  const auto bits_of = [&](std::size_t panel) HWY_ATTR {
    while (at < row.panels.size() && row.panels[at].index < panel) ++at;
    return at < row.panels.size() && row.panels[at].index == panel ? std::uint64_t{row.bits[at]} : 0;
  };
  for (const Range& range : candidates) {
    for (std::uint64_t first = range.begin; first < range.end; first += 32) {
      // A word spans at most three panels; the last of them may contain the beginning of the next word.
      std::uint64_t three = 0;
      for (std::uint32_t j = 0; j < 3; ++j) three |= bits_of(first / kPanel + j) << (j * kPanel);
      at = at >= 2 ? at - 2 : 0;
      const std::uint64_t left = range.end - first;
      const auto word = static_cast<std::uint32_t>(three >> (first % kPanel));
      visit(first, left >= 32 ? word : word & ((1U << left) - 1));
    }
  }
}

/// Counts neighbours, and stores the words if there is memory for them.
struct BitsTask {
  std::uint32_t* words;  ///< null: count only
  std::uint32_t* counts;

  template <class T, std::size_t D>
  HWY_INLINE void row(const SearchInput& in, std::uint32_t row, std::span<const Range> candidates) {
    std::uint32_t count = 0;
    for_each_word<T, D>(in, row, candidates, [&](std::uint64_t, std::uint32_t word) HWY_ATTR {
      if (words != nullptr) *words++ = word;
      count += static_cast<std::uint32_t>(__builtin_popcount(word));
    });
    *counts++ = count;
  }

  HWY_INLINE void row(const PanelBits& row, std::span<const Range> candidates) {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < row.panels.size(); ++i) {
      count += static_cast<std::uint32_t>(__builtin_popcount(row.bits[i]));
    }
    *counts++ = count;
    if (words == nullptr) return;
    for_each_word(row, candidates, [&](std::uint64_t, std::uint32_t word) { *words++ = word; });
  }
};

struct IdsTask {
  std::uint32_t* ids;
  std::uint64_t capacity;
  std::uint32_t* counts;
  std::uint64_t found = 0;

  template <class T, std::size_t D>
  HWY_INLINE void row(const SearchInput& in, std::uint32_t row, std::span<const Range> candidates) {
    const std::uint64_t before = found;
    for_each_word<T, D>(in, row, candidates, [&](std::uint64_t first, std::uint32_t word) HWY_ATTR {
      add(static_cast<std::uint32_t>(first), word);
    });
    *counts++ = static_cast<std::uint32_t>(found - before);
  }

  HWY_INLINE void row(const PanelBits& row, std::span<const Range>) {
    const std::uint64_t before = found;
    for (std::size_t i = 0; i < row.panels.size(); ++i) {
      if (row.bits[i] != 0) add(row.panels[i].first(), row.bits[i]);
    }
    *counts++ = static_cast<std::uint32_t>(found - before);
  }

 private:
  HWY_INLINE void add(std::uint32_t first, std::uint32_t word) {
    // A word adds at most 32 ids and a store writes a whole vector: both stay within kSlack after the capacity.
    if (found > capacity) {
      found += static_cast<std::uint32_t>(__builtin_popcount(word));
      return;
    }
    for (std::size_t k = 0; k < 32; k += kLanes32) {
      const std::uint32_t part = (word >> k) & static_cast<std::uint32_t>((std::uint64_t{1} << kLanes32) - 1);
      if (part == 0) continue;
      const std::uint8_t bytes[8] = {static_cast<std::uint8_t>(part), static_cast<std::uint8_t>(part >> 8),
                                     static_cast<std::uint8_t>(part >> 16), static_cast<std::uint8_t>(part >> 24)};
      const auto positions = hn::Iota(U32(), first + static_cast<std::uint32_t>(k));
      hn::StoreU(hn::CompressBits(positions, bytes), U32(), ids + found);
      found += static_cast<std::uint32_t>(__builtin_popcount(part));
    }
  }
};

/// Rows whose bits are stored at a time, while panels that fit the cache are processed.
constexpr std::uint32_t kRowBlock = 64;
/// Coordinates of the panels that a block of rows processes at a time: half of a small second-level cache.
constexpr std::size_t kPanelBlockBytes = 256 << 10;

/// Tests rows [row, end), R at a time, and the remaining ones fewer at a time. bits: [rows × stride] results.
template <class T, std::size_t R>
HWY_INLINE void tile_rows(  // NOLINT(readability-function-size): a kernel
    const SearchInput& in, std::uint32_t& row, std::uint32_t end, std::span<const Panel> panels, std::uint16_t*& bits,
    std::size_t stride, std::uint64_t& undecided_pairs) {
  for (; end - row >= R; row += R, bits += R * stride) {
    const TileTest<T, R> test(in, [row](std::size_t r) { return row + static_cast<std::uint32_t>(r); });
    std::size_t i = 0;
    const auto keep = [&](std::size_t r, std::size_t v, std::uint32_t found)
                          HWY_ATTR { bits[r * stride + i + v] = static_cast<std::uint16_t>(found); };
    for (; i + kTilePanels <= panels.size(); i += kTilePanels) {
      test.template panels<kTilePanels>(panels.data() + i, undecided_pairs, keep);
    }
    for (; i < panels.size(); ++i) test.template panels<1>(panels.data() + i, undecided_pairs, keep);
  }
  if constexpr (R > 1) tile_rows<T, R / 2>(in, row, end, panels, bits, stride, undecided_pairs);
}

template <class T, class Task>
void run_tiles(const SearchInput& in, Range rows, std::span<const Range> candidates, Task& task) {
  // Kept by each thread: bundles are many and mostly small.
  thread_local std::vector<Panel> panels;
  thread_local std::vector<std::uint16_t> bits;
  list_panels(candidates, panels);
  bits.resize(kRowBlock * panels.size());
  const std::size_t block =
      std::max<std::size_t>(kTilePanels, kPanelBlockBytes / (in.dims * RoundedPoints::kPanel * 4));
  std::uint64_t undecided_pairs = 0;
  for (std::uint32_t first = rows.begin; first < rows.end; first += kRowBlock) {
    const std::uint32_t end = HWY_MIN(rows.end, first + kRowBlock);
    for (std::size_t p = 0; p < panels.size(); p += block) {
      std::uint32_t row = first;
      std::uint16_t* out = bits.data() + p;
      const auto some = std::span(panels).subspan(p, HWY_MIN(block, panels.size() - p));
      tile_rows<T, kTileRows>(in, row, end, some, out, panels.size(), undecided_pairs);
    }
    for (std::uint32_t row = first; row < end; ++row) {
      task.row(PanelBits{panels, bits.data() + (row - first) * panels.size()}, candidates);
    }
  }
  if (undecided_pairs != 0) in.rounded->add_undecided_pairs(undecided_pairs);
}

template <class Task>
void run(const SearchInput& in, Range rows, std::span<const Range> candidates, Task& task) {
  if (in.rounded != nullptr) {
    if (in.precision == Precision::float32) {
      run_tiles<float>(in, rows, candidates, task);
    } else {
      run_tiles<double>(in, rows, candidates, task);
    }
    return;
  }
  with_types(in, [&]<class T, std::size_t D>() HWY_ATTR {
    for (std::uint32_t row = rows.begin; row < rows.end; ++row) task.template row<T, D>(in, row, candidates);
  });
}

void bit_rows(const SearchInput& in, Range rows, std::span<const Range> candidates, std::uint32_t* words,
              std::uint32_t* counts) {
  BitsTask task{words, counts};
  run(in, rows, candidates, task);
}

std::uint64_t id_rows(const SearchInput& in, Range rows, std::span<const Range> candidates, std::uint32_t* ids,
                      std::uint64_t capacity, std::uint32_t* counts) {
  IdsTask task{ids, capacity, counts};
  run(in, rows, candidates, task);
  return task.found;
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace epsflow::index
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace epsflow::index {

HWY_EXPORT(bit_rows);
HWY_EXPORT(id_rows);
HWY_EXPORT(target_name);

namespace {

std::vector<const void*> columns_of(const SearchIndex& index) {
  std::vector<const void*> columns;
  for (std::size_t k = 0; k < index.dims(); ++k) columns.push_back(index.coordinates<std::byte>(k));
  return columns;
}

}  // namespace

RowSearch::RowSearch(const SearchIndex& index)
    : RowSearch(columns_of(index), index.size(), index.precision(), index.eps(), index.space()) {}

RowSearch::RowSearch(std::vector<const void*> coordinates, std::size_t n, Precision precision, double eps,
                     const Space& space)
    : coordinates_(std::move(coordinates)),
      space_(space),
      rounded_(coordinates_.data(), space.plain() ? n : 0, coordinates_.size(), precision, eps),
      input_{coordinates_.data(),
             coordinates_.size(),
             precision,
             space.limit(eps),
             rounded_.empty() ? nullptr : &rounded_,
             space.plain() ? nullptr : &space_} {}

void RowSearch::packed(Range rows, std::span<const Range> candidates, std::uint32_t* words,
                       std::uint32_t* counts) const {
  HWY_DYNAMIC_DISPATCH(bit_rows)(input_, rows, candidates, words, counts);
}

std::uint64_t RowSearch::ids(Range rows, std::span<const Range> candidates, std::uint32_t* ids, std::uint64_t capacity,
                             std::uint32_t* counts) const {
  return HWY_DYNAMIC_DISPATCH(id_rows)(input_, rows, candidates, ids, capacity, counts);
}

void RowSearch::count(Range rows, std::span<const Range> candidates, std::uint32_t* counts) const {
  HWY_DYNAMIC_DISPATCH(bit_rows)(input_, rows, candidates, nullptr, counts);
}

std::string_view RowSearch::instruction_set() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace epsflow::index
#endif

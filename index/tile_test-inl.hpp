// Tests rows against panels of candidates: float32 products decide most pairs (tile_frame.hpp), float64 the others.
// Compiled once per instruction set and source.
#if defined(EPSFLOW_INDEX_TILE_TEST_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EPSFLOW_INDEX_TILE_TEST_INL_HPP
#undef EPSFLOW_INDEX_TILE_TEST_INL_HPP
#else
#define EPSFLOW_INDEX_TILE_TEST_INL_HPP
#endif

#include <hwy/highway.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/index/rounded_points.hpp>
#include <epsflow/index/row_test-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace epsflow::index {
namespace HWY_NAMESPACE {

using F32 = hn::CappedTag<float, RoundedPoints::kPanel>;
using V32 = hn::Vec<F32>;

constexpr std::size_t kLanesF32 = hn::MaxLanes(F32());
constexpr std::size_t kPanelVectors = RoundedPoints::kPanel / kLanesF32;

/// Rows and panels that are tested together, so that their sums stay in vector registers. AVX-512 and NEON have 32
/// registers, others 16.
constexpr std::size_t kTileRows = kLanesF32 == 16 ? 8 : HWY_TARGET == HWY_NEON ? 4 : kLanesF32 == 8 ? 4 : 2;
constexpr std::size_t kTilePanels = kLanesF32 == 16 ? 2 : 1;

HWY_INLINE std::uint32_t to_bits(hn::Mask<F32> mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(F32(), mask, bytes);
  return bytes[0] | static_cast<std::uint32_t>(bytes[1]) << 8;
}

/// A panel of candidates, and the positions in it that are candidates.
struct Panel {
  std::uint32_t index;
  std::uint32_t wanted;  ///< bit i: position kPanel · index + i

  [[nodiscard]] std::uint32_t first() const { return index * static_cast<std::uint32_t>(RoundedPoints::kPanel); }
};

/// Lists the panels that hold the candidates, ascending. A panel that two ranges share is listed once.
HWY_INLINE void list_panels(std::span<const Range> candidates, std::vector<Panel>& panels) {
  constexpr std::uint32_t kPanel = RoundedPoints::kPanel;
  panels.clear();
  for (const Range& range : candidates) {
    for (std::uint32_t first = range.begin; first < range.end;) {
      const std::uint32_t index = first / kPanel;
      const std::uint32_t end = HWY_MIN(range.end - index * kPanel, kPanel);
      const std::uint32_t wanted = ((1U << end) - 1) & (~0U << (first % kPanel));
      if (!panels.empty() && panels.back().index == index) {
        panels.back().wanted |= wanted;
      } else {
        panels.push_back({index, wanted});
      }
      first = index * kPanel + end;
    }
  }
}

/// R rows against panels of candidates.
template <class T, std::size_t R>
class TileTest {
 public:
  /// row(r): the position of row r.
  template <class Row>
  HWY_INLINE TileTest(const SearchInput& in, Row row) : in_(in), rounded_(*in.rounded) {
    for (std::size_t r = 0; r < R; ++r) {
      rows_[r] = row(r);
      points_[r] = rounded_.panel(rows_[r] / RoundedPoints::kPanel) + rows_[r] % RoundedPoints::kPanel;
    }
  }

  /// Calls visit(r, v, bits) for every row and each of V panels. Bit i is set if position i of the panel is a wanted
  /// neighbour. Adds the number of pairs that float64 decided to undecided_pairs.
  template <std::size_t V, class Visit>
  HWY_INLINE void panels(const Panel* panels, std::uint64_t& undecided_pairs, Visit visit) const {
    V32 sums[R][V * kPanelVectors];
    products<V>(panels, sums);
    for (std::size_t v = 0; v < V; ++v) {
      const std::size_t first = panels[v].first();
      for (std::size_t r = 0; r < R; ++r) {
        std::uint32_t possible = 0;
        const V32 reject = hn::Set(F32(), rounded_.reject()[rows_[r]]);
        for (std::size_t j = 0; j < kPanelVectors; ++j) {
          const V32 limit = hn::Add(reject, hn::LoadU(F32(), rounded_.reject() + first + j * kLanesF32));
          // If a limit is infinite, no sum is below it.
          possible |= to_bits(hn::Not(hn::Lt(sums[r][v * kPanelVectors + j], limit))) << (j * kLanesF32);
        }
        possible &= panels[v].wanted;
        if (HWY_UNLIKELY(possible != 0)) {
          std::uint32_t certain = 0;
          const V32 accept = hn::Set(F32(), rounded_.accept()[rows_[r]]);
          for (std::size_t j = 0; j < kPanelVectors; ++j) {
            const V32 limit = hn::Add(accept, hn::LoadU(F32(), rounded_.accept() + first + j * kLanesF32));
            certain |= to_bits(hn::Ge(sums[r][v * kPanelVectors + j], limit)) << (j * kLanesF32);
          }
          const std::uint32_t open = possible & ~certain;
          if (HWY_UNLIKELY(open != 0)) {
            possible &= decide(rows_[r], first, open) | ~open;
            undecided_pairs += static_cast<std::uint32_t>(__builtin_popcount(open));
          }
        }
        visit(r, v, possible);
      }
    }
  }

 private:
  /// ⟨p, q⟩ is summed over chunks of dimensions: within a chunk in the order of the dimensions, then over the chunks in
  /// order. The bound on the error of a product in RoundedPoints depends on this order.
  template <std::size_t V>
  HWY_INLINE void products(const Panel* panels, V32 (&sums)[R][V * kPanelVectors]) const {
    const float* candidates[V];
    for (std::size_t v = 0; v < V; ++v) candidates[v] = rounded_.panel(panels[v].index);
    const std::size_t dims = rounded_.dims();
    chunk<V>(candidates, 0, HWY_MIN(dims, RoundedPoints::kChunk), sums);
    for (std::size_t first = RoundedPoints::kChunk; first < dims; first += RoundedPoints::kChunk) {
      V32 part[R][V * kPanelVectors];
      chunk<V>(candidates, first, HWY_MIN(dims, first + RoundedPoints::kChunk), part);
      for (std::size_t r = 0; r < R; ++r) {
        for (std::size_t j = 0; j < V * kPanelVectors; ++j) sums[r][j] = hn::Add(sums[r][j], part[r][j]);
      }
    }
  }

  template <std::size_t V>
  HWY_INLINE void chunk(const float* const (&candidates)[V], std::size_t first, std::size_t end,
                        V32 (&out)[R][V * kPanelVectors]) const {
    V32 sums[R][V * kPanelVectors];
    for (std::size_t r = 0; r < R; ++r) {
      for (std::size_t j = 0; j < V * kPanelVectors; ++j) sums[r][j] = hn::Zero(F32());
    }
    for (std::size_t k = first * RoundedPoints::kPanel; k < end * RoundedPoints::kPanel; k += RoundedPoints::kPanel) {
      V32 q[V * kPanelVectors];
      for (std::size_t j = 0; j < V * kPanelVectors; ++j) {
        q[j] = hn::LoadU(F32(), candidates[j / kPanelVectors] + k + j % kPanelVectors * kLanesF32);
      }
      for (std::size_t r = 0; r < R; ++r) {
        const V32 p = hn::Set(F32(), points_[r][k]);
        for (std::size_t j = 0; j < V * kPanelVectors; ++j) sums[r][j] = hn::MulAdd(p, q[j], sums[r][j]);
      }
    }
    for (std::size_t r = 0; r < R; ++r) {
      for (std::size_t j = 0; j < V * kPanelVectors; ++j) out[r][j] = sums[r][j];
    }
  }

  /// The float64 test of the undecided positions of a panel.
  HWY_NOINLINE std::uint32_t decide(std::uint32_t row, std::size_t first, std::uint32_t open) const {
    const RowTest<T, 0> test(in_, row);
    constexpr std::uint32_t kVector = (1U << kLanes64) - 1;
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < RoundedPoints::kPanel; i += kLanes64) {
      if ((open >> i & kVector) != 0) bits |= test.bits(first + i) << i;
    }
    return bits;
  }

  const SearchInput& in_;
  const RoundedPoints& rounded_;
  std::uint32_t rows_[R];
  const float* points_[R];
};

/// One row against few panels.
template <class T>
class TileRowTest {
 public:
  HWY_INLINE TileRowTest(const SearchInput& in, std::uint32_t row)
      : test_(in, [row](std::size_t) { return row; }), rounded_(*in.rounded) {}
  TileRowTest(const TileRowTest&) = delete;
  TileRowTest& operator=(const TileRowTest&) = delete;
  HWY_INLINE ~TileRowTest() {
    if (undecided_pairs_ != 0) rounded_.add_undecided_pairs(undecided_pairs_);
  }

  /// Panels of one step of panels(). A call takes one more, because callers may add two before they check the number.
  static constexpr std::size_t kMostPanels = kLanesF32 == 16 ? 4 : 2;

  /// Calls visit(panel, bits) for panels[0 … count), count <= kMostPanels + 1. bits: the wanted neighbours.
  template <class Visit>
  HWY_INLINE void panels(const Panel* panels, std::size_t count, Visit visit) const {
    std::uint32_t bits[kMostPanels + 1] = {};
    std::size_t i = 0;
    const auto keep = [&](std::size_t, std::size_t v, std::uint32_t found) HWY_ATTR { bits[i + v] = found; };
    for (; count - i >= kMostPanels; i += kMostPanels)
      test_.template panels<kMostPanels>(panels + i, undecided_pairs_, keep);
    for (; i < count; ++i) test_.template panels<1>(panels + i, undecided_pairs_, keep);
    for (i = 0; i < count; ++i) visit(panels[i], bits[i]);
  }

 private:
  TileTest<T, 1> test_;
  const RoundedPoints& rounded_;
  mutable std::uint64_t undecided_pairs_ = 0;
};

/// Counts for rows [row, end), R at a time, the remaining ones fewer at a time; see count_up_to(). start: the first
/// panel to test.
template <class T, std::size_t R>
HWY_INLINE void count_tiles(const SearchInput& in, std::uint32_t row, std::uint32_t end, std::span<const Panel> panels,
                            std::size_t start, std::uint32_t most, std::uint32_t* counts,
                            std::uint64_t& undecided_pairs) {
  for (; end - row >= R; row += R, counts += R) {
    const TileTest<T, R> test(in, [row](std::size_t r) { return row + static_cast<std::uint32_t>(r); });
    std::uint32_t found[R] = {};
    const auto count = [&](std::size_t r, std::size_t, std::uint32_t bits)
                           HWY_ATTR { found[r] += static_cast<std::uint32_t>(__builtin_popcount(bits)); };
    const auto pass = [&](std::size_t i, std::size_t last) HWY_ATTR {
      while (i < last) {
        if (last - i >= kTilePanels) {
          test.template panels<kTilePanels>(panels.data() + i, undecided_pairs, count);
          i += kTilePanels;
        } else {
          test.template panels<1>(panels.data() + i, undecided_pairs, count);
          ++i;
        }
        std::uint32_t fewest = found[0];
        for (std::size_t r = 1; r < R; ++r) fewest = HWY_MIN(fewest, found[r]);
        if (fewest >= most) return true;
      }
      return false;
    };
    if (!pass(start, panels.size())) (void)pass(0, start);
    for (std::size_t r = 0; r < R; ++r) counts[r] = HWY_MIN(found[r], most);
  }
  if constexpr (R > 1) count_tiles<T, R / 2>(in, row, end, panels, start, most, counts, undecided_pairs);
}

/// Counts the neighbours of the rows of one bundle, up to `most`: counts[0 … rows.size()). Begins with the candidates
/// next to the rows, where most neighbours are.
template <class T>
void count_up_to(const SearchInput& in, Range rows, std::span<const Range> candidates, std::uint32_t most,
                 std::uint32_t* counts) {
  thread_local std::vector<Panel> panels;
  list_panels(candidates, panels);
  const auto start = std::partition_point(panels.begin(), panels.end(), [&](const Panel& panel) HWY_ATTR {
    return panel.first() + RoundedPoints::kPanel <= rows.begin;
  });
  std::uint64_t undecided_pairs = 0;
  count_tiles<T, kTileRows>(in, rows.begin, rows.end, panels, static_cast<std::size_t>(start - panels.begin()), most,
                            counts, undecided_pairs);
  if (undecided_pairs != 0) in.rounded->add_undecided_pairs(undecided_pairs);
}

}  // namespace HWY_NAMESPACE
}  // namespace epsflow::index
HWY_AFTER_NAMESPACE();

#endif

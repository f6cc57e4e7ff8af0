#include <epsflow/index/row_search.hpp>

// Instruction sets that add nothing here, or whose vectors have no size at compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE \
  "epsflow/index/row_search.cpp"  // NOLINT: highway compiles this file once per instruction set
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include <epsflow/index/row_test-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace epsflow::index {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Input = SearchInput;
using U32 = hn::ScalableTag<std::uint32_t>;

constexpr std::size_t kLanes32 = hn::MaxLanes(U32());

/// Calls visit(first candidate, word) for all words of a row, run by run.
template <class T, std::size_t D, class Visit>
HWY_INLINE void for_each_word(const Input& in, std::uint32_t row, std::span<const Run> candidates, Visit visit) {
  const RowTest<T, D> test(in, row);
  for (const Run& run : candidates) {
    for (std::uint64_t first = run.begin; first < run.end; first += 32) visit(first, test.word(first, run.end));
  }
}

/// Counts neighbours, and keeps the words where there is a place for them.
struct BitsTask {
  std::uint32_t* words;  ///< null: count only
  std::uint32_t* counts;

  template <class T, std::size_t D>
  HWY_INLINE void row(const Input& in, std::uint32_t row, std::span<const Run> candidates) {
    std::uint32_t count = 0;
    for_each_word<T, D>(in, row, candidates, [&](std::uint64_t, std::uint32_t word) HWY_ATTR {
      if (words != nullptr) *words++ = word;
      count += static_cast<std::uint32_t>(__builtin_popcount(word));
    });
    *counts++ = count;
  }
};

struct IdsTask {
  std::uint32_t* ids;
  std::uint64_t capacity;
  std::uint32_t* counts;
  std::uint64_t found = 0;

  template <class T, std::size_t D>
  HWY_INLINE void row(const Input& in, std::uint32_t row, std::span<const Run> candidates) {
    const std::uint64_t before = found;
    for_each_word<T, D>(in, row, candidates, [&](std::uint64_t first, std::uint32_t word) HWY_ATTR {
      // A word adds at most 32 ids and a store writes a whole vector: both stay within kSlack behind the capacity.
      if (found > capacity) {
        found += static_cast<std::uint32_t>(__builtin_popcount(word));
        return;
      }
      for (std::size_t k = 0; k < 32; k += kLanes32) {
        const std::uint32_t part = (word >> k) & static_cast<std::uint32_t>((std::uint64_t{1} << kLanes32) - 1);
        if (part == 0) continue;
        const std::uint8_t bytes[8] = {static_cast<std::uint8_t>(part), static_cast<std::uint8_t>(part >> 8),
                                       static_cast<std::uint8_t>(part >> 16), static_cast<std::uint8_t>(part >> 24)};
        const auto positions = hn::Iota(U32(), static_cast<std::uint32_t>(first + k));
        hn::StoreU(hn::CompressBits(positions, bytes), U32(), ids + found);
        found += static_cast<std::uint32_t>(__builtin_popcount(part));
      }
    });
    *counts++ = static_cast<std::uint32_t>(found - before);
  }
};

template <class Task>
void run(const Input& in, Run rows, std::span<const Run> candidates, Task& task) {
  with_types(in, [&]<class T, std::size_t D>() HWY_ATTR {
    for (std::uint32_t row = rows.begin; row < rows.end; ++row) task.template row<T, D>(in, row, candidates);
  });
}

void bit_rows(const Input& in, Run rows, std::span<const Run> candidates, std::uint32_t* words, std::uint32_t* counts) {
  BitsTask task{words, counts};
  run(in, rows, candidates, task);
}

std::uint64_t id_rows(const Input& in, Run rows, std::span<const Run> candidates, std::uint32_t* ids,
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

RowSearch::RowSearch(const Grid& grid) : input_{nullptr, grid.dims(), grid.precision(), grid.eps() * grid.eps()} {
  for (std::size_t k = 0; k < grid.dims(); ++k) coordinates_.push_back(grid.coordinates<std::byte>(k));
  input_.coordinates = coordinates_.data();
}

void RowSearch::packed(Run rows, std::span<const Run> candidates, std::uint32_t* words, std::uint32_t* counts) const {
  HWY_DYNAMIC_DISPATCH(bit_rows)(input_, rows, candidates, words, counts);
}

std::uint64_t RowSearch::ids(Run rows, std::span<const Run> candidates, std::uint32_t* ids, std::uint64_t capacity,
                             std::uint32_t* counts) const {
  return HWY_DYNAMIC_DISPATCH(id_rows)(input_, rows, candidates, ids, capacity, counts);
}

void RowSearch::count(Run rows, std::span<const Run> candidates, std::uint32_t* counts) const {
  HWY_DYNAMIC_DISPATCH(bit_rows)(input_, rows, candidates, nullptr, counts);
}

std::string_view RowSearch::instruction_set() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace epsflow::index
#endif

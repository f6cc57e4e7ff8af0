#include <epsflow/parts/local_merge.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/parts/for_all.hpp>
#include <epsflow/parts/ranked_bits.hpp>

namespace epsflow::parts {
namespace {

constexpr std::uint32_t kNoRow = PartSets::kNoRow;

/// Stores only what changes: many threads ask for the same few.
void mark(std::uint8_t& flag) noexcept {
  const std::atomic_ref marked(flag);
  if (marked.load(std::memory_order_relaxed) == 0) marked.store(1, std::memory_order_relaxed);
}

void set_least(std::uint32_t& value, std::uint32_t with) noexcept {
  const std::atomic_ref least(value);
  std::uint32_t old = least.load(std::memory_order_relaxed);
  while (with < old && !least.compare_exchange_weak(old, with, std::memory_order_relaxed)) {
  }
}

/// The numbers of one part made consecutive.
NumberedSets number(std::span<const std::uint32_t> numbers, std::span<const std::uint8_t> tied, std::uint32_t all) {
  RankedBits there(std::uint64_t{all} + 1);  // and that of no cluster
  for_all(numbers.size(), [&](std::size_t k) { there.put(numbers[k]); });
  NumberedSets made;
  made.local.count = there.count();
  made.local.numbers.resize(numbers.size());
  made.shared.assign(made.local.count, 0);
  for_all(numbers.size(), [&](std::size_t k) {
    const std::uint32_t local = made.local.numbers[k] = there.rank(numbers[k]);
    if (tied[k] != 0) mark(made.shared[local]);
  });
  made.global = there.list();
  return made;
}

}  // namespace

PartSets::PartSets(PartVisit::Found&& found, std::vector<std::uint32_t>&& rows)
    : first(std::move(rows)), shared(std::move(found.shared)), ties(std::move(found.ties)) {
  first.resize(found.count, kNoRow);
}

MergedSets merge_sets(std::span<const PartView> views, std::span<const PartSets> sets) {
  std::vector<std::uint64_t> base{0};
  for (const PartSets& of_part : sets) base.push_back(base.back() + of_part.first.size());
  if (base.back() >= kNoRow) {
    throw ResourceError(format_count(base.back()) +
                        " clusters of parts are more than can be put together: raise eps or minpts");
  }
  Buffer<std::uint32_t> parent(base.back()), first(base.back());
  Buffer<std::uint8_t> tied(base.back());
  for (std::size_t p = 0; p < sets.size(); ++p) {
    for_all(sets[p].first.size(), [&](std::size_t k) {
      parent[base[p] + k] = static_cast<std::uint32_t>(base[p] + k);
      first[base[p] + k] = sets[p].first[k];
      tied[base[p] + k] = 0;
    });
  }
  const clustering::UnionFind unite(parent.span());
  for (std::size_t p = 0; p < views.size(); ++p) {
    for (std::size_t r = 0; r < views.size(); ++r) {
      const std::uint32_t* const lent = sets[p].shared.data() + views[p].lent_to[r];
      const std::uint32_t* const borrowed = sets[r].shared.data() + views[r].lent.size() + views[r].near_of[p];
      for_all(views[p].lent_to[r + 1] - views[p].lent_to[r], [&](std::size_t i) {
        if (lent[i] == United::kNoSet || borrowed[i] == United::kNoSet) return;
        const auto a = static_cast<std::uint32_t>(base[p] + lent[i]);
        const auto b = static_cast<std::uint32_t>(base[r] + borrowed[i]);
        unite.unite(a, b);
        mark(tied[a]);
        mark(tied[b]);
      });
    }
  }
  for_all(parent.size(), [&](std::size_t k) { unite.flatten(static_cast<std::uint32_t>(k)); });
  for_all(parent.size(), [&](std::size_t k) {
    if (parent[k] != k) set_least(first[parent[k]], first[k]);  // which no thread changes
  });
  // A merged cluster is where its first row is: one of those that parts have listed, ascending.
  const auto leads = [&](std::size_t p, std::size_t k) {
    return sets[p].first[k] != kNoRow && first[parent[base[p] + k]] == sets[p].first[k];
  };
  // They are sorted by stretches of rows that begin with every so many-th listed: large clusters begin early.
  constexpr std::size_t kSorted = 1 << 12;
  std::vector<std::uint32_t> begins{0};
  for (std::size_t p = 0, k = kSorted; p < sets.size(); ++p) {
    for (; k < base[p + 1]; k += kSorted) begins.push_back(sets[p].first[k - base[p]]);
  }
  std::sort(begins.begin(), begins.end());
  const std::size_t stretches = begins.size();
  begins.push_back(kNoRow);
  const auto from = [&](std::size_t p, std::size_t s) {
    const std::vector<std::uint32_t>& ascending = sets[p].first;
    return static_cast<std::size_t>(std::lower_bound(ascending.begin(), ascending.end(), begins[s]) -
                                    ascending.begin());
  };
  std::vector<std::uint64_t> before(stretches + 1, 0);
  Buffer<std::uint64_t> found(base.back());  // by stretch: a row, and behind it its cluster
  const auto found_of = [&](std::size_t s) {
    std::uint64_t* begin = found.data();
    for (std::size_t p = 0; p < sets.size(); ++p) begin += from(p, s);
    return begin;
  };
  parallel_for(stretches, [&](std::size_t s) {
    std::uint64_t* const begin = found_of(s);
    std::uint64_t* end = begin;
    for (std::size_t p = 0; p < sets.size(); ++p) {
      for (std::size_t k = from(p, s), last = from(p, s + 1); k < last; ++k) {
        if (leads(p, k)) *end++ = std::uint64_t{sets[p].first[k]} << 32 | parent[base[p] + k];
      }
    }
    std::sort(begin, end);
    before[s + 1] = static_cast<std::uint64_t>(end - begin);
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  if (before.back() > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
    throw ResourceError(format_count(before.back()) + " clusters do not fit int32 labels: raise eps or minpts");
  }
  MergedSets merged;
  merged.count = static_cast<std::uint32_t>(before.back());
  merged.first_core.resize(merged.count);
  parallel_for(stretches, [&](std::size_t s) {
    const std::uint64_t* at = found_of(s);
    for (std::uint64_t number = before[s]; number < before[s + 1]; ++number, ++at) {
      merged.first_core[number] = static_cast<std::uint32_t>(*at >> 32);
      first[static_cast<std::uint32_t>(*at)] = static_cast<std::uint32_t>(number);  // the row is known by now
    }
  });
  merged.of_parts.resize(sets.size());
  parallel_for(sets.size(), [&](std::size_t p) {
    Buffer<std::uint32_t> numbers(sets[p].first.size());
    for_all(numbers.size(), [&](std::size_t k) {
      // What has no core point that is anybody's own is of ghosts too far away to matter.
      numbers[k] = std::min(first[parent[base[p] + k]], merged.count);
    });
    merged.of_parts[p] = number(
        numbers.span(), std::span<const std::uint8_t>(tied.span()).subspan(base[p], numbers.size()), merged.count);
  });
  return merged;
}

}  // namespace epsflow::parts

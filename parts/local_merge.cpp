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

/// Stores only if the value changes, because many threads write the same few flags.
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

/// Renumbers the clusters of one part consecutively, in the order of their numbers among `all`.
NumberedSets number_consecutively(std::span<const std::uint32_t> numbers, std::span<const std::uint8_t> tied,
                                  std::uint32_t all) {
  RankedBits there(std::uint64_t{all} + 1);  // one more for the number that means no cluster
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

/// Puts the clusters of all parts into one union-find, and numbers the sets by their first rows.
class SetMerger {
 public:
  /// Throws ResourceError if 32 bits cannot number the clusters.
  SetMerger(std::span<const PartView> views, std::span<const PartSets> sets) : views_(views), sets_(sets) {
    for (const PartSets& of_part : sets) base_.push_back(base_.back() + of_part.first.size());
    if (base_.back() >= kNoRow) {
      throw ResourceError(format_count(base_.back()) +
                          " clusters of parts are more than can be put together: raise eps or minpts");
    }
    parent_ = Buffer<std::uint32_t>(base_.back());
    first_ = Buffer<std::uint32_t>(base_.back());
    tied_ = Buffer<std::uint8_t>(base_.back());
    for (std::size_t p = 0; p < sets.size(); ++p) {
      for_all(sets[p].first.size(), [&](std::size_t k) {
        parent_[base_[p] + k] = static_cast<std::uint32_t>(base_[p] + k);
        first_[base_[p] + k] = sets[p].first[k];
        tied_[base_[p] + k] = 0;
      });
    }
  }

  /// Unites clusters that share a core point, and finds the first row of each set.
  void unite() {
    const clustering::UnionFind unite(parent_.span());
    for (std::size_t p = 0; p < views_.size(); ++p) {
      for (std::size_t r = 0; r < views_.size(); ++r) {
        const std::uint32_t* const send_list = sets_[p].shared.data() + views_[p].send_begins[r];
        const std::uint32_t* const halo =
            sets_[r].shared.data() + views_[r].send_list.size() + views_[r].inner_begins[p];
        for_all(views_[p].send_begins[r + 1] - views_[p].send_begins[r], [&](std::size_t i) {
          if (send_list[i] == UnitedPart::kNoSet || halo[i] == UnitedPart::kNoSet) return;
          const auto a = static_cast<std::uint32_t>(base_[p] + send_list[i]);
          const auto b = static_cast<std::uint32_t>(base_[r] + halo[i]);
          unite.unite(a, b);
          mark(tied_[a]);
          mark(tied_[b]);
        });
      }
    }
    for_all(parent_.size(), [&](std::size_t k) { unite.flatten(static_cast<std::uint32_t>(k)); });
    for_all(parent_.size(), [&](std::size_t k) {
      if (parent_[k] != k) set_least(first_[parent_[k]], first_[k]);  // first_[k] is constant if k is not a root
    });
  }

  /// Numbers the sets by their first rows. Returns these, ascending. Throws ResourceError if int32 cannot number them.
  [[nodiscard]] std::vector<std::uint32_t> number() {
    // Sets are sorted in stretches of rows, bounded by every kSorted-th listed row: large clusters begin early.
    constexpr std::size_t kSorted = 1 << 12;
    std::vector<std::uint32_t> begins{0};
    for (std::size_t p = 0, k = kSorted; p < sets_.size(); ++p) {
      for (; k < base_[p + 1]; k += kSorted) begins.push_back(sets_[p].first[k - base_[p]]);
    }
    std::sort(begins.begin(), begins.end());
    const std::size_t stretches = begins.size();
    begins.push_back(kNoRow);
    const auto from = [&](std::size_t p, std::size_t s) {
      const std::vector<std::uint32_t>& ascending = sets_[p].first;
      return static_cast<std::size_t>(std::lower_bound(ascending.begin(), ascending.end(), begins[s]) -
                                      ascending.begin());
    };
    std::vector<std::uint64_t> before(stretches + 1, 0);
    Buffer<std::uint64_t> found(base_.back());  // by stretch: a row in the upper half, its set in the lower half
    const auto found_of = [&](std::size_t s) {
      std::uint64_t* begin = found.data();
      for (std::size_t p = 0; p < sets_.size(); ++p) begin += from(p, s);
      return begin;
    };
    parallel_for(stretches, [&](std::size_t s) {
      std::uint64_t* const begin = found_of(s);
      std::uint64_t* end = begin;
      for (std::size_t p = 0; p < sets_.size(); ++p) {
        for (std::size_t k = from(p, s), last = from(p, s + 1); k < last; ++k) {
          if (leads(p, k)) *end++ = std::uint64_t{sets_[p].first[k]} << 32 | parent_[base_[p] + k];
        }
      }
      std::sort(begin, end);
      before[s + 1] = static_cast<std::uint64_t>(end - begin);
    });
    std::partial_sum(before.begin(), before.end(), before.begin());
    if (before.back() > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
      throw ResourceError(format_count(before.back()) + " clusters do not fit int32 labels: raise eps or minpts");
    }
    std::vector<std::uint32_t> rows(before.back());
    parallel_for(stretches, [&](std::size_t s) {
      const std::uint64_t* at = found_of(s);
      for (std::uint64_t number = before[s]; number < before[s + 1]; ++number, ++at) {
        rows[number] = static_cast<std::uint32_t>(*at >> 32);
        first_[static_cast<std::uint32_t>(*at)] = static_cast<std::uint32_t>(number);  // rows has the row
      }
    });
    return rows;
  }

  /// Returns the numbers of the clusters of a part among the `count` sets.
  [[nodiscard]] NumberedSets numbers_of(std::size_t p, std::uint32_t count) const {
    Buffer<std::uint32_t> numbers(sets_[p].first.size());
    // A set without an owned core point consists of outer ghosts only. Its number is never used.
    for_all(numbers.size(), [&](std::size_t k) { numbers[k] = std::min(first_[parent_[base_[p] + k]], count); });
    return number_consecutively(numbers.span(), tied_.span().subspan(base_[p], numbers.size()), count);
  }

 private:
  /// True if the first row of the set of a cluster comes from this cluster.
  [[nodiscard]] bool leads(std::size_t p, std::size_t k) const {
    return sets_[p].first[k] != kNoRow && first_[parent_[base_[p] + k]] == sets_[p].first[k];
  }

  std::span<const PartView> views_;
  std::span<const PartSets> sets_;
  std::vector<std::uint64_t> base_{0};  ///< [parts + 1] where the clusters of each part begin
  Buffer<std::uint32_t> parent_;        ///< [clusters]
  Buffer<std::uint32_t> first_;         ///< [clusters] first row; for the root of a set its number, once that is known
  Buffer<std::uint8_t> tied_;           ///< [clusters] 1 if the cluster shares a core point with another part
};

}  // namespace

PartSets::PartSets(PartClusters&& found, std::vector<std::uint32_t>&& rows)
    : first(std::move(rows)), shared(std::move(found.shared)), ties(std::move(found.ties)) {
  first.resize(found.count, kNoRow);
}

MergedSets merge_sets(std::span<const PartView> views, std::span<const PartSets> sets) {
  SetMerger merger(views, sets);
  merger.unite();
  MergedSets merged;
  merged.first_core = merger.number();
  merged.count = static_cast<std::uint32_t>(merged.first_core.size());
  merged.of_parts.resize(sets.size());
  parallel_for(sets.size(), [&](std::size_t p) { merged.of_parts[p] = merger.numbers_of(p, merged.count); });
  return merged;
}

}  // namespace epsflow::parts

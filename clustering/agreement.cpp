#include <epsflow/clustering/agreement.hpp>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {
namespace {

constexpr std::size_t kGrain = 1 << 15;

__extension__ typedef __int128 Wide;                   // NOLINT(modernize-use-using): as in core/weights.hpp
__extension__ typedef unsigned __int128 UnsignedWide;  // NOLINT(modernize-use-using)

/// Counts of pairs of labels: a hash table with open addressing.
class LabelPairCounts {
 public:
  /// points: at least 1.
  void add(std::int32_t a, std::int32_t b, std::uint64_t points) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Overlap& slot = find(a, b);
    if (slot.points == 0) {
      ++used_;
      slot = {a, b, 0};
    }
    slot.points += points;
  }

  void append_to(std::vector<Overlap>& list) const {
    std::copy_if(slots_.begin(), slots_.end(), std::back_inserter(list), [](const Overlap& o) { return o.points > 0; });
  }

 private:
  /// Returns the slot of the pair, or the free slot for it.
  Overlap& find(std::int32_t a, std::int32_t b) {
    const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(a)} << 32 | static_cast<std::uint32_t>(b);
    std::size_t i = static_cast<std::size_t>(key * 0x9E3779B97F4A7C15ULL >> shift_);  // Fibonacci hashing
    while (slots_[i].points != 0 && (slots_[i].a != a || slots_[i].b != b)) i = (i + 1) & (slots_.size() - 1);
    return slots_[i];
  }

  void grow() {
    const std::vector<Overlap> old =
        std::exchange(slots_, std::vector<Overlap>(std::max<std::size_t>(64, 2 * slots_.size())));
    shift_ = 64 - std::countr_zero(slots_.size());
    for (const Overlap& o : old) {
      if (o.points > 0) find(o.a, o.b) = o;
    }
  }

  std::vector<Overlap> slots_;  ///< the number of slots is a power of two, at most half of them are used
  int shift_ = 0;
  std::size_t used_ = 0;
};

[[noreturn]] void throw_bad_label(std::span<const std::int32_t> labels, std::size_t i, const char* which) {
  throw UsageError(std::string(which) + " labelling has " + std::to_string(labels[i]) + " for point " +
                   std::to_string(i) + ", and labels are clusters from 0 on or -1 for noise");
}

std::vector<Overlap> count_pairs(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  if (a.size() != b.size()) {
    throw UsageError("there are " + std::to_string(a.size()) + " and " + std::to_string(b.size()) +
                     " labels: give two labellings of the same points");
  }
  if (a.size() > kMaxPoints) throw UsageError("there are more than " + std::to_string(kMaxPoints) + " labels");
  std::atomic<bool> wrong = false;
  tbb::enumerable_thread_specific<LabelPairCounts> counts;
  parallel_ranges(a.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    LabelPairCounts& mine = counts.local();
    bool bad = false;
    for (std::size_t i = begin; i < end;) {
      std::size_t next = i + 1;
      while (next < end && a[next] == a[i] && b[next] == b[i]) ++next;
      bad = bad || a[i] < kNoise || b[i] < kNoise;
      mine.add(a[i], b[i], next - i);
      i = next;
    }
    if (bad) wrong = true;
  });
  if (wrong) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] < kNoise) throw_bad_label(a, i, "the first");
      if (b[i] < kNoise) throw_bad_label(b, i, "the second");
    }
  }
  std::vector<Overlap> overlaps;
  for (const LabelPairCounts& part : counts) part.append_to(overlaps);
  return overlaps;
}

template <class Label>
std::vector<LabelCount> counts_of_runs(std::span<const Overlap> overlaps, Label&& label) {
  std::vector<LabelCount> counts;
  for (const Overlap& o : overlaps) {
    if (counts.empty() || counts.back().label != label(o)) counts.push_back({label(o), 0});
    counts.back().points += o.points;
  }
  return counts;
}

std::uint64_t sum_of_squares(auto counts) {
  std::uint64_t sum = 0;
  for (const auto& c : counts) sum += c.points * c.points;
  return sum;
}

/// Counts ordered pairs of different points. n² fits in 64 bits, products of two numbers of pairs in 126, and the
/// denominator, which is at most n⁴, in 128.
double adjusted_rand(const Contingency& table) {
  const std::uint64_t n = table.points();
  const std::uint64_t both = sum_of_squares(table.overlaps());
  const std::uint64_t of_a = sum_of_squares(table.a());
  const std::uint64_t of_b = sum_of_squares(table.b());
  const std::uint64_t only_a = of_a - both;  // pairs together in a but not in b
  const std::uint64_t only_b = of_b - both;
  if (only_a == 0 && only_b == 0) return 1;
  const std::uint64_t together = both - n;
  const std::uint64_t apart = n * n - of_a - only_b;
  const Wide numerator = Wide{together} * apart - Wide{only_a} * only_b;
  const UnsignedWide denominator = UnsignedWide{together + only_a} * (only_a + apart) +  //
                                   UnsignedWide{together + only_b} * (only_b + apart);
  return static_cast<double>(2 * static_cast<long double>(numerator) / static_cast<long double>(denominator));
}

/// Each term is 0 if two classes have the same points, so the sum is exactly 0 for equal partitions.
double variation_of_information(const Contingency& table) {
  long double sum = 0;
  std::size_t i = 0;
  const std::span<const LabelCount> of_b = table.b();
  for (const Overlap& o : table.overlaps()) {
    while (table.a()[i].label != o.a) ++i;
    const auto b = std::lower_bound(of_b.begin(), of_b.end(), o.b,
                                    [](const LabelCount& c, std::int32_t label) { return c.label < label; });
    const auto points = static_cast<long double>(o.points);
    sum += points * (std::log(static_cast<long double>(table.a()[i].points) / points) +
                     std::log(static_cast<long double>(b->points) / points));
  }
  return table.points() == 0 ? 0 : static_cast<double>(sum / static_cast<long double>(table.points()));
}

double kept(const Contingency& table) {
  std::uint64_t clustered = 0;
  for (const LabelCount& c : table.a()) clustered += c.label == kNoise ? 0 : c.points;
  if (clustered == 0) return 1;
  std::uint64_t sum = 0;
  std::uint64_t most = 0;
  std::int32_t cluster = kNoise;
  for (const Overlap& o : table.overlaps()) {
    if (o.a == kNoise) continue;
    if (o.a != cluster) sum += std::exchange(most, 0);
    cluster = o.a;
    if (o.b != kNoise) most = std::max(most, o.points);
  }
  return static_cast<double>(sum + most) / static_cast<double>(clustered);
}

}  // namespace

Contingency::Contingency(std::span<const std::int32_t> a, std::span<const std::int32_t> b)
    : Contingency(count_pairs(a, b)) {}

Contingency::Contingency(std::vector<Overlap> overlaps) : overlaps_(std::move(overlaps)) {
  std::erase_if(overlaps_, [](const Overlap& o) { return o.points == 0; });
  for (const Overlap& o : overlaps_) {
    if (o.a < kNoise || o.b < kNoise) {
      throw UsageError("an overlap is of the labels " + std::to_string(o.a) + " and " + std::to_string(o.b) +
                       ", and labels are clusters from 0 on or -1 for noise");
    }
    if (o.points > kMaxPoints - points_)
      throw UsageError("overlaps have more than " + std::to_string(kMaxPoints) + " points");
    points_ += o.points;
  }
  tbb::parallel_sort(overlaps_.begin(), overlaps_.end(),
                     [](const Overlap& x, const Overlap& y) { return std::tie(x.b, x.a) < std::tie(y.b, y.a); });
  b_ = counts_of_runs(overlaps_, [](const Overlap& o) { return o.b; });
  tbb::parallel_sort(overlaps_.begin(), overlaps_.end(),
                     [](const Overlap& x, const Overlap& y) { return std::tie(x.a, x.b) < std::tie(y.a, y.b); });
  a_ = counts_of_runs(overlaps_, [](const Overlap& o) { return o.a; });
  std::size_t end = 0;
  for (const Overlap& o : overlaps_) {
    if (end > 0 && overlaps_[end - 1].a == o.a && overlaps_[end - 1].b == o.b) {
      overlaps_[end - 1].points += o.points;
    } else {
      overlaps_[end++] = o;
    }
  }
  overlaps_.resize(end);
}

Contingency Contingency::swapped() const {
  std::vector<Overlap> overlaps = overlaps_;
  for (Overlap& o : overlaps) std::swap(o.a, o.b);
  return Contingency(std::move(overlaps));
}

Agreement agreement(const Contingency& contingency) {
  const double variation = variation_of_information(contingency);
  const auto n = static_cast<double>(contingency.points());
  return {.adjusted_rand = adjusted_rand(contingency),
          .variation = variation,
          .normalised_variation = n < 2 ? 0 : std::min(1.0, variation / std::log(n)),
          .kept = kept(contingency),
          .kept_back = kept(contingency.swapped())};
}

std::vector<Fate> fates(const Contingency& contingency) {
  std::vector<Fate> all;
  for (const LabelCount& c : contingency.a()) all.push_back({.cluster = c.label, .points = c.points});
  std::size_t i = 0;
  for (const Overlap& o : contingency.overlaps()) {
    while (all[i].cluster != o.a) ++i;
    if (o.b == kNoise) {
      all[i].noise = o.points;
    } else {
      all[i].became.push_back({o.b, o.points});
    }
  }
  for (Fate& fate : all) {
    std::stable_sort(fate.became.begin(), fate.became.end(),
                     [](const LabelCount& x, const LabelCount& y) { return x.points > y.points; });
  }
  return all;
}

}  // namespace epsflow

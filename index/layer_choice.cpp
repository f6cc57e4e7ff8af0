#include <epsflow/index/layer_choice.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include <epsflow/core/parallel.hpp>

namespace epsflow::index {
namespace {

/// The points of a sample in parts: a part has equal bins of all functions chosen so far.
class SampleParts {
  struct Slot {
    std::uint32_t key = 0;
    std::uint32_t count = 0;
  };
  static constexpr unsigned kSlotBits = 12;
  static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;
  static_assert(kSlots >= 2 * kMostSamplePoints);

 public:
  /// Memory of count_pairs(), in bytes.
  static constexpr std::uint64_t kBytes = kSlots * sizeof(Slot);

  explicit SampleParts(std::size_t n) : part_of_(n) {}

  /// Returns the number of pairs of points that are still together if a candidate divides the parts: Σ count² over its
  /// bins within them. MiSTIC's Σ (count − mean)² is this less n²/bins, which prefers few bins, and a single bin to
  /// all.
  [[nodiscard]] std::uint64_t count_pairs(const LayerCandidate& candidate) const {
    std::vector<Slot> slots(kSlots);
    std::uint64_t squares = 0;
    for (std::size_t i = 0; i < part_of_.size(); ++i) {
      const std::uint32_t key = part_in(candidate, i) + 1;  // 0: an empty slot
      std::size_t at = key * 0x9E3779B1U >> (32 - kSlotBits);
      while (slots[at].key != key && slots[at].key != 0) at = (at + 1) % kSlots;
      slots[at].key = key;
      squares += 2 * std::uint64_t{slots[at].count++} + 1;
    }
    return squares;
  }

  void divide(const LayerCandidate& candidate) {
    for (std::size_t i = 0; i < part_of_.size(); ++i) part_of_[i] = part_in(candidate, i);
    std::vector<std::uint32_t> parts = part_of_;
    std::ranges::sort(parts);
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    for (std::uint32_t& part : part_of_) {
      part = static_cast<std::uint32_t>(std::ranges::lower_bound(parts, part) - parts.begin());
    }
  }

 private:
  [[nodiscard]] std::uint32_t part_in(const LayerCandidate& candidate, std::size_t i) const {
    return part_of_[i] << kMostLayerBits | candidate.bins[i];
  }

  std::vector<std::uint32_t> part_of_;  ///< below kMostSamplePoints
};

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// The part of the candidates' values that the chosen functions do not explain: values at some points of the sample,
/// minus the mean. The component along each chosen function is subtracted (Gram and Schmidt).
class Residuals {
 public:
  Residuals(std::span<const LayerCandidate> candidates, std::span<const std::size_t> taken)
      : taken_(candidates.size()) {
    for (const LayerCandidate& candidate : candidates) {
      const std::size_t stride = std::max<std::size_t>(1, candidate.values.size() / kRankingPoints);
      std::vector<double> values;
      for (std::size_t i = 0; i < candidate.values.size(); i += stride) values.push_back(candidate.values[i]);
      const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
      for (double& x : values) x -= mean;
      residuals_.push_back(std::move(values));
    }
    for (const std::size_t c : taken) taken_[c] = 1;
    for (const std::size_t c : taken) take_out(c);
  }

  void take(std::size_t c) {
    taken_[c] = 1;
    take_out(c);
  }

  /// Returns the candidate with the largest residual among those that are not taken; nullopt if all are taken.
  [[nodiscard]] std::optional<std::size_t> largest() const {
    std::optional<std::size_t> best;
    double most = -1;
    for (std::size_t c = 0; c < residuals_.size(); ++c) {
      const double square = taken_[c] != 0 ? -1 : dot(residuals_[c], residuals_[c]);
      if (square > most) {
        most = square;
        best = c;
      }
    }
    return best;
  }

 private:
  /// Subtracts the component along candidate c from the residuals of the candidates that are not taken.
  void take_out(std::size_t c) {
    const double square = dot(residuals_[c], residuals_[c]);
    if (square == 0) return;
    for (std::size_t other = 0; other < residuals_.size(); ++other) {
      if (taken_[other] != 0) continue;
      const double share = dot(residuals_[other], residuals_[c]) / square;
      for (std::size_t i = 0; i < residuals_[c].size(); ++i) residuals_[other][i] -= share * residuals_[c][i];
    }
  }

  std::vector<std::vector<double>> residuals_;
  std::vector<char> taken_;
};

}  // namespace

std::vector<std::size_t> choose_sorting(std::span<const LayerCandidate> candidates, const CancelToken& cancel) {
  std::vector<std::size_t> chosen;
  std::vector<char> taken(candidates.size());
  SampleParts parts(candidates.front().bins.size());
  while (chosen.size() < std::min<std::size_t>(kMostLayers, candidates.size())) {
    cancel.check();
    std::vector<std::uint64_t> pairs(candidates.size(), std::numeric_limits<std::uint64_t>::max());
    parallel_for(candidates.size(), [&](std::size_t c) {
      if (taken[c] == 0) pairs[c] = parts.count_pairs(candidates[c]);
    });
    const auto best = static_cast<std::size_t>(std::ranges::min_element(pairs) - pairs.begin());
    parts.divide(candidates[best]);
    taken[best] = 1;
    chosen.push_back(best);
  }
  return chosen;
}

void add_bounding(std::span<const LayerCandidate> candidates, std::vector<std::size_t>& chosen) {
  Residuals residuals(candidates, chosen);
  while (chosen.size() < std::min<std::size_t>(kMostFunctions, candidates.size())) {
    const std::optional<std::size_t> best = residuals.largest();
    if (!best) break;
    residuals.take(*best);
    chosen.push_back(*best);
  }
}

std::uint64_t choosing_bytes() noexcept {
  return kMostCandidates * (kRankingPoints * sizeof(double) + SampleParts::kBytes);
}

}  // namespace epsflow::index

#include <epsflow/clustering/verify.hpp>

#include <algorithm>
#include <limits>

#include <epsflow/clustering/range_search.hpp>

namespace epsflow::clustering {
namespace {

class Verifier {
 public:
  Verifier(PointsView points, const Space& space, const Variant& variant, std::span<const std::int32_t> labels,
           std::size_t most, const WholeWeights* weights)
      : search_(points, space, variant.eps), core_(points.size()), labels_(labels), most_(most) {
    for (std::uint32_t x = 0; x < core_.size(); ++x) {
      std::uint32_t count = 0;
      WeightSum sum = 0;
      // Weights may be negative, so all of them count.
      const auto wanted = [&](std::uint32_t) { return weights != nullptr || count < variant.minpts; };
      search_.for_each(x, wanted, [&](std::uint32_t y) {
        ++count;
        if (weights != nullptr) sum += (*weights)[y];
      });
      core_[x] = weights != nullptr ? weights->weight_of(sum) >= variant.minpts : count >= variant.minpts;
    }
  }

  std::vector<std::string> run() {
    if (labels_.size() != core_.size()) {
      return {std::to_string(labels_.size()) + " labels for " + std::to_string(core_.size()) + " points"};
    }
    check_neighbors();
    if (findings_.empty()) check_connected();
    if (findings_.empty()) check_numbering();
    return std::move(findings_);
  }

 private:
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(core_.size()); }

  void find(std::uint32_t x, const std::string& what) {
    if (findings_.size() < most_) {
      findings_.push_back("point " + std::to_string(x) + " (label " + std::to_string(labels_[x]) + "): " + what);
    }
  }

  void check_neighbors() {
    constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
    for (std::uint32_t x = 0; x < size() && findings_.size() < most_; ++x) {
      std::int32_t lowest = kNone;
      const auto wanted = [&](std::uint32_t y) {
        return core_[y] && (core_[x] ? labels_[y] != labels_[x] : labels_[y] < lowest);
      };
      search_.for_each(x, wanted, [&](std::uint32_t y) {
        if (core_[x]) {
          find(x, "core neighbour " + std::to_string(y) + " carries " + std::to_string(labels_[y]));
        } else {
          lowest = labels_[y];
        }
      });
      if (core_[x]) {
        if (labels_[x] < 0) find(x, "is core and carries no cluster");
        // Checked here, so that later steps may count clusters in arrays.
        if (labels_[x] >= std::int64_t{size()}) find(x, "carries a cluster number that so few points cannot have");
      } else if (lowest == kNone) {
        if (labels_[x] != kNoise) find(x, "has no core neighbour and is not noise");
      } else if (labels_[x] != lowest) {
        find(x, "is a border point of cluster " + std::to_string(lowest));
      }
    }
  }

  /// Searches every core point once, to spread its component: a depth-first walk with an explicit stack.
  void check_connected() {
    std::vector<bool> seen(size());
    std::vector<bool> started;
    std::vector<std::uint32_t> stack;
    for (std::uint32_t x = 0; x < size(); ++x) {
      if (!core_[x] || seen[x]) continue;
      const auto cluster = static_cast<std::size_t>(labels_[x]);
      if (cluster >= started.size()) started.resize(cluster + 1);
      if (started[cluster]) find(x, "is not connected through core points to the rest of its cluster");
      started[cluster] = true;
      seen[x] = true;
      stack.push_back(x);
      while (!stack.empty()) {
        const std::uint32_t top = stack.back();
        stack.pop_back();
        const auto wanted = [&](std::uint32_t y) { return core_[y] && !seen[y]; };
        search_.for_each(top, wanted, [&](std::uint32_t y) {
          seen[y] = true;
          stack.push_back(y);
        });
      }
    }
  }

  void check_numbering() {
    constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> smallest;
    for (std::uint32_t x = 0; x < size(); ++x) {
      if (!core_[x]) continue;
      const auto cluster = static_cast<std::size_t>(labels_[x]);
      if (cluster >= smallest.size()) smallest.resize(cluster + 1, kNone);
      smallest[cluster] = std::min(smallest[cluster], x);
    }
    for (std::size_t c = 0; c < smallest.size() && findings_.size() < most_; ++c) {
      if (smallest[c] == kNone) {
        findings_.push_back("cluster " + std::to_string(c) + " has no core point");
      } else if (c > 0 && smallest[c - 1] > smallest[c]) {
        findings_.push_back("cluster " + std::to_string(c) + " begins at point " + std::to_string(smallest[c]) +
                            ", before cluster " + std::to_string(c - 1) + " at point " +
                            std::to_string(smallest[c - 1]));
      }
    }
  }

  RangeSearch search_;
  std::vector<bool> core_;
  std::span<const std::int32_t> labels_;
  std::size_t most_;
  std::vector<std::string> findings_;
};

}  // namespace

std::vector<std::string> verify(PointsView points, const Variant& variant, std::span<const std::int32_t> labels,
                                std::size_t most, const Space& space, const WholeWeights* weights) {
  return Verifier(points, space, variant, labels, most, weights).run();
}

}  // namespace epsflow::clustering

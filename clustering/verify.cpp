#include <epsflow/clustering/verify.hpp>

#include <algorithm>
#include <limits>

namespace epsflow::clustering {
namespace {

class Verifier {
 public:
  Verifier(const ClusterInput& input, std::uint32_t minpts, std::span<const std::int32_t> labels, std::size_t most)
      : table_(input.table), order_(input.order), minpts_(minpts), labels_(labels), most_(most) {}

  std::vector<std::string> run() {
    if (labels_.size() != table_.size()) {
      return {std::to_string(labels_.size()) + " labels for " + std::to_string(table_.size()) + " points"};
    }
    check_rows();
    if (findings_.empty()) check_connected();
    if (findings_.empty()) check_numbering();
    return std::move(findings_);
  }

 private:
  [[nodiscard]] bool core(std::uint32_t x) const { return table_.counts()[x] >= minpts_; }
  [[nodiscard]] std::int32_t label(std::uint32_t x) const { return labels_[order_[x]]; }

  void find(std::uint32_t x, const std::string& what) {
    if (findings_.size() < most_) {
      findings_.push_back("point " + std::to_string(order_[x]) + " (label " + std::to_string(label(x)) + "): " + what);
    }
  }

  void check_rows() {
    table_.for_each_row({0, table_.size()}, [&](std::uint32_t x, const RowView& row) {
      std::int32_t lowest = std::numeric_limits<std::int32_t>::max();
      bool itself = false;
      row.for_each([&](std::uint32_t y) {
        itself |= x == y;
        if (core(y)) lowest = std::min(lowest, label(y));
        if (core(x) && core(y) && label(x) != label(y)) {
          find(x, "core neighbour " + std::to_string(order_[y]) + " carries " + std::to_string(label(y)));
        }
      });
      if (!itself) find(x, "is no neighbour of itself in the table");
      if (core(x)) {
        if (label(x) < 0) find(x, "is core and carries no cluster");
        // Checked here, so that what follows may count clusters in arrays.
        if (label(x) >= std::int64_t{table_.size()}) find(x, "carries a cluster number that so few points cannot have");
      } else if (lowest == std::numeric_limits<std::int32_t>::max()) {
        if (label(x) != kNoise) find(x, "has no core neighbour and is not noise");
      } else if (label(x) != lowest) {
        find(x, "is a border point of cluster " + std::to_string(lowest));
      }
    });
  }

  /// Every row is read once to spread its component: a depth-first walk with an explicit stack.
  void check_connected() {
    std::vector<bool> seen(table_.size());
    std::vector<bool> started;
    std::vector<std::uint32_t> stack;
    for (std::uint32_t x = 0; x < table_.size(); ++x) {
      if (!core(x) || seen[x]) continue;
      const auto cluster = static_cast<std::size_t>(label(x));
      if (cluster >= started.size()) started.resize(cluster + 1);
      if (started[cluster]) find(x, "is not connected through core points to the rest of its cluster");
      started[cluster] = true;
      seen[x] = true;
      stack.push_back(x);
      while (!stack.empty()) {
        const std::uint32_t top = stack.back();
        stack.pop_back();
        table_.for_each_row({top, top + 1}, [&](std::uint32_t, const RowView& row) {
          row.for_each([&](std::uint32_t y) {
            if (!core(y) || seen[y]) return;
            seen[y] = true;
            stack.push_back(y);
          });
        });
      }
    }
  }

  void check_numbering() {
    constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> smallest;
    for (std::uint32_t x = 0; x < table_.size(); ++x) {
      if (!core(x)) continue;
      const auto cluster = static_cast<std::size_t>(label(x));
      if (cluster >= smallest.size()) smallest.resize(cluster + 1, kNone);
      smallest[cluster] = std::min(smallest[cluster], order_[x]);
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

  const NeighborTable& table_;
  std::span<const std::uint32_t> order_;
  std::uint32_t minpts_;
  std::span<const std::int32_t> labels_;
  std::size_t most_;
  std::vector<std::string> findings_;
};

}  // namespace

std::vector<std::string> verify(const ClusterInput& input, std::uint32_t minpts, std::span<const std::int32_t> labels,
                                std::size_t most) {
  return Verifier(input, minpts, labels, most).run();
}

}  // namespace epsflow::clustering

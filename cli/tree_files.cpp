#include <epsflow/cli/tree_files.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/readers.hpp>

namespace epsflow::cli {
namespace {

/// The number of points of a cluster below an eps.
struct TreeStep {
  std::uint32_t cluster;
  double eps;
  std::uint32_t size;
};

constexpr std::size_t kSteps = 16;

/// Returns how clusters get smaller: for each at most kSteps steps, whose eps have even ratios, and its death. A point
/// counts until the first step whose eps is not above the one at which it leaves. O(n).
std::vector<TreeStep> steps_of(const CondensedTree& tree) {
  const std::span<const CondensedCluster> clusters = tree.clusters();
  struct Steps {
    double low = std::numeric_limits<double>::infinity();  ///< the smallest eps above the death at which a point leaves
    double high = 0;
    std::array<double, kSteps> eps = {};  ///< descending
    std::array<std::uint32_t, kSteps> leaving = {};
  };
  std::vector<Steps> all(clusters.size());
  const auto for_each_early = [&](auto take) {
    for (std::size_t p = 0; p < tree.cluster_of().size(); ++p) {
      const std::uint32_t c = tree.cluster_of()[p];
      if (tree.leaves_at()[p] > clusters[c].death) take(all[c], tree.leaves_at()[p]);
    }
  };
  for_each_early([](Steps& of, double eps) {
    of.low = std::min(of.low, eps);
    of.high = std::max(of.high, eps);
  });
  for (Steps& of : all) {
    for (std::size_t k = 0; k < kSteps; ++k) {
      const double share = static_cast<double>(k) / (kSteps - 1);
      const double eps = std::pow(of.low, share) * std::pow(of.high, 1 - share);
      of.eps[k] = std::max(of.low, std::min(of.high, eps));
    }
  }
  for_each_early([](Steps& of, double eps) {
    const auto step = std::ranges::lower_bound(of.eps, eps, std::greater());
    ++of.leaving[static_cast<std::size_t>(step - of.eps.begin())];
  });
  std::vector<TreeStep> steps;
  for (std::uint32_t c = 0; c < clusters.size(); ++c) {
    std::uint32_t size = clusters[c].size;
    for (std::size_t k = 0; k < kSteps; ++k) {
      if (all[c].leaving[k] == 0) continue;
      size -= all[c].leaving[k];
      steps.push_back({c, all[c].eps[k], size});
    }
    steps.push_back({c, clusters[c].death, 0});
  }
  return steps;
}

std::int64_t parent_of(std::uint32_t node) noexcept { return node == kNoNode ? -1 : std::int64_t{node}; }

std::string prefix_of(const Variant& variant) {
  return fmt::format("minpts_{}_size_{}/", variant.minpts, variant.min_cluster_size);
}

}  // namespace

template <class Row, class Value>
void TreeWriter::add(const std::string& name, std::span<const Row> rows, Value value) {
  using T = std::decay_t<std::invoke_result_t<Value, const Row&>>;
  constexpr const char* kType = std::is_same_v<T, double>         ? "<f8"
                                : std::is_same_v<T, std::int32_t> ? "<i4"
                                : std::is_same_v<T, std::int64_t> ? "<i8"
                                                                  : "<u4";
  std::vector<T> values(rows.size());
  std::ranges::transform(rows, values.begin(), value);
  out_.add(name, {io::npy_vector_header(kType, rows.size()), std::as_bytes(std::span(values))});
}

void TreeWriter::add(const Hierarchy& tree) {
  const std::string name = fmt::format("minpts_{}/", tree.minpts());
  const std::span<const TreeNode> nodes = tree.nodes();
  out_.add(name + "core_distance", io::npy_numbers(tree.core_distances()));
  add(name + "parent", tree.parents(), parent_of);
  add(name + "node_eps", nodes, &TreeNode::eps);
  add(name + "node_parent", nodes, [](const TreeNode& node) { return parent_of(node.parent); });
  add(name + "node_size", nodes, &TreeNode::size);
  add(name + "node_first_id", nodes, &TreeNode::first_id);
}

void TreeWriter::add(const Variant& variant, const CondensedTree& tree, const std::vector<std::uint32_t>& selected) {
  const std::string name = prefix_of(variant);
  const std::span<const CondensedCluster> clusters = tree.clusters();
  add(name + "parent", clusters, [](const CondensedCluster& cluster) { return parent_of(cluster.parent); });
  add(name + "birth", clusters, &CondensedCluster::birth);
  add(name + "death", clusters, &CondensedCluster::death);
  add(name + "size", clusters, &CondensedCluster::size);
  add(name + "first_id", clusters, &CondensedCluster::first_id);
  add(name + "stability", clusters, &CondensedCluster::stability);
  std::vector<std::int32_t> labels(clusters.size(), kNoise);
  for (std::size_t label = 0; label < selected.size(); ++label) {
    labels[selected[label]] = static_cast<std::int32_t>(label);
  }
  add(name + "label", std::span<const std::int32_t>(labels), std::identity());
  const std::vector<TreeStep> steps = steps_of(tree);
  const std::span<const TreeStep> rows(steps);
  add(name + "step_cluster", rows, &TreeStep::cluster);
  add(name + "step_eps", rows, &TreeStep::eps);
  add(name + "step_size", rows, &TreeStep::size);
}

TreeReader::TreeReader(std::filesystem::path file) : file_(std::move(file)), columns_(io::open_npz(file_)) {}

std::vector<report::TreeCluster> TreeReader::read(const Variant& variant) const {
  const auto columns = [&](std::vector<std::string> names) {
    for (std::string& name : names) name.insert(0, prefix_of(variant));
    return columns_(std::move(names));
  };
  const auto number = [&](const io::FilePoints& table, std::size_t row, std::size_t column, double least, double most) {
    const double value = table.view().at(row, column);
    if (value >= least && value <= most && value == std::floor(value)) return static_cast<std::int64_t>(value);
    throw InputError(file_.string() + " was not written by epsflow, or is damaged: it has a number of " +
                     format_number(value));
  };
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  // Births are not read. The root is born at infinity, and any other cluster at the death of its parent.
  const io::FilePoints clusters = columns({"parent", "death", "size", "label"});
  std::vector<report::TreeCluster> all;
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    const std::int64_t parent = number(clusters, c, 0, c == 0 ? -1 : 0, static_cast<double>(c) - 1);
    all.push_back(
        {.parent = parent,
         .birth = parent < 0 ? std::numeric_limits<double>::infinity() : all[static_cast<std::size_t>(parent)].death,
         .death = clusters.view().at(c, 1),
         .size = static_cast<std::uint32_t>(
             number(clusters, c, 2, 1, parent < 0 ? kMost : all[static_cast<std::size_t>(parent)].size)),
         .label = static_cast<std::int32_t>(number(clusters, c, 3, kNoise, kMost / 2))});
  }
  const io::FilePoints steps = columns({"step_cluster", "step_eps", "step_size"});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto c = static_cast<std::size_t>(number(steps, i, 0, 0, static_cast<double>(all.size()) - 1));
    all[c].steps.emplace_back(steps.view().at(i, 1), static_cast<std::uint32_t>(number(steps, i, 2, 0, kMost)));
  }
  return all;
}

}  // namespace epsflow::cli

#include <epsflow/cli/structure_files.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <epsflow/cli/output.hpp>
#include <epsflow/io/read/readers.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/row_numbers.hpp>
#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::cli {
namespace {

InputError damaged(const std::filesystem::path& file, const std::string& fault) {
  return InputError(file.string() + " was not written by epsflow, or is damaged" + fault);
}

/// Returns a number of a file. Throws InputError unless it is whole, and from least to most. what: its kind.
std::int64_t whole_number(const std::filesystem::path& file, const char* what, double value, double least,
                          double most) {
  if (value >= least && value <= most && value == std::floor(value)) return static_cast<std::int64_t>(value);
  throw damaged(file, fmt::format(": it has a {} of {}", what, format_number(value)));
}

/// Writes an array with a value of each row: float64, (u)int32 or, for int64 and counts, int64.
template <class Row, class Value = std::identity>
void add_array(io::NpzWriter& out, const std::string& name, std::span<const Row> rows, Value value = {}) {
  using T = std::decay_t<std::invoke_result_t<Value, const Row&>>;
  constexpr const char* kType = std::is_same_v<T, double>          ? "<f8"
                                : std::is_same_v<T, std::int32_t>  ? "<i4"
                                : std::is_same_v<T, std::uint32_t> ? "<u4"
                                                                   : "<i8";
  static_assert(sizeof(T) == static_cast<std::size_t>(kType[2] - '0'));
  std::vector<T> values(rows.size());
  std::ranges::transform(rows, values.begin(), value);
  out.add(name, {io::npy_vector_header(kType, rows.size()), std::as_bytes(std::span(values))});
}

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

void write_map(const std::filesystem::path& file, const Lineage& lineage, std::span<const CellScore> scores) {
  std::string text = "eps,minpts,clusters,noise,core,border,largest,agreement_wider,agreement_looser,relative_validity";
  const auto add_agreement = [&](std::size_t cell, const std::optional<std::size_t>& other) {
    text += ",";
    if (other) text += format_number(agreement(lineage.contingency(cell, *other)).adjusted_rand);
  };
  const std::vector<double> validity = relative_validity(lineage);
  text += scores.empty() ? "\n" : ",score,credit\n";
  for (std::size_t i = 0; i < lineage.cells().size(); ++i) {
    const LineageCell& cell = lineage.cell(i);
    text += format_number(cell.variant.eps) + "," + std::to_string(cell.variant.minpts);
    const LabelSummary& s = cell.summary;
    for (const std::uint64_t count : {s.clusters, s.noise, s.core, s.border, s.largest}) {
      text += "," + std::to_string(count);
    }
    add_agreement(i, cell.wider);
    add_agreement(i, cell.looser);
    text += ",";
    if (!std::isnan(validity[i])) text += format_number(validity[i]);
    if (!scores.empty()) text += "," + format_number(scores[i].score) + "," + format_number(scores[i].credit);
    text += "\n";
  }
  io::write_text_file(file, text);
}

std::vector<std::pair<Variant, double>> read_scores(const std::filesystem::path& file) {
  const io::FilePoints map = io::read_points(file, {.columns = {"eps", "minpts", "score"}});
  std::vector<std::pair<Variant, double>> scores;
  for (std::size_t i = 0; i < map.size(); ++i) {
    const std::int64_t minpts = whole_number(file, "minpts", map.view().at(i, 1), 1, 0xFFFFFFFFU);
    scores.push_back({{map.view().at(i, 0), static_cast<std::uint32_t>(minpts)}, map.view().at(i, 2)});
  }
  return scores;
}

void write_lineage(const std::filesystem::path& file, const Lineage& lineage, const io::PointsOrigin& origin,
                   std::uint64_t points) {
  io::NpzWriter out(file, file);
  const std::span<const LineageCell> cells = lineage.cells();
  const auto cell_or_none = [](const std::optional<std::size_t>& i) { return i ? static_cast<std::int64_t>(*i) : -1; };
  add_array(out, "eps", cells, [](const LineageCell& cell) { return cell.variant.eps; });
  add_array(out, "minpts", cells, [](const LineageCell& cell) { return cell.variant.minpts; });
  add_array(out, "clusters", cells, [](const LineageCell& cell) { return cell.summary.clusters; });
  add_array(out, "core", cells, [](const LineageCell& cell) { return cell.summary.core; });
  add_array(out, "noise", cells, [](const LineageCell& cell) { return cell.summary.noise; });
  add_array(out, "wider", cells, [&](const LineageCell& cell) { return cell_or_none(cell.wider); });
  add_array(out, "looser", cells, [&](const LineageCell& cell) { return cell_or_none(cell.looser); });

  std::vector<std::uint32_t> core_points, size;
  std::vector<std::int64_t> offsets{0}, first_core;
  std::vector<std::int32_t> parent_eps, parent_minpts;
  const std::vector<std::int64_t> rows =
      origin.renumbered() ? io::row_numbers(origin, points) : std::vector<std::int64_t>();
  const auto add_ancestors = [](std::vector<std::int32_t>& to, const std::vector<std::uint32_t>& ancestors,
                                std::size_t count) {
    // Clusters of cells at the edge have no parents.
    if (ancestors.empty()) to.insert(to.end(), count, -1);
    to.insert(to.end(), ancestors.begin(), ancestors.end());
  };
  for (const LineageCell& cell : cells) {
    for (const std::uint32_t point : cell.first_core) first_core.push_back(rows.empty() ? point : rows[point]);
    core_points.insert(core_points.end(), cell.core.begin(), cell.core.end());
    size.insert(size.end(), cell.size.begin(), cell.size.end());
    add_ancestors(parent_eps, cell.parent_eps, cell.clusters());
    add_ancestors(parent_minpts, cell.parent_minpts, cell.clusters());
    offsets.push_back(static_cast<std::int64_t>(first_core.size()));
  }
  add_array(out, "offsets", std::span(std::as_const(offsets)));
  add_array(out, "first_core", std::span(std::as_const(first_core)));
  add_array(out, "core_points", std::span(std::as_const(core_points)));
  add_array(out, "size", std::span(std::as_const(size)));
  add_array(out, "parent_eps", std::span(std::as_const(parent_eps)));
  add_array(out, "parent_minpts", std::span(std::as_const(parent_minpts)));
  out.close();
}

Lineage read_lineage(const std::filesystem::path& file) {
  const auto read = [&](std::vector<std::string> columns) {
    return io::read_points(file, {.columns = std::move(columns)});
  };
  const io::FilePoints cells = read({"eps", "minpts", "clusters", "core", "noise", "wider", "looser"});
  const io::FilePoints offsets = read({"offsets"});
  std::optional<io::FilePoints> clusters;
  const auto number = [&](const io::FilePoints& table, std::size_t row, std::size_t column, double least = 0) {
    return whole_number(file, "count", table.view().at(row, column), least, 0xFFFFFFFFU);
  };
  constexpr double kNone = -1;
  const auto cell_in = [](std::int64_t index) {
    return index < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(index));
  };
  if (offsets.size() != cells.size() + 1) throw damaged(file, "");
  if (number(offsets, cells.size(), 0) > 0) {
    clusters = read({"first_core", "core_points", "size", "parent_eps", "parent_minpts"});
  }
  std::vector<LineageCell> all(cells.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    LineageCell& cell = all[i];
    cell.variant = {cells.view().at(i, 0), static_cast<std::uint32_t>(number(cells, i, 1))};
    cell.wider = cell_in(number(cells, i, 5, kNone));
    cell.looser = cell_in(number(cells, i, 6, kNone));
    const auto begin = static_cast<std::size_t>(number(offsets, i, 0));
    const auto end = static_cast<std::size_t>(number(offsets, i + 1, 0));
    if (begin > end || (end > begin && (!clusters || end > clusters->size()))) {
      throw damaged(file, ": its clusters are not in order");
    }
    const auto list = [&](std::vector<std::uint32_t>& to, std::size_t column) {
      for (std::size_t k = begin; k < end; ++k) to.push_back(static_cast<std::uint32_t>(number(*clusters, k, column)));
    };
    // Rows of the file may exceed 32 bits, and only their order is needed.
    for (std::size_t k = begin; k < end; ++k) cell.first_core.push_back(static_cast<std::uint32_t>(k - begin));
    list(cell.core, 1);
    list(cell.size, 2);
    if (cell.wider) list(cell.parent_eps, 3);
    if (cell.looser) list(cell.parent_minpts, 4);
    std::uint64_t points = 0;
    for (const std::uint32_t size : cell.size) {
      points += size;
      cell.summary.largest = std::max<std::uint64_t>(cell.summary.largest, size);
    }
    cell.summary.clusters = static_cast<std::uint64_t>(number(cells, i, 2));
    cell.summary.core = static_cast<std::uint64_t>(number(cells, i, 3));
    cell.summary.noise = static_cast<std::uint64_t>(number(cells, i, 4));
    cell.summary.border = points - std::min(points, cell.summary.core);
  }
  try {
    return Lineage(std::move(all));
  } catch (const InputError& e) {
    throw damaged(file, std::string(": ") + e.what());
  }
}

void TreeWriter::add(const Hierarchy& tree) {
  const std::string name = fmt::format("minpts_{}/", tree.minpts());
  const std::span<const TreeNode> nodes = tree.nodes();
  out_.add(name + "core_distance", io::npy_numbers(tree.core_distances()));
  add_array(out_, name + "parent", tree.parents(), parent_of);
  add_array(out_, name + "node_eps", nodes, &TreeNode::eps);
  add_array(out_, name + "node_parent", nodes, [](const TreeNode& node) { return parent_of(node.parent); });
  add_array(out_, name + "node_size", nodes, &TreeNode::size);
  add_array(out_, name + "node_first_id", nodes, &TreeNode::first_id);
}

void TreeWriter::add(const Variant& variant, const CondensedTree& tree, const std::vector<std::uint32_t>& selected) {
  const std::string name = prefix_of(variant);
  const std::span<const CondensedCluster> clusters = tree.clusters();
  add_array(out_, name + "parent", clusters, [](const CondensedCluster& cluster) { return parent_of(cluster.parent); });
  add_array(out_, name + "birth", clusters, &CondensedCluster::birth);
  add_array(out_, name + "death", clusters, &CondensedCluster::death);
  add_array(out_, name + "size", clusters, &CondensedCluster::size);
  add_array(out_, name + "first_id", clusters, &CondensedCluster::first_id);
  add_array(out_, name + "stability", clusters, &CondensedCluster::stability);
  std::vector<std::int32_t> labels(clusters.size(), kNoise);
  for (std::size_t label = 0; label < selected.size(); ++label) {
    labels[selected[label]] = static_cast<std::int32_t>(label);
  }
  add_array(out_, name + "label", std::span(std::as_const(labels)));
  const std::vector<TreeStep> steps = steps_of(tree);
  const std::span<const TreeStep> rows(steps);
  add_array(out_, name + "step_cluster", rows, &TreeStep::cluster);
  add_array(out_, name + "step_eps", rows, &TreeStep::eps);
  add_array(out_, name + "step_size", rows, &TreeStep::size);
}

TreeReader::TreeReader(std::filesystem::path file) : file_(std::move(file)), columns_(io::open_npz(file_)) {}

std::vector<report::TreeCluster> TreeReader::read(const Variant& variant) const {
  const auto columns = [&](std::vector<std::string> names) {
    for (std::string& name : names) name.insert(0, prefix_of(variant));
    return columns_(std::move(names));
  };
  const auto number = [&](const io::FilePoints& table, std::size_t row, std::size_t column, double least, double most) {
    return whole_number(file_, "number", table.view().at(row, column), least, most);
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

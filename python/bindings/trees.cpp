// Hierarchies of all clusters: HDBSCAN*.
#include <algorithm>

#include "dataset.hpp"
#include "points.hpp"
#include "task.hpp"

#include <epsflow/core/choices.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/hierarchy.hpp>
#include <epsflow/trees/binary_tree.hpp>

namespace epsflow::python {
namespace {

std::unique_ptr<Task> start_hierarchy(const PyDataset& data, std::vector<std::uint32_t> minpts,
                                      const Weights& weights) {
  return start_making([points = TaskDataset(data, weights), minpts = std::move(minpts)](
                          const Observer& observer) { return hierarchy(points.get(observer), minpts, {}, observer); },
                      [](std::vector<Hierarchy>&& trees) {
                        nb::list found;
                        for (Hierarchy& tree : trees) found.append(nb::cast(std::move(tree)));
                        return found;
                      });
}

/// Finds the points of a hierarchy that new points would join (new_neighbors()). data: the points of the hierarchy.
/// Gives for each query the id of the point, and the eps at which they join.
std::unique_ptr<Task> start_new_neighbors(const PyDataset& data, const Hierarchy& tree, const HostArray& queries) {
  return start_making([run_on = data.data.get(), &tree, from = view_of(queries)](
                          const Observer& observer) { return new_neighbors(run_on, tree, from, {}, observer); },
                      [](NewNeighbors&& found) {
                        return nb::make_tuple(column_of(std::move(found.ids)), column_of(std::move(found.eps)));
                      });
}

/// distances: [n, n] float64. It must not change before the task has ended.
std::unique_ptr<Task> start_matrix_hierarchy(const HostArray& distances, std::uint32_t minpts) {
  return start_making([values = std::span(static_cast<const double*>(distances.data()), distances.size()),
                       n = distances.shape(0), minpts](const Observer& observer) {
    return Hierarchy(spanning_tree_of_matrix(values, n, minpts, *observer.cancel), *observer.cancel);
  });
}

std::unique_ptr<Task> start_graph_hierarchy(const Vector<std::int64_t>& offsets, const Vector<std::uint32_t>& columns,
                                            const Vector<double>& distances, std::uint32_t minpts) {
  return start_making([graph = DistanceGraph{span_of(offsets), span_of(columns), span_of(distances)},
                       minpts](const Observer& observer) {
    return Hierarchy(spanning_tree_of_graph(graph, minpts, *observer.cancel), *observer.cancel);
  });
}

/// Makes a hierarchy from its core distances, and from columns of its spanning tree.
std::unique_ptr<Task> start_restored(std::uint32_t minpts, const Vector<double>& core, const Vector<std::int64_t>& a,
                                     const Vector<std::int64_t>& b, const Vector<double>& heights) {
  const std::size_t n = core.size();
  const auto is_id = [n](std::int64_t id) { return id >= 0 && static_cast<std::uint64_t>(id) < n; };
  if (n == 0 || a.size() != n - 1 || b.size() != n - 1 || heights.size() != n - 1 ||
      !std::all_of(a.data(), a.data() + a.size(), is_id) || !std::all_of(b.data(), b.data() + b.size(), is_id)) {
    throw InputError("the pickle of a hierarchy is damaged: make it again");
  }
  const auto tree = std::make_shared<SpanningTree>(SpanningTree{minpts, Buffer<double>(n), Buffer<Edge>(n - 1)});
  std::copy_n(core.data(), core.size(), tree->core.begin());
  for (std::size_t i = 0; i < a.size(); ++i) {
    tree->edges[i] = {heights.data()[i], static_cast<std::uint32_t>(a.data()[i]),
                      static_cast<std::uint32_t>(b.data()[i])};
  }
  return start_making([tree](const Observer& observer) { return Hierarchy(std::move(*tree), *observer.cancel); });
}

/// Returns columns of merges: a, b, eps, number of points.
nb::tuple columns_of(std::span<const LinkageRow> rows) {
  return columns_from(rows, &LinkageRow::a, &LinkageRow::b, &LinkageRow::eps, &LinkageRow::size);
}

std::unique_ptr<Task> start_cut(const Hierarchy& tree, double eps, std::uint32_t least) {
  return start_making([=, &tree](const Observer& observer) { return tree.cut(eps, least, *observer.cancel); },
                      kAsColumn);
}

std::unique_ptr<Task> start_linkage(const Hierarchy& tree) {
  return start_making([&tree](const Observer& observer) { return tree.linkage(*observer.cancel); }, columns_of);
}

std::unique_ptr<Task> start_binary_tree(const Hierarchy& tree) {
  return start_making([&tree](const Observer& observer) { return BinaryTree(tree, *observer.cancel); });
}

std::unique_ptr<Task> start_condense(const Hierarchy& tree, std::uint64_t min_cluster_size) {
  return start_making(
      [=, &tree](const Observer& observer) { return CondensedTree(tree, min_cluster_size, *observer.cancel); });
}

std::unique_ptr<Task> start_select(const CondensedTree& tree, const SelectionOptions& options) {
  return start_making([=, &tree](const Observer& observer) { return tree.select(options, *observer.cancel); });
}

std::unique_ptr<Task> start_outlier_scores(const CondensedTree& tree) {
  return start_making([&tree](const Observer& observer) { return tree.outlier_scores(*observer.cancel); }, kAsColumn);
}

/// Finds columns of rows: parent, child, density, number of points.
std::unique_ptr<Task> start_rows(const BinaryTree& tree, std::uint64_t min_cluster_size) {
  return start_making(
      [=, &tree](const Observer& observer) { return tree.condense(min_cluster_size, *observer.cancel); },
      [](const std::vector<CondensedRow>& rows) {
        return columns_from(rows, &CondensedRow::parent, &CondensedRow::child, &CondensedRow::density,
                            &CondensedRow::size);
      });
}

std::unique_ptr<Task> start_breadth_first(const BinaryTree& tree, const CondensedTree& condensed,
                                          std::uint64_t min_cluster_size) {
  return start_making(
      [=, &tree, &condensed](const Observer& observer) {
        return tree.breadth_first(condensed, min_cluster_size, *observer.cancel);
      },
      kAsColumn);
}

/// method: a word of ClusterSelection.
SelectionOptions selection_of(std::string_view method, double epsilon, std::uint64_t max_size,
                              bool allow_single_cluster) {
  return {choice_of<ClusterSelection>(method).value(), epsilon, max_size, allow_single_cluster};
}

/// Selects clusters of one min_samples and min_cluster_size. They stay on the GPU if on_gpu, and if it makes them.
std::unique_ptr<Task> start_hdbscan(const PyDataset& data, std::uint32_t minpts, std::uint64_t min_cluster_size,
                                    const SelectionOptions& selection, bool on_gpu) {
  return start_making(
      [=, run_on = data.data.get()](const Observer& observer) {
        auto found = hdbscan(run_on, std::span(&minpts, 1), std::span(&min_cluster_size, 1),
                             {selection, on_gpu ? MemorySpace::device : MemorySpace::host}, {}, observer);
        return std::move(found.front());
      },
      [](SelectedClusters&& found) { return nb::cast(std::move(found)); });
}

}  // namespace

void define_trees(nb::module_& m) {
  const auto nodes = [](auto field, auto as) {
    return [field](const Hierarchy& tree) { return column_from<decltype(as)>(tree.nodes(), field); };
  };
  nb::class_<Hierarchy> hierarchies(m, "Hierarchy", "All clusters of one min_samples.");
  hierarchies.def_prop_ro("min_samples", &Hierarchy::minpts)
      .def_prop_ro("core_distances", column_in<Hierarchy>(&Hierarchy::core_distances))
      .def_prop_ro("parents", column_in<Hierarchy>(&Hierarchy::parents))
      .def_prop_ro(
          "spanning_tree",
          [](const Hierarchy& tree) { return columns_from(tree.spanning_tree(), &Edge::a, &Edge::b, &Edge::height); })
      .def_prop_ro("node_eps", nodes(&TreeNode::eps, double{}), nb::rv_policy::move)
      .def_prop_ro("node_parents", nodes(&TreeNode::parent, std::uint32_t{}), nb::rv_policy::move)
      .def_prop_ro("node_sizes", nodes(&TreeNode::size, std::int64_t{}), nb::rv_policy::move)
      .def_prop_ro("node_first_ids", nodes(&TreeNode::first_id, std::int64_t{}), nb::rv_policy::move)
      .def("__len__", &Hierarchy::size);
  def_task(hierarchies, "start_cut", &start_cut, "eps"_a, "least"_a);
  def_task(hierarchies, "start_linkage", &start_linkage);
  def_task(hierarchies, "start_binary_tree", &start_binary_tree);
  def_task(hierarchies, "start_condense", &start_condense, "min_cluster_size"_a);
  const auto of_clusters = [](auto field, auto as) {
    return [field](const CondensedTree& tree) { return column_from<decltype(as)>(tree.clusters(), field); };
  };
  nb::class_<CondensedTree> condensed(m, "CondensedTree", "The clusters of a hierarchy that have enough points.");
  condensed.def_prop_ro("parents", of_clusters(&CondensedCluster::parent, std::uint32_t{}), nb::rv_policy::move)
      .def_prop_ro("births", of_clusters(&CondensedCluster::birth, double{}), nb::rv_policy::move)
      .def_prop_ro("deaths", of_clusters(&CondensedCluster::death, double{}), nb::rv_policy::move)
      .def_prop_ro("sizes", of_clusters(&CondensedCluster::size, std::int64_t{}), nb::rv_policy::move)
      .def_prop_ro("stabilities", of_clusters(&CondensedCluster::stability, double{}), nb::rv_policy::move)
      .def_prop_ro("cluster_of", column_in<CondensedTree>(&CondensedTree::cluster_of))
      .def_prop_ro("leaves_at", column_in<CondensedTree>(&CondensedTree::leaves_at));
  def_task(condensed, "start_outlier_scores", &start_outlier_scores);
  def_task(condensed, "start_select", &start_select, "options"_a);
  nb::class_<SelectionOptions>(m, "SelectionOptions", "How clusters of a condensed tree are selected.");
  m.def("selection", &selection_of, "method"_a, "epsilon"_a, "max_size"_a, "allow_single_cluster"_a);
  nb::class_<SelectedClusters>(m, "SelectedClusters", "Clusters selected in a condensed tree.")
      .def_prop_ro("labels", column_in<SelectedClusters>(&SelectedClusters::labels))
      .def_prop_ro("probabilities", column_in<SelectedClusters>(&SelectedClusters::probabilities))
      .def_prop_ro("nodes", column_in<SelectedClusters>(&SelectedClusters::nodes))
      .def_prop_ro("persistence", column_in<SelectedClusters>(&SelectedClusters::persistence))
      .def_prop_ro("gpu_labels", gpu_column_in<std::int32_t, SelectedClusters>(&SelectedClusters::device_labels))
      .def_prop_ro("gpu_probabilities",
                   gpu_column_in<double, SelectedClusters>(&SelectedClusters::device_probabilities));
  nb::class_<BinaryTree> binary(m, "BinaryTree", "A hierarchy as scikit-learn numbers it.");
  binary.def("rows", [](const BinaryTree& tree) { return columns_of(tree.rows()); });
  def_task(binary, "start_condense", &start_rows, "min_cluster_size"_a);
  def_task(binary, "start_breadth_first", &start_breadth_first, "tree"_a, "min_cluster_size"_a);
  m.def("check_min_cluster_size", &check_min_cluster_size, "min_cluster_size"_a, "points"_a);
  def_task(m, "start_hierarchy", &start_hierarchy, "data"_a, "min_samples"_a, nb::arg("weights").noconvert().none());
  def_task(m, "start_hdbscan", &start_hdbscan, "data"_a, "min_samples"_a, "min_cluster_size"_a, "selection"_a,
           "on_gpu"_a);
  def_task(m, "start_new_neighbors", &start_new_neighbors, "data"_a, "tree"_a, nb::arg("queries").noconvert());
  def_task(m, "start_restored_hierarchy", &start_restored, "min_samples"_a, "core_distances"_a, "a"_a, "b"_a,
           "heights"_a);
  def_task(m, "start_matrix_hierarchy", &start_matrix_hierarchy, nb::arg("distances").noconvert(), "min_samples"_a);
  def_task(m, "start_graph_hierarchy", &start_graph_hierarchy, nb::arg("offsets").noconvert(),
           nb::arg("columns").noconvert(), nb::arg("distances").noconvert(), "min_samples"_a);
}

}  // namespace epsflow::python

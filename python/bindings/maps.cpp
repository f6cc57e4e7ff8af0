// Lineages of sweeps (how clusters are nested), and explorations.
#include "dataset.hpp"
#include "options.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/explore.hpp>
#include <epsflow/pipeline/lineage.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::python {
namespace {

/// [rows × columns] returned to NumPy, and taken from NumPy.
using IntegerTable = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<2>>;
using InputTable = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <std::size_t columns>
IntegerTable table_of(std::vector<std::int64_t>&& values) {
  const std::size_t rows = values.size() / columns;
  const auto [data, owner] = with_owner(std::move(values));
  return {data, {rows, columns}, owner};
}

constexpr std::int64_t kNone = -1;

std::int64_t index_or_none(std::optional<std::size_t> cell) { return cell ? static_cast<std::int64_t>(*cell) : kNone; }

constexpr std::size_t kCellColumns = 8;
constexpr std::size_t kClusterColumns = 5;

/// Returns [cells] eps, and [cells × 8]: min_samples; the numbers of clusters, noise, core points, border points and
/// points of the largest cluster; the indices of the cells with the next eps and the next minpts, -1 if there is none.
/// Noise, border points and the largest are -1 if border points were not distinguished from noise.
std::pair<Column<double>, IntegerTable> cells_of(const Lineage& lineage) {
  std::vector<double> eps;
  std::vector<std::int64_t> figures;
  for (const LineageCell& cell : lineage.cells()) {
    const LabelSummary& s = cell.summary;
    eps.push_back(cell.variant.eps);
    const auto told = [&](std::uint64_t count) { return s.borders_told ? static_cast<std::int64_t>(count) : kNone; };
    figures.insert(figures.end(), {std::int64_t{cell.variant.minpts}, static_cast<std::int64_t>(s.clusters),
                                   told(s.noise), static_cast<std::int64_t>(s.core), told(s.border), told(s.largest),
                                   index_or_none(cell.wider), index_or_none(cell.looser)});
  }
  return {column_of(std::move(eps)), table_of<kCellColumns>(std::move(figures))};
}

/// Returns [clusters of all cells × 5]: first core point, numbers of core points and points, and the parent cluster at
/// the next eps and the next minpts, -1 if there is no such cell. Points are -1 in a lineage without sizes.
IntegerTable clusters_of(const Lineage& lineage) {
  std::size_t clusters = 0;
  for (const LineageCell& cell : lineage.cells()) clusters += cell.clusters();
  std::vector<std::int64_t> all;
  all.reserve(clusters * kClusterColumns);
  for (const LineageCell& cell : lineage.cells()) {
    for (std::size_t k = 0; k < cell.clusters(); ++k) {
      all.insert(all.end(), {cell.first_core[k], cell.core[k], cell.size.empty() ? kNone : cell.size[k],
                             cell.wider ? cell.parent_eps[k] : kNone, cell.looser ? cell.parent_minpts[k] : kNone});
    }
  }
  return table_of<kClusterColumns>(std::move(all));
}

/// Returns a count of a table. Throws InputError if the value is not a count.
template <class T>
T count_of(std::int64_t value) {
  if (!std::in_range<T>(value)) throw InputError("a lineage was stored with a count of " + std::to_string(value));
  return static_cast<T>(value);
}

/// Returns the lineage of tables that cells_of() and clusters_of() returned.
Lineage lineage_of(const Vector<double>& eps, const InputTable& figures, const InputTable& clusters) {
  if (figures.shape(0) != eps.shape(0) || figures.shape(1) != kCellColumns || clusters.shape(1) != kClusterColumns) {
    throw InputError("a lineage was stored with tables of other shapes");
  }
  const auto cell_in = [](std::int64_t index) -> std::optional<std::size_t> {
    if (index == kNone) return std::nullopt;
    return count_of<std::size_t>(index);
  };
  std::vector<LineageCell> cells(eps.shape(0));
  const std::int64_t* row = clusters.data();
  const std::int64_t* const end = row + clusters.size();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    LineageCell& cell = cells[i];
    const std::int64_t* const f = figures.data() + i * kCellColumns;
    cell.variant = {eps.data()[i], count_of<std::uint32_t>(f[0])};
    cell.summary = {.clusters = count_of<std::uint64_t>(f[1]), .core = count_of<std::uint64_t>(f[3])};
    cell.summary.borders_told = f[2] != kNone || f[4] != kNone || f[5] != kNone;
    if (cell.summary.borders_told) {
      cell.summary.noise = count_of<std::uint64_t>(f[2]);
      cell.summary.border = count_of<std::uint64_t>(f[4]);
      cell.summary.largest = count_of<std::uint64_t>(f[5]);
    }
    cell.wider = cell_in(f[6]);
    cell.looser = cell_in(f[7]);
    if (cell.summary.clusters > static_cast<std::uint64_t>(end - row) / kClusterColumns) {
      throw InputError("a lineage was stored with fewer clusters than its cells have");
    }
    for (std::uint64_t k = 0; k < cell.summary.clusters; ++k, row += kClusterColumns) {
      cell.first_core.push_back(count_of<std::uint32_t>(row[0]));
      cell.core.push_back(count_of<std::uint32_t>(row[1]));
      if (cell.summary.borders_told) cell.size.push_back(count_of<std::uint32_t>(row[2]));
      if (cell.wider) cell.parent_eps.push_back(count_of<std::uint32_t>(row[3]));
      if (cell.looser) cell.parent_minpts.push_back(count_of<std::uint32_t>(row[4]));
    }
  }
  return Lineage(std::move(cells));
}

/// Returns [bars × 6]: birth and death as indices into the path, cluster, core points, points (0 without sizes), first
/// core point.
IntegerTable bars_of(const Lineage& lineage, const std::vector<std::size_t>& path) {
  std::vector<std::int64_t> all;
  for (const Bar& life : lineage.bars(path)) {
    all.insert(all.end(), {static_cast<std::int64_t>(life.birth), static_cast<std::int64_t>(life.death), life.cluster,
                           life.core, life.size, life.first_core});
  }
  return table_of<6>(std::move(all));
}

std::unique_ptr<Task> start_lineage(const PyDataset& data, const Variants& variants, const nb::dict& options,
                                    const Weights& weights) {
  return start_making([points = TaskDataset(data, weights), sweep = sweep_of(variants),
                       run = options_from<RunOptions>(options)](const Observer& observer) {
    return lineage(points.get(observer), sweep, run, observer);
  });
}

std::unique_ptr<Task> start_suggest(const PyDataset& data, const nb::dict& options, const Weights& weights) {
  return start_making([points = TaskDataset(data, weights), run = options_from<RunOptions>(options)](
                          const Observer& observer) { return suggest(points.get(observer), run, observer); },
                      [](const Sweep& suggested) {
                        Variants variants;
                        for (const Variant& v : suggested.variants()) variants.emplace_back(v.eps, v.minpts);
                        return nb::cast(variants);
                      });
}

/// variants: a full grid, or nothing for the suggested grid. seconds: a bound on the time, or nothing.
std::unique_ptr<Task> start_explore(const PyDataset& data, const std::optional<Variants>& variants,
                                    const nb::dict& options, const Weights& weights, std::optional<double> seconds) {
  std::optional<Sweep> grid;
  if (variants) grid = sweep_of(*variants);
  return start_making([points = TaskDataset(data, weights), grid, seconds,
                       run = options_from<RunOptions>(options)](const Observer& observer) {
    const Dataset weighted = points.get(observer);
    return grid ? explore(weighted, *grid, run, observer, seconds) : explore(weighted, run, observer, seconds);
  });
}

/// Returns the word and the sentence of each doubt.
std::vector<std::pair<std::string, std::string>> doubts_of(const Exploration& made) {
  std::vector<std::pair<std::string, std::string>> doubts;
  for (const Doubt doubt : made.doubts) doubts.emplace_back(word_of(doubt), sentence_of(doubt));
  return doubts;
}

/// [eps × min_samples], row-major.
Column<double> scores_of(const Exploration& made) {
  std::vector<double> scores;
  for (const CellScore& cell : made.scores) scores.push_back(cell.score);
  return column_of(std::move(scores));
}

void define_lineage(nb::module_& m) {
  nb::class_<Lineage>(m, "Lineage",
                      "How the clusters of a sweep lie in each other. Cells are known by their indices in the sweep.")
      .def("__len__", [](const Lineage& lineage) { return lineage.cells().size(); })
      .def("cells", &cells_of)
      .def("clusters", &clusters_of)
      .def_prop_ro("has_sizes", &Lineage::has_sizes)
      .def("rank", &Lineage::rank, "inner"_a, "outer"_a)
      .def("relative_validity", [](const Lineage& lineage) { return column_of(relative_validity(lineage)); })
      .def(
          "ancestors",
          [](const Lineage& lineage, std::size_t from, std::size_t to) {
            return column_of(lineage.ancestors(from, to));
          },
          "inner"_a, "outer"_a)
      .def("bars", &bars_of, "path"_a);
  m.def("lineage_of", &lineage_of, nb::arg("eps").noconvert(), nb::arg("figures").noconvert(),
        nb::arg("clusters").noconvert());
  def_task(m, "start_lineage", &start_lineage, "data"_a, "variants"_a, "options"_a,
           nb::arg("weights").noconvert().none());
}

void define_exploration(nb::module_& m) {
  nb::class_<Offer>(m, "Offer", "A clustering with its labels. Its arrays are views of it, without a copy.")
      .def_prop_ro("labels", column_in<Offer>(&Offer::labels))
      .def_prop_ro("core", column_in<Offer>(&Offer::core))
      .def_prop_ro("eps",
                   [](const Offer& o) { return o.variant.eps > 0 ? std::optional(o.variant.eps) : std::nullopt; })
      .def_prop_ro(
          "eps_of_clusters", [](const Offer& o) { return column_of(o.eps_of_clusters); }, nb::rv_policy::move)
      .def_prop_ro("min_samples", [](const Offer& o) { return o.variant.minpts; })
      .def_prop_ro("n_clusters", [](const Offer& o) { return o.summary.clusters; })
      .def_prop_ro("n_noise", [](const Offer& o) { return o.summary.noise; })
      .def_ro("score", &Offer::score)
      .def_ro("noise", &Offer::noise)
      .def_ro("confidence", &Offer::confidence)
      .def_ro("reason", &Offer::reason)
      .def_prop_ro("plateau", [](const Offer& o) { return std::pair(o.plateau.eps_from, o.plateau.eps_to); })
      .def_prop_ro("min_samples_range",
                   [](const Offer& o) { return std::pair(o.plateau.minpts_from, o.plateau.minpts_to); });
  nb::class_<Exploration>(m, "Exploration",
                          "What was found of a grid. Its arrays, offers and its map are views of it, without a copy.")
      .def_prop_ro(
          "recommended", [](Exploration& made) { return made.recommended ? &*made.recommended : nullptr; },
          nb::rv_policy::reference_internal)
      .def_prop_ro(
          "one_eps", [](Exploration& made) { return made.one_eps ? &*made.one_eps : nullptr; },
          nb::rv_policy::reference_internal)
      .def_prop_ro("alternatives",
                   [](nb::handle_t<Exploration> self) {
                     nb::list offers;
                     for (Offer& offer : nb::cast<Exploration&>(self).alternatives) {
                       offers.append(nb::cast(&offer, nb::rv_policy::reference_internal, self));
                     }
                     return offers;
                   })
      .def_prop_ro("doubts", &doubts_of)
      .def_ro("eps", &Exploration::eps)
      .def_ro("min_samples", &Exploration::minpts)
      .def_prop_ro("scores", &scores_of, nb::rv_policy::move)
      .def_ro("map", &Exploration::map);
  def_task(m, "start_suggest", &start_suggest, "data"_a, "options"_a, nb::arg("weights").noconvert().none());
  def_task(m, "start_explore", &start_explore, "data"_a, nb::arg("variants").none(), "options"_a,
           nb::arg("weights").noconvert().none(), nb::arg("seconds").none());
}

}  // namespace

void define_maps(nb::module_& m) {
  define_lineage(m);
  define_exploration(m);
}

}  // namespace epsflow::python

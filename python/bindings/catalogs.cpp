// Catalogues of clusters, groups of friends, and rows grouped into slices.
#include <variant>

#include "dataset.hpp"
#include "gpu_points.hpp"
#include "points.hpp"
#include "task.hpp"

#include <epsflow/catalog/attach.hpp>
#include <epsflow/catalog/catalog_table.hpp>
#include <epsflow/catalog/device_catalog.hpp>
#include <epsflow/catalog/friends.hpp>
#include <epsflow/core/slice_rows.hpp>
#include <epsflow/pipeline/workers.hpp>

namespace epsflow::python {
namespace {

/// Returns names, values and units of the columns.
nb::list columns_of(Table&& table) {
  nb::list columns;
  for (TableColumn& column : table) {
    std::visit(
        [&]<class Values>(Values& values) {
          if constexpr (std::is_same_v<Values, std::vector<std::string>>) {
            columns.append(nb::make_tuple(column.name, values, column.unit));
          } else {
            columns.append(nb::make_tuple(column.name, column_of(std::move(values)), column.unit));
          }
        },
        column.values);
  }
  return columns;
}

/// The name, the values, and whether the mean is weighted.
template <class Values>
using Named = std::vector<std::tuple<std::string, Values, bool>>;

/// Starts a catalogue of points on the host. offsets: the offsets of slices, or empty. names: the names of the
/// coordinates, or empty.
std::unique_ptr<Task> start_catalog(const PyPoints& points, const Named<Vector<double>>& columns,
                                    const std::vector<std::uint64_t>& offsets, const std::vector<std::string>& names,
                                    const nb::dict& options) {
  std::vector<NamedColumn> named;
  for (const auto& [name, values, weighted] : columns) named.push_back({name, span_of(values), weighted});
  return start_making(
      [=, named = std::move(named), view = points.view(), metric = points.metric(), labels = span_of(points.labels),
       core = span_of(points.core), weights = span_of(points.weights),
       engine = options_from<EngineOptions>(options)](const Observer& observer) {
        return Workers(engine, "catalog()").arena.execute([&] {
          const CancelToken stop(observer.cancel);
          std::optional<Slices> slices;
          if (!offsets.empty()) slices.emplace(offsets, view.size());
          const CatalogInput input{.points = view,
                                   .metric = metric,
                                   .labels = labels,
                                   .core = core,
                                   .weights = weights,
                                   .columns = named,
                                   .slices = slices ? &*slices : nullptr};
          return table_of(catalog(input, stop), metric, {.coordinates = names});
        });
      },
      columns_of);
}

/// Starts a catalogue of points on a GPU. given: labels (int32), core (one byte) and weights (float64); core and
/// weights may be null. columns: float64. Types are not checked here.
std::unique_ptr<Task> start_gpu_catalog(const PyEngine& engine, const PyGpuPoints& points, const PyMetric& given_metric,
                                        const std::tuple<const PyValues*, const PyValues*, const PyValues*>& given,
                                        const Named<const PyValues*>& columns) {
  const auto& [labels, core, weights] = given;
  std::vector<NamedColumn> named;
  for (const auto& [name, values, weighted] : columns) named.push_back({name, values->span<double>(), weighted});
  const Engine& maker = engine.engine.get();
  return start_making(
      [maker, named = std::move(named), view = points.view(static_cast<int>(maker.options().gpu.value_or(0))),
       metric = given_metric.in(points.dims), of_points = labels->span<std::int32_t>(),
       mask = core != nullptr ? core->span<std::uint8_t>() : std::span<const std::uint8_t>(),
       masses = weights != nullptr ? weights->span<double>() : std::span<const double>()](const Observer& observer) {
        const DeviceCatalogInput input{
            .points = view, .metric = metric, .labels = of_points, .core = mask, .weights = masses, .columns = named};
        return table_of(maker.catalog(input, observer.cancel), metric);
      },
      columns_of);
}

/// Returns points, offsets and labels of the clusters.
nb::tuple points_by_cluster(const Vector<std::int32_t>& labels) {
  ClusterOrder order;
  {
    const nb::gil_scoped_release release;
    order = order_by_cluster(span_of(labels));
  }
  return nb::make_tuple(column_of(std::move(order.points)), column_of(std::move(order.offsets)),
                        column_of(std::move(order.labels)));
}

/// Returns keys, offsets and order. The order is empty if rows are sorted by key.
nb::tuple group_rows(const Vector<double>& values, double width) {
  SliceRows rows;
  {
    const nb::gil_scoped_release release;
    rows = slice_rows(span_of(values), width);
  }
  return nb::make_tuple(column_of(std::move(rows.keys)), column_of(std::move(rows.offsets)),
                        column_of(std::move(rows.order)));
}

/// Returns the labels and the number of groups. labels: of clusters with linking_minpts(least).
nb::tuple resolved_groups(const Vector<std::int32_t>& labels, std::uint64_t clusters, std::uint64_t least,
                          const std::string& order) {
  const auto by = choice_named<GroupOrder>("ids", order);
  VariantResult result;
  {
    const nb::gil_scoped_release release;
    result.labels = Labels(span_of(labels));
    result.summary.clusters = clusters;
    resolve_groups(result, least, by);
  }
  return nb::make_tuple(column_of(std::move(result.labels)), result.summary.clusters);
}

std::unique_ptr<Task> start_attach(const PyPoints& linked, const HostArray& others, double linking_length,
                                   const nb::dict& options) {
  return start_making(
      [=, to = linked.view(), groups = span_of(linked.labels), from = view_of(others), metric = linked.metric(),
       engine = options_from<EngineOptions>(options)](const Observer& observer) {
        return Workers(engine, "attach()").arena.execute([&] {
          return attach({to, groups, from, metric, linking_length}, CancelToken(observer.cancel));
        });
      },
      kAsColumn);
}

/// Returns labels with the numbers of a dialect.
Column<std::int32_t> translated_groups(const Vector<std::int32_t>& labels, const std::string& dialect) {
  std::vector<std::int32_t> translated(labels.data(), labels.data() + labels.shape(0));
  translate_groups(translated, choice_named<GroupDialect>("dialect", dialect));
  return column_of(std::move(translated));
}

}  // namespace

void define_catalogs(nb::module_& m) {
  def_task(m, "start_catalog", &start_catalog, "points"_a, nb::arg("columns").noconvert(), "offsets"_a, "names"_a,
           "options"_a);
  def_task(m, "start_gpu_catalog", &start_gpu_catalog, "engine"_a, "points"_a, "metric"_a, "given"_a, "columns"_a);
  m.def("order_by_cluster", &points_by_cluster, nb::arg("labels").noconvert());
  m.def("resolve_groups", &resolved_groups, nb::arg("labels").noconvert(), "clusters"_a, "least"_a, "order"_a);
  def_task(m, "start_attach", &start_attach, "linked"_a, nb::arg("others").noconvert(), "linking_length"_a,
           "options"_a);
  m.def("translate_groups", &translated_groups, nb::arg("labels").noconvert(), "dialect"_a, nb::rv_policy::move);
  m.def("slice_rows", &group_rows, nb::arg("values").noconvert(), "width"_a);
}

}  // namespace epsflow::python

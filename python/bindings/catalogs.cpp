#include "catalogs.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <tbb/task_arena.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "dataset.hpp"
#include "gpu_points.hpp"
#include "metrics.hpp"
#include "options.hpp"
#include "task.hpp"

#include <epsflow/catalog/attach.hpp>
#include <epsflow/catalog/catalog_table.hpp>
#include <epsflow/catalog/device_catalog.hpp>
#include <epsflow/catalog/friends.hpp>
#include <epsflow/core/slice_rows.hpp>
#include <epsflow/pipeline/options.hpp>

namespace nb = nanobind;
using namespace nb::literals;

namespace epsflow::python {
namespace {

/// Name, values, and whether their mean is weighted.
using NamedValues = std::tuple<std::string, Vector<double>, bool>;

PointsView view_of(const HostArray& points) {
  return visit_values(points, [&](auto values) { return PointsView(values, points.shape(1)); });
}

/// offsets: of slices, or empty. names: of the coordinates, or empty.
std::unique_ptr<Task> start_catalog(const HostArray& points, const MetricWords& words,
                                    const Vector<std::int32_t>& labels, const Vector<std::uint8_t>& core,
                                    const Weights& weights, const std::vector<NamedValues>& columns,
                                    const std::vector<std::uint64_t>& offsets, const std::vector<std::string>& names,
                                    const nb::dict& options) {
  const PointsView view = view_of(points);
  std::vector<NamedColumn> named;
  for (const auto& [name, values, weighted] : columns) named.push_back({name, span_of(values), weighted});
  const auto engine = options_from<EngineOptions>(options);
  return std::make_unique<Task>([=, metric = metric_of(words, points.shape(1)), of_points = span_of(labels),
                                 mask = span_of(core),
                                 masses = weights ? span_of(*weights) : std::span<const double>()](
                                    const Observer& observer, Task::Channel& channel) {
    tbb::task_arena arena(engine.threads == 0 ? tbb::task_arena::automatic : static_cast<int>(engine.threads));
    arena.execute([&] {
      const CancelToken stop(observer.cancel);
      std::optional<Slices> slices;
      if (!offsets.empty()) slices.emplace(offsets, view.size());
      channel.put(table_of(catalog({.points = view,
                                    .metric = metric,
                                    .labels = of_points,
                                    .core = mask,
                                    .weights = masses,
                                    .columns = named,
                                    .slices = slices ? &*slices : nullptr},
                                   stop),
                           metric, {.coordinates = names}));
    });
  });
}

/// Name, values, and whether their mean is weighted.
using AnyNamedValues = std::tuple<std::string, const PyValues*, bool>;

/// The same of points on a GPU, there. Each array is of the kind that it must be. core, weights: null where there are none.
std::unique_ptr<Task> start_gpu_catalog(const PyEngine& engine, const PyGpuPoints& points, const MetricWords& words,
                                        const PyValues& labels, const PyValues* core, const PyValues* weights,
                                        const std::vector<AnyNamedValues>& columns) {
  std::vector<NamedColumn> named;
  for (const auto& [name, values, weighted] : columns) {
    named.push_back({name, values->span<double>(), weighted});
  }
  const Engine& maker = engine.engine.get();
  return std::make_unique<Task>([maker, named = std::move(named),
                                 view = points.view(static_cast<int>(maker.options().gpu.value_or(0))),
                                 metric = metric_of(words, points.dims), of_points = labels.span<std::int32_t>(),
                                 mask = core != nullptr ? core->span<std::uint8_t>() : std::span<const std::uint8_t>(),
                                 masses = weights != nullptr ? weights->span<double>() : std::span<const double>()](
                                    const Observer& observer, Task::Channel& channel) {
    const DeviceCatalogInput input{
        .points = view, .metric = metric, .labels = of_points, .core = mask, .weights = masses, .columns = named};
    channel.put(table_of(maker.catalog(input, observer.cancel), metric));
  });
}

/// Names, values and units of the columns.
nb::list take_table(Task& task) {
  nb::list columns;
  for (TableColumn& column : task.take<Table>()) {
    std::visit(
        [&](auto& values) {
          if constexpr (std::is_same_v<std::decay_t<decltype(values)>, std::vector<std::string>>) {
            columns.append(nb::make_tuple(column.name, values, column.unit));
          } else {
            columns.append(nb::make_tuple(column.name, column_of(std::move(values)), column.unit));
          }
        },
        column.values);
  }
  return columns;
}

/// Points, offsets and labels of the clusters.
nb::tuple points_by_cluster(const Vector<std::int32_t>& labels) {
  ClusterOrder order;
  {
    const nb::gil_scoped_release release;
    order = order_by_cluster(span_of(labels));
  }
  return nb::make_tuple(column_of(std::vector<std::uint32_t>(order.points.begin(), order.points.end())),
                        column_of(std::move(order.offsets)), column_of(std::move(order.labels)));
}

/// Keys, offsets and order; the order is empty where rows are in it.
nb::tuple group_rows(const Vector<double>& values, double width) {
  SliceRows rows;
  {
    const nb::gil_scoped_release release;
    rows = slice_rows(span_of(values), width);
  }
  return nb::make_tuple(column_of(std::move(rows.keys)), column_of(std::move(rows.offsets)),
                        column_of(std::move(rows.order)));
}

/// The labels of groups, and how many there are. labels: of clusters, with linking_minpts(least).
nb::tuple settled_groups(const Vector<std::int32_t>& labels, std::uint64_t clusters, std::uint64_t least,
                         const std::string& order) {
  const auto by = choice_named<GroupOrder>("ids", order);
  VariantResult result;
  {
    const nb::gil_scoped_release release;
    result.labels = Labels(span_of(labels));
    result.summary.clusters = clusters;
    settle_groups(result, least, by);
  }
  return nb::make_tuple(column_of(std::vector<std::int32_t>(result.labels.begin(), result.labels.end())),
                        result.summary.clusters);
}

std::unique_ptr<Task> start_attach(const HostArray& linked, const Vector<std::int32_t>& labels, const HostArray& others,
                                   const MetricWords& words, double linking_length, const nb::dict& options) {
  const auto engine = options_from<EngineOptions>(options);
  return std::make_unique<Task>(
      [=, to = view_of(linked), groups = span_of(labels), from = view_of(others),
       metric = metric_of(words, linked.shape(1))](const Observer& observer, Task::Channel& channel) {
        tbb::task_arena arena(engine.threads == 0 ? tbb::task_arena::automatic : static_cast<int>(engine.threads));
        arena.execute([&] {
          channel.put(attach({to, groups, from, metric, linking_length}, CancelToken(observer.cancel)));
        });
      });
}

nb::object take_labels(Task& task) { return nb::cast(column_of(task.take<std::vector<std::int32_t>>())); }

/// In the numbers of a dialect.
nb::object translated_groups(const Vector<std::int32_t>& labels, const std::string& dialect) {
  std::vector<std::int32_t> translated(labels.data(), labels.data() + labels.shape(0));
  translate_groups(translated, choice_named<GroupDialect>("dialect", dialect));
  return nb::cast(column_of(std::move(translated)));
}

double separation_of(const MetricWords& words, std::size_t dims, std::uint64_t n) {
  return mean_separation(metric_of(words, dims), dims, n);
}

}  // namespace

void define_catalogs(nb::module_& m) {
  m.def("start_catalog", &start_catalog, nb::arg("points").noconvert(), "metric"_a, nb::arg("labels").noconvert(),
        nb::arg("core").noconvert(), nb::arg("weights").noconvert().none(), nb::arg("columns").noconvert(), "offsets"_a,
        "names"_a, "options"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 3>(), nb::keep_alive<0, 4>(),
        nb::keep_alive<0, 5>(), nb::keep_alive<0, 6>());
  m.def("start_gpu_catalog", &start_gpu_catalog, "engine"_a, "points"_a, "metric"_a, "labels"_a, nb::arg("core").none(),
        nb::arg("weights").none(), "columns"_a, nb::keep_alive<0, 2>(), nb::keep_alive<0, 4>(), nb::keep_alive<0, 5>(),
        nb::keep_alive<0, 6>(), nb::keep_alive<0, 7>());
  m.def("order_by_cluster", &points_by_cluster, nb::arg("labels").noconvert());
  m.def("take_table", &take_table, "task"_a);
  m.def("settle_groups", &settled_groups, nb::arg("labels").noconvert(), "clusters"_a, "least"_a, "order"_a);
  m.def("start_attach", &start_attach, nb::arg("linked").noconvert(), nb::arg("labels").noconvert(),
        nb::arg("others").noconvert(), "metric"_a, "linking_length"_a, "options"_a, nb::keep_alive<0, 1>(),
        nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>());
  m.def("take_attached", &take_labels, "task"_a);
  m.def("translate_groups", &translated_groups, nb::arg("labels").noconvert(), "dialect"_a);
  m.def("mean_separation", &separation_of, "metric"_a, "dims"_a, "n"_a);
  m.def("slice_rows", &group_rows, nb::arg("values").noconvert(), "width"_a);
}

}  // namespace epsflow::python

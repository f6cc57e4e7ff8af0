#include "catalogs.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
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
#include "metrics.hpp"
#include "options.hpp"
#include "task.hpp"

#include <epsflow/catalog/catalog_table.hpp>
#include <epsflow/core/slice_rows.hpp>
#include <epsflow/pipeline/options.hpp>

namespace nb = nanobind;
using namespace nb::literals;

namespace epsflow::python {
namespace {

using NamedValues = std::pair<std::string, Vector<double>>;

/// offsets: of slices, or empty. names: of the coordinates, or empty.
std::unique_ptr<Task> start_catalog(const HostArray& points, const MetricWords& words,
                                    const Vector<std::int32_t>& labels, const Vector<std::uint8_t>& core,
                                    const Weights& weights, const std::vector<NamedValues>& columns,
                                    const std::vector<std::uint64_t>& offsets, const std::vector<std::string>& names,
                                    const nb::dict& options) {
  const PointsView view = visit_values(points, [&](auto values) { return PointsView(values, points.shape(1)); });
  std::vector<NamedColumn> named;
  for (const auto& [name, values] : columns) named.push_back({name, span_of(values)});
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

/// Keys, offsets and order; the order is empty where rows are in it.
nb::tuple group_rows(const Vector<double>& values, double width) {
  SliceRows rows;
  {
    const nb::gil_scoped_release release;
    rows = slice_rows(span_of(values), width);
  }
  return nb::make_tuple(column_of(std::move(rows.keys)), column_of(std::move(rows.offsets)), column_of(std::move(rows.order)));
}

}  // namespace

void define_catalogs(nb::module_& m) {
  m.def("start_catalog", &start_catalog, nb::arg("points").noconvert(), "metric"_a, nb::arg("labels").noconvert(),
        nb::arg("core").noconvert(), nb::arg("weights").noconvert().none(), nb::arg("columns").noconvert(), "offsets"_a,
        "names"_a, "options"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 3>(), nb::keep_alive<0, 4>(),
        nb::keep_alive<0, 5>(), nb::keep_alive<0, 6>());
  m.def("take_table", &take_table, "task"_a);
  m.def("slice_rows", &group_rows, nb::arg("values").noconvert(), "width"_a);
}

}  // namespace epsflow::python

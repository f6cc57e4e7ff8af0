#include "tables.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "options.hpp"
#include "task.hpp"

#include <epsflow/core/memory.hpp>
#include <epsflow/pipeline/cluster_table.hpp>

namespace nb = nanobind;
using namespace nb::literals;

namespace epsflow::python {
namespace {

TableRun run_of(const Weights& weights, bool core, bool directed, bool float32_eps) {
  return {.weights = weights ? span_of(*weights) : std::span<const double>(),
          .core_mask = core,
          .float32_eps = float32_eps,
          .directed = directed};
}

void put_all(std::vector<VariantResult> results, Task::Channel& channel) {
  for (VariantResult& result : results) channel.put(std::move(result));
}

std::unique_ptr<Task> start_table(const Vector<std::uint64_t>& offsets, const Vector<std::uint32_t>& ids,
                                  const Vector<double>& distances, const Variants& variants, const Weights& weights,
                                  bool core, bool directed, bool float32_eps, const nb::dict& options) {
  const NeighborsView table{span_of(offsets), span_of(ids), span_of(distances)};
  return std::make_unique<Task>(
      [table, sweep = sweep_of(variants), run = run_of(weights, core, directed, float32_eps),
       engine = options_from<EngineOptions>(options)](const Observer& observer, Task::Channel& channel) {
        put_all(cluster(table, sweep, run, engine, observer), channel);
      });
}

/// eps: the largest of the variants. Of float32, it is rounded to that.
std::unique_ptr<Task> start_distances(const HostArray& matrix, double eps, const Variants& variants,
                                      const Weights& weights, bool core, bool directed, const nb::dict& options) {
  return visit_values(matrix, [&]<class T>(std::span<const T> values) {
    const TableRun run = run_of(weights, core, directed, std::is_same_v<T, float>);
    return std::make_unique<Task>(
        [values, n = matrix.shape(0), eps = static_cast<T>(eps), sweep = sweep_of(variants), run,
         engine = options_from<EngineOptions>(options)](const Observer& observer, Task::Channel& channel) {
          const Neighbors table = neighbors_of_distances(values, n, eps, engine, observer);
          put_all(cluster(table.view(), sweep, run, engine, observer), channel);
        });
  });
}

}  // namespace

void define_tables(nb::module_& m) {
  // Tasks keep the arrays that they read.
  m.def("start_table", &start_table, nb::arg("offsets").noconvert(), nb::arg("ids").noconvert(),
        nb::arg("distances").noconvert(), "variants"_a, nb::arg("weights").none(), "core"_a, "directed"_a,
        "float32_eps"_a, "options"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(),
        nb::keep_alive<0, 5>());
  m.def("machine_memory", &machine_memory);
  m.def("start_distances", &start_distances, nb::arg("matrix").noconvert(), "eps"_a, "variants"_a,
        nb::arg("weights").none(), "core"_a, "directed"_a, "options"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 4>());
}

}  // namespace epsflow::python

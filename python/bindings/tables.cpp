// Clustering of tables of neighbours and of distances that the caller has computed.
#include "arrays.hpp"
#include "options.hpp"
#include "task.hpp"

#include <epsflow/core/memory.hpp>
#include <epsflow/pipeline/cluster_table.hpp>

namespace epsflow::python {
namespace {

/// The parameters of the clustering of a table. It keeps the weights alive.
struct PyTableRun {
  Weights weights;
  bool core;
  bool directed;

  [[nodiscard]] TableRun get(bool float32_eps) const {
    return {.weights = span_of(weights), .core_mask = core, .float32_eps = float32_eps, .directed = directed};
  }
};

void put_all(std::vector<VariantResult> results, Task::Channel& channel) {
  for (VariantResult& result : results) channel.put(std::move(result));
}

/// Offsets, ids and distances.
using Rows = std::tuple<Vector<std::uint64_t>, Vector<std::uint32_t>, Vector<double>>;

std::unique_ptr<Task> start_table(const Rows& rows, bool float32_eps, const Variants& variants, const PyTableRun& run,
                                  const nb::dict& options) {
  const auto& [offsets, ids, distances] = rows;
  const NeighborsView table{span_of(offsets), span_of(ids), span_of(distances)};
  return std::make_unique<Task>(
      [table, sweep = sweep_of(variants), how = run.get(float32_eps), engine = options_from<EngineOptions>(options)](
          const Observer& observer, Task::Channel& channel) {
        put_all(cluster(table, sweep, how, engine, observer), channel);
      });
}

/// eps: the largest of the variants. It is rounded to float32 if the distances are float32.
std::unique_ptr<Task> start_distances(const HostArray& matrix, double eps, const Variants& variants,
                                      const PyTableRun& run, const nb::dict& options) {
  return visit_values(matrix, [&]<class T>(std::span<const T> values) {
    return std::make_unique<Task>(
        [values, n = matrix.shape(0), eps = static_cast<T>(eps), sweep = sweep_of(variants),
         how = run.get(std::is_same_v<T, float>),
         engine = options_from<EngineOptions>(options)](const Observer& observer, Task::Channel& channel) {
          const Neighbors table = neighbors_of_distances(values, n, eps, engine, observer);
          put_all(cluster(table.view(), sweep, how, engine, observer), channel);
        });
  });
}

}  // namespace

void define_tables(nb::module_& m) {
  nb::class_<PyTableRun>(m, "TableRun", "How a table of neighbours is clustered.")
      .def(nb::init<Weights, bool, bool>(), nb::arg("weights").noconvert().none(), "core"_a, "directed"_a);
  def_task(m, "start_table", &start_table, nb::arg("rows").noconvert(), "float32_eps"_a, "variants"_a, "run"_a,
           "options"_a);
  def_task(m, "start_distances", &start_distances, nb::arg("matrix").noconvert(), "eps"_a, "variants"_a, "run"_a,
           "options"_a);
  m.def("machine_memory", &machine_memory);
}

}  // namespace epsflow::python

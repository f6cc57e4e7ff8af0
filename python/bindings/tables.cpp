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
#include <utility>
#include <vector>

#include "options.hpp"
#include "task.hpp"

#include <epsflow/core/memory.hpp>
#include <epsflow/pipeline/cluster_table.hpp>

namespace nb = nanobind;
using namespace nb::literals;

namespace epsflow::python {
namespace {

template <class T>
using Values = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Pairs = std::vector<std::pair<double, std::uint32_t>>;
using Weights = std::optional<Values<double>>;

template <class T>
std::span<const T> span_of(const Values<T>& values) {
  return {values.data(), values.shape(0)};
}

Sweep sweep_of(const Pairs& pairs) {
  std::vector<Variant> variants;
  for (const auto& [eps, minpts] : pairs) variants.push_back({eps, minpts});
  return Sweep(variants);
}

TableRun run_of(const Weights& weights, bool core, bool directed, bool float32_eps) {
  return {.weights = weights ? span_of(*weights) : std::span<const double>(),
          .core_mask = core,
          .float32_eps = float32_eps,
          .directed = directed};
}

void put_all(std::vector<VariantResult> results, Task::Channel& channel) {
  for (VariantResult& result : results) channel.put(std::move(result));
}

std::unique_ptr<Task> start_table(const Values<std::uint64_t>& offsets, const Values<std::uint32_t>& ids,
                                  const Values<double>& distances, const Pairs& variants, const Weights& weights,
                                  bool core, bool directed, bool float32_eps, const nb::dict& options) {
  const NeighborsView table{span_of(offsets), span_of(ids), span_of(distances)};
  return std::make_unique<Task>(
      [table, sweep = sweep_of(variants), run = run_of(weights, core, directed, float32_eps),
       engine = options_from<EngineOptions>(options)](const Observer& observer, Task::Channel& channel) {
        put_all(cluster(table, sweep, run, engine, observer), channel);
      });
}

template <class T>
std::unique_ptr<Task> start_matrix(std::span<const T> matrix, std::size_t n, double eps, const Sweep& sweep,
                                   const TableRun& run, const EngineOptions& engine) {
  return std::make_unique<Task>([=](const Observer& observer, Task::Channel& channel) {
    const Neighbors table = neighbors_of_distances(matrix, n, eps, engine, observer);
    put_all(cluster(table.view(), sweep, run, engine, observer), channel);
  });
}

/// eps: the largest of the variants. Of float32, it is rounded to that.
std::unique_ptr<Task> start_distances(const Matrix& matrix, double eps, const Pairs& variants, const Weights& weights,
                                      bool core, bool directed, const nb::dict& options) {
  const std::size_t n = matrix.shape(0);
  const Sweep sweep = sweep_of(variants);
  const auto engine = options_from<EngineOptions>(options);
  if (matrix.dtype() == nb::dtype<float>()) {
    return start_matrix(std::span(static_cast<const float*>(matrix.data()), n * n), n, static_cast<float>(eps), sweep,
                        run_of(weights, core, directed, true), engine);
  }
  return start_matrix(std::span(static_cast<const double*>(matrix.data()), n * n), n, eps, sweep,
                      run_of(weights, core, directed, false), engine);
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

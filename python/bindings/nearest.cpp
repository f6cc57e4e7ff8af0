#include "nearest.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "dataset.hpp"
#include "task.hpp"

#include <epsflow/pipeline/k_distance.hpp>
#include <epsflow/pipeline/selectivity.hpp>

namespace nb = nanobind;
using namespace nb::literals;

namespace epsflow::python {
namespace {

std::unique_ptr<Task> start_k_distances(const PyDataset& data, std::vector<std::uint32_t> ks) {
  return std::make_unique<Task>(
      [run_on = data.data.get(), ks = std::move(ks)](const Observer& observer, Task::Channel& channel) {
        channel.put(k_distances(run_on, ks, {}, observer));
      });
}

/// [n · ks]
Column<double> take_k_distances(Task& task) { return column_of(task.take<std::vector<double>>()); }

using SelectivityRow = std::tuple<double, double, double>;

std::unique_ptr<Task> start_selectivity(const PyDataset& data, std::vector<double> eps, std::size_t sample) {
  return std::make_unique<Task>(
      [run_on = data.data.get(), eps = std::move(eps), sample](const Observer& observer, Task::Channel& channel) {
        channel.put(selectivity(run_on, eps, sample, {}, observer));
      });
}

std::vector<SelectivityRow> take_selectivity(Task& task) {
  std::vector<SelectivityRow> rows;
  for (const Selectivity& s : task.take<std::vector<Selectivity>>()) rows.emplace_back(s.eps, s.neighbors, s.error);
  return rows;
}

}  // namespace

void define_nearest(nb::module_& m) {
  m.def("start_k_distances", &start_k_distances, "data"_a, "ks"_a, nb::keep_alive<0, 1>());
  m.def("take_k_distances", &take_k_distances, "task"_a);
  m.def("start_selectivity", &start_selectivity, "data"_a, "eps"_a, "sample"_a, nb::keep_alive<0, 1>());
  m.def("take_selectivity", &take_selectivity, "task"_a);
  m.def(
      "knee",
      [](const Vector<double>& distances) {
        const Knee found = knee(span_of(distances));
        return std::pair(found.distance, found.share);
      },
      nb::arg("distances").noconvert(), nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "eps_range",
      [](const Vector<double>& distances) {
        const EpsRange found = eps_range(span_of(distances));
        return std::pair(found.from, found.to);
      },
      nb::arg("distances").noconvert(), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace epsflow::python

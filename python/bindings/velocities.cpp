#include "velocities.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "dataset.hpp"
#include "task.hpp"

#include <epsflow/pipeline/velocities.hpp>

namespace nb = nanobind;
using namespace nb::literals;

namespace epsflow::python {
namespace {

/// velocities: [count · d]. Whoever calls keeps the arrays until the task has ended.
std::unique_ptr<Task> start_velocities(const PyEngine& engine, const HostArray& points, const Vector<double>& times,
                                       const Vector<double>& velocities, const Variants& variants,
                                       std::uint32_t least) {
  return std::make_unique<Task>([loader = engine.engine.get(),
                                 moving = MovingPoints{view_of(points), span_of(times), span_of(velocities)},
                                 sweep = sweep_of(variants), least](const Observer& observer, Task::Channel& channel) {
    std::vector<VelocityClusters> turns;
    const auto keep = [&](VelocityClusters&& found) { turns.push_back(std::move(found)); };
    sweep_velocities(loader, moving, sweep, keep, least, observer);
    channel.put(std::move(turns));
  });
}

template <class To, class From>
void append(std::vector<To>& to, const std::vector<From>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Counts of velocities and variants, and rows of clusters, as dicts of columns; turn after turn, in each variant after variant.
nb::tuple take_velocities(Task& task) {
  std::vector<double> eps;
  std::vector<double> clusters_eps;
  std::vector<std::int64_t> velocity, minpts, clusters, noise, core, border, largest;
  std::vector<std::int64_t> of_velocity, of_minpts, first_core, cluster_core, size;
  for (const VelocityClusters& found : task.take<std::vector<VelocityClusters>>()) {
    for (std::size_t v = 0; v < found.counts.size(); ++v) {
      const LabelSummary& counts = found.counts[v];
      velocity.push_back(static_cast<std::int64_t>(found.first + v));
      eps.push_back(found.variant.eps);
      minpts.push_back(found.variant.minpts);
      clusters.push_back(static_cast<std::int64_t>(counts.clusters));
      noise.push_back(static_cast<std::int64_t>(counts.noise));
      core.push_back(static_cast<std::int64_t>(counts.core));
      border.push_back(static_cast<std::int64_t>(counts.border));
      largest.push_back(static_cast<std::int64_t>(counts.largest));
    }
    clusters_eps.insert(clusters_eps.end(), found.size.size(), found.variant.eps);
    of_minpts.insert(of_minpts.end(), found.size.size(), found.variant.minpts);
    append(of_velocity, found.velocity);
    append(first_core, found.first_core);
    append(cluster_core, found.core);
    append(size, found.size);
  }
  nb::dict counted;
  counted["velocity"] = column_of(std::move(velocity));
  counted["eps"] = column_of(std::move(eps));
  counted["min_samples"] = column_of(std::move(minpts));
  counted["n_clusters"] = column_of(std::move(clusters));
  counted["n_noise"] = column_of(std::move(noise));
  counted["n_core"] = column_of(std::move(core));
  counted["n_border"] = column_of(std::move(border));
  counted["largest"] = column_of(std::move(largest));
  nb::dict listed;
  listed["velocity"] = column_of(std::move(of_velocity));
  listed["eps"] = column_of(std::move(clusters_eps));
  listed["min_samples"] = column_of(std::move(of_minpts));
  listed["first_core"] = column_of(std::move(first_core));
  listed["core"] = column_of(std::move(cluster_core));
  listed["size"] = column_of(std::move(size));
  return nb::make_tuple(counted, listed);
}

}  // namespace

void define_velocities(nb::module_& m) {
  m.def("start_velocities", &start_velocities, "engine"_a, nb::arg("points").noconvert(), nb::arg("times").noconvert(),
        nb::arg("velocities").noconvert(), "variants"_a, "least"_a, nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(),
        nb::keep_alive<0, 4>());
  m.def("take_velocities", &take_velocities, "task"_a);
}

}  // namespace epsflow::python

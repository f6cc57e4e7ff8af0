// Sweeps of one data set with many velocities.
#include "dataset.hpp"

#include <epsflow/pipeline/velocities.hpp>

namespace epsflow::python {
namespace {

template <class To, class From>
void append(std::vector<To>& to, const std::vector<From>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Returns counts of velocities and variants, and rows of clusters, as dicts of columns. Rows are in the order of the
/// batches of velocities, then of the variants.
nb::tuple columns_of(std::vector<VelocityClusters>&& turns) {
  std::vector<double> eps, clusters_eps;
  std::vector<std::int64_t> velocity, minpts;
  std::vector<LabelSummary> counts;
  std::vector<std::int64_t> of_velocity, of_minpts, first_core, cluster_core, size;
  for (const VelocityClusters& found : turns) {
    for (std::size_t v = 0; v < found.counts.size(); ++v)
      velocity.push_back(static_cast<std::int64_t>(found.first + v));
    eps.insert(eps.end(), found.counts.size(), found.variant.eps);
    minpts.insert(minpts.end(), found.counts.size(), found.variant.minpts);
    append(counts, found.counts);
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
  counted["n_clusters"] = column_from<std::int64_t>(counts, &LabelSummary::clusters);
  counted["n_noise"] = column_from<std::int64_t>(counts, &LabelSummary::noise);
  counted["n_core"] = column_from<std::int64_t>(counts, &LabelSummary::core);
  counted["n_border"] = column_from<std::int64_t>(counts, &LabelSummary::border);
  counted["largest"] = column_from<std::int64_t>(counts, &LabelSummary::largest);
  nb::dict listed;
  listed["velocity"] = column_of(std::move(of_velocity));
  listed["eps"] = column_of(std::move(clusters_eps));
  listed["min_samples"] = column_of(std::move(of_minpts));
  listed["first_core"] = column_of(std::move(first_core));
  listed["core"] = column_of(std::move(cluster_core));
  listed["size"] = column_of(std::move(size));
  return nb::make_tuple(counted, listed);
}

/// velocities: [count · d].
std::unique_ptr<Task> start_velocities(const PyEngine& engine, const HostArray& points, const Vector<double>& times,
                                       const Vector<double>& velocities, const Variants& variants,
                                       std::uint32_t least) {
  return start_making(
      [loader = engine.engine.get(), moving = MovingPoints{view_of(points), span_of(times), span_of(velocities)},
       sweep = sweep_of(variants), least](const Observer& observer) {
        std::vector<VelocityClusters> turns;
        const auto keep = [&](VelocityClusters&& found) { turns.push_back(std::move(found)); };
        sweep_velocities(loader, moving, sweep, keep, least, observer);
        return turns;
      },
      columns_of);
}

}  // namespace

void define_velocities(nb::module_& m) {
  def_task(m, "start_velocities", &start_velocities, "engine"_a, nb::arg("points").noconvert(),
           nb::arg("times").noconvert(), nb::arg("velocities").noconvert(), "variants"_a, "least"_a);
}

}  // namespace epsflow::python

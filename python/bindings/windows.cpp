// Windows over streams of points.
#include <mutex>

#include "dataset.hpp"
#include "options.hpp"
#include "points.hpp"
#include "task.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/windows/window.hpp>

namespace epsflow::python {
namespace {

/// A window that one thread uses at a time.
struct SharedWindow {
  explicit SharedWindow(Window&& made) : window(std::move(made)) {}
  Window window;
  std::mutex mutex;
};

struct PyWindow {
  OfProcess<std::shared_ptr<SharedWindow>> shared;

  /// Waits until no step runs, without the interpreter, and returns use(window).
  template <class Use>
  auto with(Use&& use) const {
    SharedWindow& held = *shared.get();
    std::unique_lock lock(held.mutex, std::defer_lock);
    {
      const nb::gil_scoped_release release;
      lock.lock();
    }
    return use(held.window);
  }
};

/// The sweep, metric and other options of a window, as Python passes them.
struct PyWindowOptions {
  Sweep sweep;
  PyMetric metric;
  bool weighted;
  bool timed;
  double max_age;
  std::uint64_t max_points;
  EngineOptions engine;
  MemorySpace labels;

  [[nodiscard]] WindowOptions in(std::size_t dims) const {
    return {metric.in(dims), weighted, timed, max_age, max_points, engine, labels};
  }
};

/// Labels and core marks of a step, which later steps leave as they are.
struct LabelsOnGpu {
  DeviceArray<std::int32_t> labels;
  DeviceArray<std::uint8_t> core;
};

PyWindow made(Window&& window) { return {OfProcess(std::make_shared<SharedWindow>(std::move(window)))}; }

PyWindow make_window(std::size_t dims, const PyWindowOptions& options) {
  const nb::gil_scoped_release release;
  return made(Window(dims, options.sweep, options.in(dims)));
}

/// points: none if no point arrives. Gives first id, numbers of points that arrived, were too old, were too many and
/// left, and whether the points were clustered from scratch.
std::unique_ptr<Task> start_step(const PyWindow& window, const std::optional<HostArray>& points,
                                 const Maybe<double>& times, const Weights& weights,
                                 const Maybe<std::uint64_t>& leaving, std::optional<double> now) {
  WindowStep step{.times = span_of(times), .weights = span_of(weights), .leaving = span_of(leaving), .now = now};
  if (points) step.arriving = view_of(*points);
  return start_making(
      [held = window.shared.get(), step](const Observer& observer) {
        const std::scoped_lock lock(held->mutex);
        return held->window.step(step, observer.cancel);
      },
      [](StepSummary&& s) {
        return nb::make_tuple(s.first_id, s.arrived, s.too_old, s.too_many, s.left, s.from_scratch);
      });
}

/// Return functions that copy a vector of the window, or of the result of a variant, to a column.
template <class Get>
auto column_getter(Get get) {
  return [get](const PyWindow& window) { return column_of(window.with(get)); };
}
template <class Get>
auto result_getter(Get get) {
  return [get](const PyWindow& window, std::size_t v) {
    return column_of(window.with([&](Window& w) { return get(w.results()[v]); }));
  };
}

/// Returns columns: id, number of points, of core points, id of the first core point.
nb::tuple clusters_of(const PyWindow& window, std::size_t v) {
  const std::vector<WindowCluster> clusters = window.with([&](Window& w) { return w.results()[v].clusters; });
  return columns_from(clusters, &WindowCluster::id, &WindowCluster::points, &WindowCluster::core,
                      &WindowCluster::first_core);
}

/// Returns a list of the changes: word, ids before, points before, ids after, points after.
nb::list changes_of(const PyWindow& window, std::size_t v) {
  const WindowResult result = window.with([&](Window& w) {
    const WindowResult& all = w.results()[v];
    return WindowResult{.clusters = all.clusters, .earlier = all.earlier, .changes = all.changes};
  });
  const auto listed = [](std::span<const std::uint32_t> indices, const std::vector<WindowCluster>& clusters) {
    nb::list ids, points;
    for (const std::uint32_t index : indices) {
      ids.append(clusters[index].id);
      points.append(clusters[index].points);
    }
    return std::pair(nb::tuple(ids), nb::tuple(points));
  };
  nb::list found;
  for (std::size_t i = 0; i < result.changes.size(); ++i) {
    const auto change = result.changes[i];
    const auto [before, points_before] = listed(change.before, result.earlier);
    const auto [after, points_after] = listed(change.after, result.clusters);
    found.append(nb::make_tuple(word_of(change.kind), before, points_before, after, points_after));
  }
  return found;
}

/// dims, next id, latest time, ids, points, times, weights; then for each variant the next id and ids of clusters.
nb::tuple state_of(const PyWindow& window) {
  WindowState state = window.with([](Window& w) { return w.state(); });
  nb::list variants;
  for (WindowState::Ids& ids : state.variants)
    variants.append(nb::make_tuple(ids.next, column_of(std::move(ids.clusters))));
  return nb::make_tuple(state.dims, state.next_id, state.latest, column_of(std::move(state.ids)),
                        column_of(std::move(state.points)), column_of(std::move(state.times)),
                        column_of(std::move(state.weights)), variants);
}

template <class T>
std::vector<T> values_of(nb::handle array) {
  const auto values = span_of(nb::cast<Vector<T>>(array));
  return {values.begin(), values.end()};
}

PyWindow restored(const PyWindowOptions& options, const nb::tuple& saved) {
  WindowState state;
  state.dims = nb::cast<std::size_t>(saved[0]);
  state.next_id = nb::cast<std::uint64_t>(saved[1]);
  state.latest = nb::cast<std::optional<double>>(saved[2]);
  state.ids = values_of<std::uint64_t>(saved[3]);
  state.points = values_of<double>(saved[4]);
  state.times = values_of<double>(saved[5]);
  state.weights = values_of<double>(saved[6]);
  for (const nb::handle of : nb::cast<nb::list>(saved[7])) {
    const auto ids = nb::cast<nb::tuple>(of);
    state.variants.push_back({nb::cast<std::uint64_t>(ids[0]), values_of<std::uint64_t>(ids[1])});
  }
  const nb::gil_scoped_release release;
  return made(Window(state, options.sweep, options.in(state.dims)));
}

}  // namespace

void define_windows(nb::module_& m) {
  nb::class_<PyWindowOptions>(m, "WindowOptions")
      .def(
          "__init__",
          [](PyWindowOptions* memory, const Variants& variants, const PyMetric& metric, bool weighted, bool timed,
             std::pair<double, std::uint64_t> most, const nb::dict& engine, bool labels_on_gpu) {
            new (memory) PyWindowOptions{sweep_of(variants),
                                         metric,
                                         weighted,
                                         timed,
                                         most.first,
                                         most.second,
                                         options_from<EngineOptions>(engine),
                                         labels_on_gpu ? MemorySpace::device : MemorySpace::host};
          },
          "variants"_a, "metric"_a, "weighted"_a, "timed"_a, "most"_a, "engine"_a, "labels_on_gpu"_a);
  nb::class_<LabelsOnGpu>(m, "LabelsOnGpu", "The labels of one step in the memory of a GPU.")
      .def_prop_ro("labels", gpu_column_in<std::int32_t, LabelsOnGpu>(&LabelsOnGpu::labels))
      .def_prop_ro("core", gpu_column_in<bool, LabelsOnGpu>(&LabelsOnGpu::core));
  nb::class_<PyWindow> windows(m, "Window");
  def_task(windows, "start_step", &start_step, nb::arg("points").noconvert().none(),
           nb::arg("times").noconvert().none(), nb::arg("weights").noconvert().none(),
           nb::arg("leaving").noconvert().none(), nb::arg("now").none());
  windows.def("__len__", [](const PyWindow& window) { return window.with([](Window& w) { return w.size(); }); })
      .def("ids", column_getter([](Window& w) { return w.ids(); }))
      .def("points", column_getter([](Window& w) { return w.points(); }))
      .def("times", column_getter([](Window& w) { return w.times(); }))
      .def("labels", result_getter([](const WindowResult& result) { return result.labels; }), "variant"_a)
      .def("core", result_getter([](const WindowResult& result) { return result.core; }), "variant"_a)
      .def(
          "on_gpu",
          [](const PyWindow& window, std::size_t v) {
            return window.with([&](Window& w) {
              return LabelsOnGpu{w.results()[v].device_labels, w.results()[v].device_core};
            });
          },
          "variant"_a)
      .def("clusters", &clusters_of, "variant"_a)
      .def("changes", &changes_of, "variant"_a)
      .def("state", &state_of);
  m.def("make_window", &make_window, "dims"_a, "options"_a);
  m.def("restored_window", &restored, "options"_a, "state"_a);
}

}  // namespace epsflow::python

// epsflow._core: the library for epsflow's Python modules, which check arrays before (epsflow/_arrays.py).

#include <chrono>

#include "dataset.hpp"
#include "gpu_points.hpp"
#include "points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/checksum.hpp>
#include <epsflow/io/results/folder_lock.hpp>
#include <epsflow/io/results/results_files.hpp>
#include <epsflow/io/results/results_manifest.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/pipeline/backends.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/lineage.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/plan.hpp>
#include <epsflow/pipeline/predict.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::python {
namespace {

using PyPredictor = OfProcess<Predictor>;

/// Labels and figures of a variant. Arrays are views of its memory.
struct PyResult : io::SweepEntry {
  explicit PyResult(VariantResult&& made)
      : SweepEntry{made.variant, made.summary, made.seconds}, result(std::move(made)) {}

  VariantResult result;
};

/// eps, min_samples, clusters, noise, core, border, largest, seconds.
using EntryTuple = std::tuple<double, std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                              std::uint64_t, double>;

void make_figures(io::SweepEntry* memory, const EntryTuple& words) {
  const auto& [eps, minpts, clusters, noise, core, border, largest, seconds] = words;
  new (memory) io::SweepEntry{{eps, minpts}, {clusters, noise, core, border, largest}, seconds};
}

EntryTuple words_of(const io::SweepEntry& e) {
  const LabelSummary& s = e.summary;
  return {e.variant.eps, e.variant.minpts, s.clusters, s.noise, s.core, s.border, s.largest, e.seconds};
}

PyEngine make_engine(const nb::dict& given) {
  const EngineOptions options = options_from<EngineOptions>(given);
  const nb::gil_scoped_release release;
  try {
    check_backend(options);
  } catch (const Error& error) {
    throw Error(error.what());  // memory is not short
  }
  std::vector<std::string> notices;
  Engine engine(options, [&](const std::string& notice) { notices.push_back(notice); });
  return {OfProcess(std::move(engine)), std::move(notices)};
}

/// Returns the backend for n points if no device is requested: "cpu" or "auto".
std::string chosen_backend(std::uint64_t n, std::size_t dims, const Metric& metric, const RunOptions& run) {
  check_metric(metric, dims);
  const BackendChoice chosen =
      choose_backend(n, transformed_dims(metric, dims), transformed_space(metric), {}, run, preferred_backend());
  return std::string(word_of(chosen == BackendChoice::cpu ? chosen : BackendChoice::automatic));
}

/// Returns the data set as an object of Python, which gets its points later.
nb::object loaded(Dataset&& data) { return nb::cast(PyDataset{OfProcess(std::move(data)), nb::object()}); }

/// slices: the offsets of the slices, or empty for one data set.
std::unique_ptr<Task> start_load(const PyEngine& engine, const HostArray& points, const PyMetric& metric,
                                 const std::vector<std::uint64_t>& slices) {
  return start_making(
      [loader = engine.engine.get(), view = view_of(points), metric = metric.in(points.shape(1)),
       slices](const Observer& observer) {
        return slices.empty() ? loader.load(view, metric, observer.cancel)
                              : loader.load(view, slices, metric, observer.cancel);
      },
      loaded);
}

std::unique_ptr<Task> start_load_gpu(const PyEngine& engine, const PyGpuPoints& points, const PyMetric& metric,
                                     const std::vector<std::uint64_t>& slices) {
  if (metric.in(points.dims) != Metric{}) {
    throw UsageError(
        "points on a GPU are clustered there by metric='euclidean', without scale and box: for others copy them to the "
        "host");
  }
  const Engine& loader = engine.engine.get();
  return start_making(
      [loader, view = points.view(static_cast<int>(loader.options().gpu.value_or(0))),
       slices](const Observer& observer) {
        return slices.empty() ? loader.load(view, observer.cancel) : loader.load(view, slices, observer.cancel);
      },
      loaded);
}

std::unique_ptr<Task> start_predictor(const HostArray& core, const Vector<std::int32_t>& labels, double eps,
                                      const PyMetric& metric, const nb::dict& options) {
  const CoreView view{view_of(core), span_of(labels), eps, metric.in(core.shape(1))};
  return start_making([view, options = options_from<EngineOptions>(options)](
                          const Observer& observer) { return Predictor(view, options, observer); },
                      [](Predictor&& made) { return nb::cast(PyPredictor(std::move(made))); });
}

std::unique_ptr<Task> start_predict(const PyPredictor& predictor, const HostArray& points) {
  return std::make_unique<Task>(
      [kept = predictor.get(), fresh = view_of(points)](const Observer& observer, Task::Channel& channel) {
        VariantResult result;
        result.labels = kept.predict(fresh, observer);
        channel.put(std::move(result));
      });
}

std::unique_ptr<Task> start_neighbors(const PyDataset& data, double eps, bool distances) {
  return start_making([run_on = data.data.get(), eps, distances](const Observer& observer) {
    return neighbors(run_on, eps, distances ? Distances::include : Distances::omit, {}, {}, observer);
  });
}

std::unique_ptr<Task> start_plan(const PyDataset& data, const Variants& variants, const nb::dict& options,
                                 const Weights& weights) {
  return start_making([points = TaskDataset(data, weights), sweep = sweep_of(variants),
                       run = options_from<RunOptions>(options)](const Observer& observer) {
    return plan(points.get(observer), sweep, {}, run, observer);
  });
}

/// Sets the Python exception `type` with the text of `error`, which may contain file names that are not UTF-8.
void set_error(PyObject* type, const std::exception& error) {
  const auto text = nb::steal(PyUnicode_DecodeFSDefault(error.what()));
  if (text.is_valid()) PyErr_SetObject(type, text.ptr());
}

void translate_errors(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const io::InTheWay& e) {
    set_error(PyExc_FileExistsError, e);
  } catch (const io::FolderLocked& e) {
    set_error(PyExc_BlockingIOError, e);
  } catch (const UsageError& e) {
    set_error(PyExc_ValueError, e);
  } catch (const InputError& e) {
    set_error(PyExc_ValueError, e);
  } catch (const ResourceError& e) {
    set_error(PyExc_MemoryError, e);
  } catch (const Error& e) {
    set_error(PyExc_RuntimeError, e);
  }
}

void define_results(nb::module_& m) {
  const auto figure = [](auto LabelSummary::*field) {
    return [field](const io::SweepEntry& e) { return e.summary.*field; };
  };
  nb::class_<io::SweepEntry>(m, "Figures", "The figures of a variant.")
      .def("__init__", &make_figures, "words"_a)
      .def_prop_ro("words", &words_of, "The eight values from which a Figures object is made.")
      .def_prop_ro("eps", [](const io::SweepEntry& e) { return e.variant.eps; })
      .def_prop_ro("min_samples", [](const io::SweepEntry& e) { return e.variant.minpts; })
      .def_prop_ro("clusters", figure(&LabelSummary::clusters))
      .def_prop_ro("noise", figure(&LabelSummary::noise))
      .def_prop_ro("core_count", figure(&LabelSummary::core))
      .def_prop_ro("border", figure(&LabelSummary::border))
      .def_prop_ro("largest", figure(&LabelSummary::largest))
      .def_ro("seconds", &io::SweepEntry::seconds);
  nb::class_<PyResult, io::SweepEntry>(m, "Result", "One finished variant. Its arrays are views of it, without a copy.")
      .def_prop_ro("labels", column_in<PyResult>([](PyResult & r) -> auto& { return r.result.labels; }))
      .def_prop_ro("core", column_in<PyResult>([](PyResult & r) -> auto& { return r.result.core; }))
      .def_prop_ro("gpu_labels",
                   gpu_column_in<std::int32_t, PyResult>([](PyResult & r) -> auto& { return r.result.device_labels; }))
      .def_prop_ro("gpu_core",
                   gpu_column_in<bool, PyResult>([](PyResult & r) -> auto& { return r.result.device_core; }))
      .def_prop_ro(
          "slices",
          [](const PyResult& r) {
            std::vector<std::uint64_t> counts;
            for (const LabelSummary& s : r.result.slices) {
              counts.insert(counts.end(), {s.clusters, s.noise, s.core, s.border, s.largest});
            }
            return column_of(std::move(counts));
          },
          nb::rv_policy::move, "Five counts of each slice, one slice after the other.");
  nb::class_<Neighbors>(m, "Neighbors", "Compressed sparse rows. Its arrays are views of it, without a copy.")
      .def_prop_ro("offsets", column_in<Neighbors>(&Neighbors::offsets))
      .def_prop_ro("ids", column_in<Neighbors>(&Neighbors::ids))
      .def_prop_ro("distances", column_in<Neighbors>(&Neighbors::distances));
  nb::class_<GroupPlan>(m, "Plan", "What a sweep would do with the variants of one eps.")
      .def_ro("eps", &GroupPlan::eps)
      .def_ro("min_samples", &GroupPlan::minpts)
      .def_prop_ro("strategy",
                   [](const GroupPlan& p) {
                     return p.strategy == Strategy::direct ? "direct" : p.packed ? "packed table" : "csr table";
                   })
      .def_ro("because", &GroupPlan::reason)
      .def_prop_ro("index", [](const GroupPlan& p) { return word_of(p.index); })
      .def_prop_ro("decide", [](const GroupPlan& p) { return word_of(p.decide); })
      .def_ro("cells", &GroupPlan::cells)
      .def_ro("candidates", &GroupPlan::candidates)
      .def_ro("passes", &GroupPlan::passes)
      .def_ro("pairs", &GroupPlan::pairs)
      .def_ro("bytes", &GroupPlan::bytes)
      .def_ro("fits", &GroupPlan::fits)
      .def_ro("seconds", &GroupPlan::seconds);
}

void define_task(nb::module_& m) {
  nb::class_<Progress>(m, "Progress", "How far a run is.")
      .def_ro("variants_done", &Progress::variants_done)
      .def_ro("variants", &Progress::variants)
      .def_ro("eps", &Progress::table_eps)
      .def_ro("share", &Progress::table_share)
      .def_ro("seconds", &Progress::seconds)
      .def_ro("seconds_left", &Progress::seconds_left);
  nb::class_<Task>(m, "Task", "A run in the background.")
      .def(
          "wait", [](Task& task, double seconds) { return task.wait(std::chrono::duration<double>(seconds)); },
          "seconds"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Waits no longer than so many seconds; returns whether the run has ended, and raises what ended it.")
      .def("cancel", &Task::cancel)
      .def("take_results",
           [](Task& task) {
             std::vector<PyResult> taken;
             for (VariantResult& result : task.take_results()) taken.emplace_back(std::move(result));
             return taken;
           })
      .def("take", &Task::take, "What the run has made.")
      .def(
          "take_dataset",
          [](Task& task, nb::object points) {
            nb::object made = task.take();
            nb::cast<PyDataset&>(made).points = std::move(points);
            return made;
          },
          "points"_a, "points: those that start_load() was given.")
      .def("take_notices", &Task::take_notices)
      .def("progress", &Task::progress);
}

void define_engine(nb::module_& m) {
  nb::class_<PyDataset> datasets(m, "Dataset", "Points that an engine has loaded.");
  datasets.def_prop_ro("metric", [](const PyDataset& d) { return describe(d.data.get().metric()); });
  def_task(datasets, "start_sweep", &start_sweep, "variants"_a, "options"_a, nb::arg("weights").noconvert().none(),
           "lineage"_a = false);
  def_task(datasets, "start_plan", &start_plan, "variants"_a, "options"_a, nb::arg("weights").noconvert().none());
  def_task(datasets, "start_neighbors", &start_neighbors, "eps"_a, "distances"_a);
  nb::class_<PyEngine> engines(m, "Engine", "A device with its memory and threads.");
  engines.def_prop_ro("backend", [](const PyEngine& e) { return std::string(e.engine.get().backend()); })
      .def_ro("notices", &PyEngine::notices)
      .def_prop_ro("memory", [](const PyEngine& e) { return e.engine.get().options().memory; })
      .def_prop_ro("threads", [](const PyEngine& e) { return e.engine.get().options().threads; });
  def_task(engines, "start_load", &start_load, nb::arg("points").noconvert(), "metric"_a,
           "slices"_a = std::vector<std::uint64_t>());
  def_task(engines, "start_load_gpu", &start_load_gpu, "points"_a, "metric"_a,
           "slices"_a = std::vector<std::uint64_t>());
  m.def(
      "checksum_of",
      [](const HostArray& points) {
        const PointsView view = view_of(points);
        const nb::gil_scoped_release release;
        return io::checksum_of(view);
      },
      nb::arg("points").noconvert());
  nb::class_<PyPredictor> predictors(m, "Predictor", "Core points that new ones are assigned by.");
  def_task(predictors, "start_predict", &start_predict, nb::arg("points").noconvert());
  def_task(m, "start_predictor", &start_predictor, nb::arg("core").noconvert(), nb::arg("labels").noconvert(), "eps"_a,
           "metric"_a, "options"_a);
  m.def("parse_bytes", &parse_bytes, "text"_a);
  m.def("make_engine", &make_engine, "options"_a);
  m.def(
      "metric_named",
      [](const std::string& word) { return std::string(word_of(choice_named<MetricKind>("metric", word))); }, "word"_a,
      "The name of a metric that has several.");
  m.attr("MOST_VARIANTS") = kMostVariants;
  m.def("options", [] {
    std::vector<OptionRow> rows;
    add_rows<EngineOptions>(rows);
    add_rows<RunOptions>(rows);
    add_rows<parts::DeviceOptions>(rows);
    add_rows<SearchOptions>(rows);
    add_rows<Metric>(rows);
    return rows;
  });
  m.def(
      "choose_backend",
      [](std::uint64_t n, std::size_t dims, const PyMetric& metric, const nb::dict& run) {
        return chosen_backend(n, dims, metric.in(dims), options_from<RunOptions>(run));
      },
      "n"_a, "dims"_a, "metric"_a, "run"_a);
  m.def("backends", [] {
    std::vector<std::tuple<std::string, bool, std::string>> all;
    for (const BackendInfo& info : backends()) all.emplace_back(info.name, info.usable, info.detail);
    return all;
  });
}

}  // namespace
}  // namespace epsflow::python

NB_MODULE(_core, m) {
  m.doc() = "What epsflow's Python modules call; no interface of its own.";
  nanobind::register_exception_translator(epsflow::python::translate_errors);
  epsflow::python::define_gpu_points(m);
  epsflow::python::define_points(m);
  epsflow::python::define_results(m);
  epsflow::python::define_task(m);
  epsflow::python::define_engine(m);
  epsflow::python::define_results_folders(m);
  epsflow::python::define_reports(m);
  epsflow::python::define_tables(m);
  epsflow::python::define_tracks(m);
  epsflow::python::define_trees(m);
  epsflow::python::define_velocities(m);
  epsflow::python::define_windows(m);
  epsflow::python::define_maps(m);
  epsflow::python::define_catalogs(m);
  epsflow::python::define_comparisons(m);
  epsflow::python::define_ranks(m);
  epsflow::python::define_sweeps(m);
}

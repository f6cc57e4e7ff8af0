#include "tracks.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "metrics.hpp"
#include "options.hpp"
#include "task.hpp"

#include <epsflow/pipeline/tracks.hpp>

namespace nb = nanobind;
using namespace nb::literals;

namespace epsflow::python {
namespace {

template <class T>
using Maybe = std::optional<Vector<T>>;

template <class T>
std::span<const T> span_or_none(const Maybe<T>& array) {
  return array ? span_of(*array) : std::span<const T>();
}

std::unique_ptr<Task> start_tracks(const std::optional<HostArray>& points, const Vector<std::int32_t>& labels,
                                   const Vector<std::uint64_t>& starts, const Maybe<std::uint8_t>& core,
                                   const Maybe<std::int64_t>& ids, const MetricWords& words, const std::string& match,
                                   double eps, double least_share, const nb::dict& options) {
  SlicedLabels slices{
      .starts = span_of(starts), .labels = span_of(labels), .core = span_or_none(core), .ids = span_or_none(ids)};
  if (points) {
    slices.points = visit_values(*points, [&](auto values) { return PointsView(values, points->shape(1)); });
    slices.metric = metric_of(words, points->shape(1));
  }
  return std::make_unique<Task>(
      [slices, how = TrackOptions{choice_named<TrackMatch>("match", match), eps, least_share},
       engine = options_from<EngineOptions>(options)](const Observer& observer, Task::Channel& channel) {
        channel.put(track(slices, how, engine, observer));
      });
}

/// A column of a field of each row, as To.
template <class To, class Row, class Field>
auto column_from(const std::vector<Row>& rows, Field Row::*field) {
  std::vector<To> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(static_cast<To>(row.*field));
  return column_of(std::move(values));
}

/// Features by their numbers, from 1.
std::vector<std::uint32_t> numbers_of(std::vector<std::uint32_t> features) {
  for (std::uint32_t& f : features) ++f;
  return features;
}

/// cells, tracks; the columns of the table; those of the links; the events as (kind, frame, before, after); the feature of each point, 0
/// for noise. Features count from 1.
nb::tuple take_tracks(Task& task) {
  TrackedSlices found = task.take<TrackedSlices>();
  const auto& rows = found.rows;
  using Count = std::int64_t;
  nb::dict table;
  table["frame"] = column_from<Count>(rows, &TrackRow::frame);
  table["idx"] = column_from<Count>(rows, &TrackRow::idx);
  table["num"] = column_from<Count>(rows, &TrackRow::num);
  table["feature"] = column_from<Count>(rows, &TrackRow::feature);
  table["x"] = column_from<double>(rows, &TrackRow::x);
  table["y"] = column_from<double>(rows, &TrackRow::y);
  table["z"] = column_from<double>(rows, &TrackRow::z);
  table["lat"] = column_from<double>(rows, &TrackRow::lat);
  table["lon"] = column_from<double>(rows, &TrackRow::lon);
  table["cell"] = column_from<Count>(rows, &TrackRow::cell);
  table["track"] = column_from<Count>(rows, &TrackRow::track);
  table["label"] = column_from<Count>(found.tracks.features, &Feature::label);
  for (FeatureLink& link : found.tracks.links) {
    ++link.from;
    ++link.to;
  }
  nb::dict links;
  links["before"] = column_from<Count>(found.tracks.links, &FeatureLink::from);
  links["after"] = column_from<Count>(found.tracks.links, &FeatureLink::to);
  links["before_points"] = column_from<Count>(found.tracks.links, &FeatureLink::from_points);
  links["after_points"] = column_from<Count>(found.tracks.links, &FeatureLink::to_points);
  links["same_cell"] = column_from<std::uint8_t>(found.tracks.links, &FeatureLink::same_cell);
  nb::list events;
  for (TrackEvent& e : found.tracks.events) {
    events.append(nb::make_tuple(std::string(word_of(e.kind)), e.slice,
                                 nb::tuple(nb::cast(numbers_of(std::move(e.before)))),
                                 nb::tuple(nb::cast(numbers_of(std::move(e.after))))));
  }
  return nb::make_tuple(found.tracks.cells, found.tracks.tracks, table, links, events,
                        column_of(numbers_of(std::move(found.tracks.feature_of))));
}

}  // namespace

void define_tracks(nb::module_& m) {
  m.def("start_tracks", &start_tracks, nb::arg("points").noconvert().none(), nb::arg("labels").noconvert(),
        nb::arg("starts").noconvert(), nb::arg("core").noconvert().none(), nb::arg("ids").noconvert().none(),
        "metric"_a, "match"_a, "eps"_a, "least_share"_a, "options"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(),
        nb::keep_alive<0, 3>(), nb::keep_alive<0, 4>(), nb::keep_alive<0, 5>());
  m.def("take_tracks", &take_tracks, "task"_a);
}

}  // namespace epsflow::python

// Tracks: clusters from slice to slice.
#include "points.hpp"
#include "task.hpp"

#include <epsflow/pipeline/on_threads.hpp>

namespace epsflow::python {
namespace {

/// Returns the numbers of features, from 1.
std::vector<std::uint32_t> numbers_of(std::vector<std::uint32_t> features) {
  for (std::uint32_t& f : features) ++f;
  return features;
}

/// Returns the numbers of cells and tracks; the columns of the table; the columns of the links; the events as (kind,
/// frame, before, after); the feature of each point, 0 for noise. Features are numbered from 1.
nb::tuple tracks_of(TrackedSlices&& found) {
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

/// how: the way to match, eps and the least share.
std::unique_ptr<Task> start_tracks(const PyPoints& points, const Vector<std::uint64_t>& starts,
                                   const Maybe<std::int64_t>& ids, const std::tuple<std::string, double, double>& how,
                                   const nb::dict& options) {
  SlicedLabels slices{
      .starts = span_of(starts), .labels = span_of(points.labels), .core = span_of(points.core), .ids = span_of(ids)};
  if (points.array) {
    slices.points = points.view();
    slices.metric = points.metric();
  }
  const auto& [match, eps, least_share] = how;
  return start_making([slices, how = TrackOptions{choice_named<TrackMatch>("match", match), eps, least_share},
                       engine = options_from<EngineOptions>(options)](
                          const Observer& observer) { return track(slices, how, engine, observer); },
                      tracks_of);
}

}  // namespace

void define_tracks(nb::module_& m) {
  def_task(m, "start_tracks", &start_tracks, "points"_a, nb::arg("starts").noconvert(),
           nb::arg("ids").noconvert().none(), "how"_a, "options"_a);
}

}  // namespace epsflow::python

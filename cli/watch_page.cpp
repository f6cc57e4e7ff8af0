#include <epsflow/cli/watch_page.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <numbers>
#include <set>

#include <epsflow/io/read/decimal.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/report/encoding.hpp>
#include <epsflow/report/page_text.hpp>
#include <epsflow/report/planes.hpp>

namespace epsflow::cli {
namespace {

constexpr std::uint64_t kShownSteps = 200;
constexpr std::size_t kDrawnPoints = 20'000;
constexpr std::size_t kShownLives = 300;
constexpr std::size_t kShownRows = 100;
constexpr std::size_t kMostEvents = 50'000;    ///< in memory
constexpr double kLeastPause = 1;              ///< seconds between two pages
constexpr double kPausePerSecond = 10;         ///< of writing a page
constexpr double kLargestCoordinate = 65'535;  ///< the end of an axis
constexpr std::size_t kTrackFields = 4;        ///< step, time, id and number of points

/// Calls take(line) for each whole line from byte `offset` on, which becomes the end of the last one.
template <class Take>
void for_each_new_line(const std::filesystem::path& file, std::uint64_t& offset, Take take) {
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  for (std::string line; std::getline(in, line) && !in.eof();) {
    offset += line.size() + 1;
    take(std::string_view(line));
  }
}

/// One axis of the plane of the points: a column and its ends. In one dimension the second axis is missing.
struct PlaneAxis {
  std::size_t column = 0;
  bool missing = false;
  double from = 0;
  double to = 0;

  /// Returns a coordinate from 0 to 65,535. The halves avoid overflow.
  [[nodiscard]] std::uint32_t coordinate(const double* point) const {
    const double width = to / 2 - from / 2;
    if (missing || !(width > 0)) return static_cast<std::uint32_t>(kLargestCoordinate / 2);
    return static_cast<std::uint32_t>(std::lround((point[column] / 2 - from / 2) / width * kLargestCoordinate));
  }
};

std::array<PlaneAxis, 2> plane_axes(const std::vector<double>& points, std::size_t dims, const Metric& metric) {
  std::array<PlaneAxis, 2> axes{{{.column = 0}, {.column = 1, .missing = dims < 2}}};
  if (on_sphere(metric.kind) && latitude_comes_first(metric)) std::swap(axes[0].column, axes[1].column);
  for (PlaneAxis& axis : axes) {
    if (axis.missing || points.empty()) continue;
    axis.from = axis.to = points[axis.column];
    for (std::size_t i = axis.column; i < points.size(); i += dims) {
      axis.from = std::min(axis.from, points[i]);
      axis.to = std::max(axis.to, points[i]);
    }
  }
  return axes;
}

/// Returns the length of a step along x relative to one along y.
double relative_length(const std::array<PlaneAxis, 2>& axes, const Metric& metric) {
  if (on_sphere(metric.kind)) {
    const double radian = in_radians(metric.kind) ? 1 : std::numbers::pi / 180;
    return std::cos(std::clamp((axes[1].from + axes[1].to) / 2 * radian, -1.3, 1.3));
  }
  return metric.scale.empty() || axes[1].missing ? 1 : metric.scale[axes[0].column] / metric.scale[axes[1].column];
}

void append_number(report::Bytes& bytes, std::uint32_t value, int size) {
  for (int k = 0; k < size; ++k) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * k) & 0xFFU));
}

/// Adds the plane: its axes, the points that are drawn, and the ids of their clusters. A point has two coordinates
/// of two bytes each, and four bytes with the index of its cluster in the ids, counted from 1, or 0 for noise.
void add_plane(nlohmann::ordered_json& data, const Window& window, const std::vector<std::string>& columns) {
  const Metric& metric = window.options().metric;
  const std::vector<double> points = window.points();
  const WindowResult& result = window.results().front();
  const std::size_t dims = window.dims();
  const std::size_t every = std::max<std::size_t>((window.size() + kDrawnPoints - 1) / kDrawnPoints, 1);
  const std::array<PlaneAxis, 2> axes = plane_axes(points, dims, metric);
  std::vector<std::uint32_t> index(result.clusters.size());
  std::vector<std::uint64_t> ids;
  report::Bytes drawn;
  for (std::size_t i = 0; i < window.size(); i += every) {
    const std::int32_t label = result.labels[i];
    for (const PlaneAxis& axis : axes) append_number(drawn, axis.coordinate(&points[i * dims]), 2);
    if (label >= 0 && index[static_cast<std::size_t>(label)] == 0) {
      ids.push_back(result.clusters[static_cast<std::size_t>(label)].id);
      index[static_cast<std::size_t>(label)] = static_cast<std::uint32_t>(ids.size());
    }
    append_number(drawn, label < 0 ? 0 : index[static_cast<std::size_t>(label)], 4);
  }
  data["axes"] = nlohmann::ordered_json::array();
  for (const PlaneAxis& axis : axes) {
    if (axis.missing) continue;
    data["axes"].push_back({{"name", report::name_of({.names = columns}, metric, dims, axis.column)},
                            {"unit", report::unit_of({}, metric, axis.column)},
                            {"from", axis.from},
                            {"to", axis.to}});
  }
  data["x_per_y"] = relative_length(axes, metric);
  data["every"] = every;
  data["ids"] = std::move(ids);
  data["drawn"] = report::base64(drawn);
}

}  // namespace

WatchPage::WatchPage(std::filesystem::path folder, std::vector<std::string> columns)
    : folder_(std::move(folder)), columns_(std::move(columns)) {}

void WatchPage::read_track(std::string_view line) {
  std::array<double, kTrackFields> row{};
  for (double& value : row) {
    const std::size_t end = std::min(line.find(','), line.size());
    const auto number = io::parse_number(line.substr(0, end));
    if (!number) return;  // the header
    value = *number;
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  const auto [step_value, time, id, points] = row;
  const auto step = static_cast<std::uint64_t>(step_value);
  times_.emplace(step, time);
  if (times_.size() > 2 * kShownSteps) forget_before(step - kShownSteps);
  const Life begun{.born = step, .born_time = time, .first = step};
  lives_.try_emplace(static_cast<std::uint64_t>(id), begun)
      .first->second.sizes.push_back(static_cast<std::uint64_t>(points));
}

void WatchPage::read_event(std::string_view line) {
  if (line.find(R"("continued")") != std::string_view::npos) return;
  const auto event = nlohmann::ordered_json::parse(line, nullptr, false);
  if (!event.is_object() || !event.contains("step") || !event["step"].is_number_unsigned()) return;
  events_.push_back({event["step"], event.value("event", ""), event.value("before", nlohmann::ordered_json::array()),
                     event.value("after", nlohmann::ordered_json::array())});
  const auto step = event["step"].get<std::uint64_t>();
  while (events_.size() > kMostEvents || events_.front()[0].get<std::uint64_t>() + kShownSteps <= step) {
    events_.pop_front();
  }
}

void WatchPage::forget_before(std::uint64_t step) {
  times_.erase(times_.begin(), times_.lower_bound(step));
  while (!events_.empty() && events_.front()[0].get<std::uint64_t>() < step) events_.pop_front();
  std::erase_if(lives_, [step](const auto& life) { return life.second.first + life.second.sizes.size() <= step; });
  for (auto& [id, life] : lives_) {
    if (life.first >= step) continue;
    life.sizes.erase(life.sizes.begin(), life.sizes.begin() + static_cast<std::ptrdiff_t>(step - life.first));
    life.first = step;
  }
}

nlohmann::ordered_json WatchPage::table(const std::vector<WindowCluster>& clusters) const {
  std::vector<WindowCluster> largest(std::min(clusters.size(), kShownRows));
  std::ranges::partial_sort_copy(clusters, largest, [](const WindowCluster& a, const WindowCluster& b) {
    return std::pair(b.points, a.id) < std::pair(a.points, b.id);
  });
  auto rows = nlohmann::ordered_json::array();
  for (const WindowCluster& cluster : largest) {
    rows.push_back({cluster.id, cluster.points, cluster.core, nullptr, nullptr});
    if (const auto life = lives_.find(cluster.id); life != lives_.end()) {
      rows.back()[3] = life->second.born;
      rows.back()[4] = life->second.born_time;
    }
  }
  return rows;
}

void WatchPage::add_history(nlohmann::ordered_json& data, std::uint64_t first) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> by_size;  // the largest first, by the complement of their sizes
  for (const auto& [id, life] : lives_) by_size.emplace_back(~std::ranges::max(life.sizes), id);
  std::ranges::sort(by_size);
  by_size.resize(std::min(by_size.size(), kShownLives));
  std::set<std::uint64_t> shown;
  for (const auto& entry : by_size) shown.insert(entry.second);
  data["first_step"] = first;
  data["first_time"] = times_.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(times_.begin()->second);
  data["all_lives"] = lives_.size();
  data["lives"] = nlohmann::ordered_json::array();
  for (const std::uint64_t id : shown) {
    const Life& life = lives_.at(id);
    data["lives"].push_back({id, life.born, life.first, life.sizes});
  }
  data["events"] = nlohmann::ordered_json::array();
  for (const nlohmann::ordered_json& event : events_) {
    const auto is_shown = [&](const auto& id) { return shown.contains(id.template get<std::uint64_t>()); };
    if (std::ranges::any_of(event[2], is_shown) || std::ranges::any_of(event[3], is_shown)) {
      data["events"].push_back(event);
    }
  }
}

void WatchPage::write(const Window& window, const WatchProgress& progress, bool running) {
  for_each_new_line(folder_ / kWatchFiles[kTracks], read_[kTracks],
                    [this](std::string_view line) { read_track(line); });
  for_each_new_line(folder_ / kWatchFiles[kEvents], read_[kEvents],
                    [this](std::string_view line) { read_event(line); });
  const std::uint64_t first = progress.steps - std::min(progress.steps, kShownSteps);
  forget_before(first);
  const Stopwatch writing;  // without the history, which the first page of a run reads as a whole
  const WindowResult& result = window.results().front();
  nlohmann::ordered_json data{{"running", running},
                              {"steps", progress.steps},
                              {"time", nullptr},
                              {"dates", progress.position.times >= TimeKind::date_with_zone},
                              {"zone", progress.position.times == TimeKind::date_with_zone},
                              {"rows", progress.position.rows},
                              {"late", progress.late},
                              {"skipped", progress.position.skipped},
                              {"unused", progress.unused},
                              {"points", window.size()},
                              {"clusters", result.clusters.size()},
                              {"table", table(result.clusters)}};
  if (window.latest()) data["time"] = *window.latest();
  add_plane(data, window, columns_);
  add_history(data, first);
  const std::string json =
      report::json_in_html(data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  io::write_text_file(folder_ / "window.html", report::page_with(report::window_page_text(), json),
                      io::Overwrite::replace);
  pause_ = std::max(kLeastPause, kPausePerSecond * writing.seconds());
  since_ = {};
}

}  // namespace epsflow::cli

#include <epsflow/report/report.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include <epsflow/catalog/catalog.hpp>
#include <epsflow/clustering/relative_validity.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/json_numbers.hpp>
#include <epsflow/report/as_json.hpp>
#include <epsflow/report/encoding.hpp>
#include <epsflow/report/lifetimes.hpp>
#include <epsflow/report/page_text.hpp>

namespace epsflow::report {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostRows = 50;    ///< the largest number of rows of the catalogue of a cell
constexpr std::size_t kAllRows = 12800;  ///< the approximate number of rows of all cells
constexpr std::size_t kMostBars = 12;
constexpr std::size_t kShownCoordinates = 6;
constexpr std::size_t kMostTreeClusters = 120;
constexpr std::size_t kAllTreeClusters = 4800;  ///< the approximate number of clusters in the trees of all cells

/// Returns the value rounded to seven digits, which are more than a page shows.
ordered_json short_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.7g", value);
  return std::strtod(text.data(), nullptr);
}

/// Returns the eps of the clusters of an offer; empty if they have one eps.
std::vector<double> eps_of_clusters(const ordered_json& offer) {
  return offer.is_object() ? offer.value("eps_of_clusters", std::vector<double>()) : std::vector<double>();
}

/// Throws InputError for an offer with numbers that as_json() never writes. Counts and scores may be missing.
void check_offer(const ordered_json& offer, const std::string& path, std::uint64_t points) {
  ordered_json checked = offer;
  if (checked.is_object() && checked.contains("eps_of_clusters")) {
    const ordered_json& each = checked["eps_of_clusters"];
    const auto is_eps = [](const ordered_json& eps) { return eps.is_number() && eps.get<double>() > 0; };
    if (!each.is_array() || each.empty() || !std::ranges::all_of(each, is_eps)) {
      throw InputError(path + ".eps_of_clusters is not a list of numbers above 0");
    }
    if (checked.value("eps", ordered_json()).is_null()) checked["eps"] = each.front();  // the clusters have several
  }
  const JsonNumbers numbers(checked, path);
  static_cast<void>(numbers.variant());
  if (numbers.has("clusters")) static_cast<void>(numbers.summary(points));
  for (const char* name : {"score", "confidence"}) {
    if (numbers.has(name)) static_cast<void>(numbers.real(name));
  }
}

std::vector<std::uint64_t> sizes_of(std::span<const std::int32_t> labels) {
  std::vector<std::uint64_t> sizes;
  for (const std::int32_t label : labels) {
    if (label < 0) continue;
    const auto cluster = static_cast<std::size_t>(label);
    if (cluster >= sizes.size()) sizes.resize(cluster + 1);
    ++sizes[cluster];
  }
  return sizes;
}

template <class Size>
std::vector<std::uint64_t> histogram_of(const std::vector<Size>& sizes) {
  std::vector<std::uint64_t> counts;
  for (const std::uint64_t size : sizes) {
    if (size == 0) continue;
    const auto bin = static_cast<std::size_t>(std::bit_width(size) - 1);
    if (bin >= counts.size()) counts.resize(bin + 1);
    ++counts[bin];
  }
  return counts;
}

/// Returns the largest clusters in their order. A parent is not smaller than its children, so it is among them.
std::vector<TreeCluster> top_of_tree(std::span<const TreeCluster> clusters, std::size_t most) {
  std::vector<std::uint64_t> sizes;
  for (const TreeCluster& cluster : clusters) sizes.push_back(cluster.size);
  std::vector<std::size_t> order = largest_of(sizes, most);
  std::ranges::sort(order);
  std::vector<std::int64_t> new_index(clusters.size());
  std::vector<TreeCluster> top;
  for (const std::size_t c : order) {
    new_index[c] = static_cast<std::int64_t>(top.size());
    top.push_back(clusters[c]);
    std::int64_t& parent = top.back().parent;
    if (parent >= 0) parent = new_index[static_cast<std::size_t>(parent)];
  }
  return top;
}

ordered_json as_json(const Axis& axis) {
  return {{"name", axis.name}, {"unit", axis.unit}, {"from", axis.from}, {"to", axis.to}};
}

ordered_json as_json(const Plane& plane) {
  return {{"x", as_json(plane.x)},
          {"y", as_json(plane.y)},
          {"to_scale", plane.to_scale},
          {"note", plane.note},
          {"width", plane.raster.width()},
          {"height", plane.raster.height()},
          {"occupied", base64(pack_set(plane.raster.occupied()))}};
}

}  // namespace

struct Report::State {
  struct Cell {
    LabelSummary summary;
    std::vector<Bytes> painted = {};            ///< [planes]; empty without labels
    std::vector<std::uint64_t> sizes = {};      ///< the number of clusters with 2^k to 2^(k + 1) − 1 points
    ordered_json rows = ordered_json::array();  ///< of the catalogue, largest clusters first
    ordered_json bars = nullptr;                ///< null if unknown
    std::vector<TreeCluster> tree = {};         ///< the largest clusters of the tree; empty if it is unknown
    std::size_t tree_clusters = 0;              ///< all clusters of the tree
    Bytes values = {};                          ///< the value of each label on maps, noise first
    ordered_json validity = nullptr;
    ordered_json score = nullptr;
    ordered_json own_eps = nullptr;  ///< number, size and eps of the largest clusters; null if all have one eps
  };

  explicit State(Subject of) : subject(std::move(of)) {
    planes = planes_of(subject.points, subject.metric, subject.columns);
    for (const Plane& plane : planes) pyramids.emplace_back(plane.raster);
  }

  [[nodiscard]] std::size_t rows_of_a_cell() const {
    return std::clamp<std::size_t>(kAllRows / std::max<std::size_t>(cells.size(), 1), 1, kMostRows);
  }
  void add_catalogue(Cell& cell, std::span<const std::int32_t> labels, const CancelToken& cancel) const;
  /// Adds the eps of each cluster of a clustering that has no single eps.
  static void add_own_eps(Cell& cell, std::span<const std::int32_t> labels, std::span<const double> eps);
  [[nodiscard]] ordered_json columns_of_catalogue() const;
  [[nodiscard]] ordered_json tree_as_json(const Cell& cell) const;
  [[nodiscard]] ordered_json data() const;
  [[nodiscard]] bool is_offered(const Variant& variant) const;
  /// Returns the maps of all cells in base64, and of offered cells at the finest level: [cells] [planes].
  [[nodiscard]] std::vector<std::vector<std::string>> maps_at(std::size_t level) const;

  Subject subject;
  std::vector<Plane> planes;
  std::vector<Pyramid> pyramids;
  std::map<Variant, Cell, VariantOrder> cells;
  ordered_json advice = nullptr;
  bool has_lineage = false;
};

void Report::State::add_catalogue(Cell& cell, std::span<const std::int32_t> labels, const CancelToken& cancel) const {
  const Catalog made = catalog({.points = subject.points, .metric = subject.metric, .labels = labels}, cancel);
  const std::size_t d = made.dims;
  for (const std::size_t c : largest_of(made.size, kMostRows)) {
    ordered_json row{made.cluster[c], made.size[c]};
    const std::size_t shown = std::min(d, kShownCoordinates);
    for (std::size_t k = 0; k < shown; ++k) row.push_back(short_number(made.center[c * d + k]));
    row.push_back(short_number(made.radius[c]));
    for (std::size_t k = 0; k < shown; ++k) {
      row.push_back(short_number(made.lower[c * d + k]));
      row.push_back(short_number(made.upper[c * d + k]));
    }
    cell.rows.push_back(std::move(row));
  }
}

ordered_json Report::State::columns_of_catalogue() const {
  const std::size_t d = subject.points.dims();
  const std::size_t shown = std::min(d, kShownCoordinates);
  ordered_json columns = ordered_json::array();
  const auto add = [&](const std::string& name, const std::string& unit) {
    columns.push_back({{"name", name}, {"unit", unit}});
  };
  add("cluster", "");
  add("points", "");
  const auto name = [&](std::size_t k) { return name_of(subject.columns, subject.metric, d, k); };
  const auto unit = [&](std::size_t k) { return unit_of(subject.columns, subject.metric, k); };
  for (std::size_t k = 0; k < shown; ++k) add(name(k) + " centre", unit(k));
  add("radius", std::string(eps_unit(subject.metric)));
  for (std::size_t k = 0; k < shown; ++k) {
    add(name(k) + " from", unit(k));
    add(name(k) + " to", unit(k));
  }
  return columns;
}

ordered_json Report::State::tree_as_json(const Cell& cell) const {
  if (cell.tree.empty()) return nullptr;
  ordered_json tree = ordered_json::array();
  const std::size_t most = std::max<std::size_t>(kAllTreeClusters / cells.size(), 1);
  for (const TreeCluster& of : top_of_tree(cell.tree, most)) {
    const std::size_t value_index = static_cast<std::size_t>(of.label) + 1;  // of noise 0
    ordered_json steps = ordered_json::array();
    for (const auto& [eps, size] : of.steps) steps.push_back({short_number(eps), size});
    tree.push_back({{"parent", of.parent < 0 ? ordered_json() : ordered_json(of.parent)},
                    {"birth", short_number(of.birth)},
                    {"death", short_number(of.death)},
                    {"size", of.size},
                    {"label", of.label < 0 ? ordered_json() : ordered_json(of.label)},
                    {"value", of.label >= 0 && value_index < cell.values.size() ? cell.values[value_index] : 0},
                    {"steps", std::move(steps)}});
  }
  return tree;
}

bool Report::State::is_offered(const Variant& variant) const {
  if (!advice.is_object()) return false;
  const auto is_this = [&](const ordered_json& offer) {
    const auto has_eps = [&] { return offer.contains("eps_of_clusters") ? 0 : offer.value("eps", 0.0); };
    return offer.is_object() && has_eps() == variant.eps && offer.value("minpts", 0U) == variant.minpts;
  };
  return is_this(advice["recommended"]) || is_this(advice["one_eps"]) ||
         std::ranges::any_of(advice["alternatives"], is_this);
}

std::vector<std::vector<std::string>> Report::State::maps_at(std::size_t level) const {
  std::vector<std::vector<std::string>> maps;
  for (const auto& [variant, cell] : cells) {
    maps.emplace_back();
    const std::size_t own = is_offered(variant) ? 0 : level;
    if (own >= Pyramid::kLevels) continue;
    for (std::size_t p = 0; p < cell.painted.size(); ++p) {
      maps.back().push_back(base64(pack(pyramids[p].at(own, cell.painted[p]))));
    }
  }
  return maps;
}

ordered_json Report::State::data() const {
  std::set<double> eps;
  std::set<std::uint32_t> minpts, sizes;
  for (const auto& [variant, cell] : cells) {
    minpts.insert(variant.minpts);
    if (variant.min_cluster_size > 0) {
      sizes.insert(variant.min_cluster_size);
    } else if (cell.own_eps.is_null()) {
      eps.insert(variant.eps);
    }
  }
  ordered_json json{{"title", subject.title},
                    {"points", subject.points.size()},
                    {"dims", subject.points.dims()},
                    {"shown_dims", std::min(subject.points.dims(), kShownCoordinates)},
                    {"metric", describe_in_full(subject.metric)},
                    {"eps_unit", std::string(eps_unit(subject.metric))},
                    {"advice", advice},
                    {"advice_hint", subject.advice_hint},
                    {"command", subject.command},
                    {"catalogue_hint", subject.catalogue_hint},
                    {"has_lineage", has_lineage},
                    {"eps", eps},
                    {"minpts", minpts},
                    {"min_cluster_size", sizes},
                    {"catalogue", columns_of_catalogue()}};
  json["provenance"] = ordered_json::array();
  for (const auto& [label, text] : subject.provenance) json["provenance"].push_back({label, text});
  json["planes"] = ordered_json::array();
  for (const Plane& plane : planes) json["planes"].push_back(as_json(plane));
  json["cells"] = ordered_json::array();
  for (const auto& [variant, cell] : cells) {
    ordered_json one = counts_as_json<ordered_json>(variant, cell.summary);
    if (!cell.own_eps.is_null()) one["eps"] = nullptr;
    one["own_eps"] = cell.own_eps;
    one["score"] = cell.score;
    one["validity"] = cell.validity;
    one["sizes"] = cell.sizes;
    one["bars"] = cell.bars;
    one["tree"] = tree_as_json(cell);
    one["tree_clusters"] = cell.tree_clusters;
    one["rows"] = cell.rows;
    if (one["rows"].size() > rows_of_a_cell()) {
      one["rows"].erase(one["rows"].begin() + static_cast<std::ptrdiff_t>(rows_of_a_cell()), one["rows"].end());
    }
    json["cells"].push_back(std::move(one));
  }
  return json;
}

Report::Report(Subject subject) : state_(std::make_unique<State>(std::move(subject))) {}
Report::~Report() = default;
Report::Report(Report&&) noexcept = default;
Report& Report::operator=(Report&&) noexcept = default;

void Report::add(const Variant& variant, const LabelSummary& summary, std::span<const std::int32_t> labels,
                 const CancelToken& cancel) {
  if (!labels.empty() && labels.size() != state_->subject.points.size()) {
    throw UsageError("there are " + format_count(state_->subject.points.size(), "point") + " and " +
                     format_count(labels.size(), "label") + ": give the labels of these points");
  }
  auto& cell = state_->cells[variant];
  cell.summary = summary;
  if (labels.empty()) return;
  const std::vector<std::uint64_t> sizes = sizes_of(labels);
  const Bytes values = values_of(sizes);
  cell.values = values;
  cell.sizes = histogram_of(sizes);
  cell.painted.clear();
  for (const Plane& plane : state_->planes) cell.painted.push_back(plane.raster.paint(labels, values));
  cell.rows = ordered_json::array();
  state_->add_catalogue(cell, labels, cancel);
}

void Report::add_lineage(const Lineage& lineage) {
  State& state = *state_;
  state.has_lineage = true;
  const std::vector<std::vector<CellBar>> bars = bars_of_cells(lineage, kMostBars);
  const std::vector<double> validity =
      lineage.has_sizes() ? relative_validity(lineage) : std::vector<double>(lineage.cells().size(), NAN);
  for (std::size_t i = 0; i < lineage.cells().size(); ++i) {
    const LineageCell& of = lineage.cell(i);
    const auto [at, is_new] = state.cells.try_emplace(of.variant);
    auto& cell = at->second;
    if (is_new) cell.summary = of.summary;
    if (cell.sizes.empty()) cell.sizes = histogram_of(of.size);
    cell.validity = short_number(validity[i]);
    cell.bars = ordered_json::array();
    for (const CellBar& life : bars[i]) {
      const ordered_json death = life.death ? ordered_json(lineage.cell(*life.death).variant.eps) : ordered_json();
      cell.bars.push_back({life.cluster, life.size, lineage.cell(life.birth).variant.eps, death});
    }
  }
}

void Report::add_tree(const Variant& variant, std::span<const TreeCluster> clusters) {
  State::Cell& cell = state_->cells.at(variant);
  cell.tree = top_of_tree(clusters, kMostTreeClusters);
  cell.tree_clusters = clusters.size();
}

void Report::add_scores(std::span<const std::pair<Variant, double>> scores) {
  for (const auto& [variant, score] : scores) {
    const auto cell = state_->cells.find(variant);
    if (cell != state_->cells.end() && score >= 0) cell->second.score = short_number(score);
  }
}

void Report::State::add_own_eps(Cell& cell, std::span<const std::int32_t> labels, std::span<const double> eps) {
  cell.own_eps = ordered_json::array();
  const std::vector<std::uint64_t> sizes = sizes_of(labels);
  for (const std::size_t c : largest_of(std::span(sizes).first(std::min(sizes.size(), eps.size())), kMostBars)) {
    cell.own_eps.push_back({c, sizes[c], short_number(eps[c])});
  }
}

void Report::advise(const std::string& exploration, std::span<const std::int32_t> recommended,
                    const CancelToken& cancel) {
  ordered_json json = ordered_json::parse(exploration, nullptr, false);
  const auto is_list = [&](const char* name) { return json.contains(name) && json[name].is_array(); };
  if (!json.is_object() || !json.contains("recommended") || !is_list("alternatives") || !is_list("doubts")) {
    throw InputError("this is no exploration as epsflow writes it: explore again");
  }
  try {
    if (!json["recommended"].is_null()) check_offer(json["recommended"], "recommended", state_->subject.points.size());
    for (std::size_t i = 0; i < json["alternatives"].size(); ++i) {
      const std::string path = "alternatives[" + std::to_string(i) + "]";
      check_offer(json["alternatives"][i], path, state_->subject.points.size());
    }
    if (json.contains("one_eps")) check_offer(json["one_eps"], "one_eps", state_->subject.points.size());
  } catch (const InputError& e) {
    throw InputError(std::string("this exploration was not written by epsflow, or is damaged: ") + e.what() +
                     "; explore again");
  }
  state_->advice = {{"recommended", json["recommended"]},
                    {"one_eps", json.value("one_eps", ordered_json())},
                    {"alternatives", json["alternatives"]},
                    {"doubts", json["doubts"]}};
  const std::vector<double> eps = eps_of_clusters(json["recommended"]);
  if (eps.empty() || recommended.empty()) return;
  const Variant variant{0, json["recommended"].value("minpts", 0U)};
  add(variant, JsonNumbers(json["recommended"], "recommended").summary(state_->subject.points.size()), recommended,
      cancel);
  State::add_own_eps(state_->cells.at(variant), recommended, eps);
}

std::size_t Report::cells() const noexcept { return state_->cells.size(); }

std::size_t Report::maps() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(state_->cells, [](const auto& cell) { return !cell.second.painted.empty(); }));
}

std::string Report::page(std::uint64_t most) const {
  const std::string_view around = page_text();
  const auto text_of = [](const ordered_json& json) {
    return json_in_html(json.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
  };
  ordered_json data = state_->data();
  for (std::size_t level = 0; level <= Pyramid::kLevels; ++level) {
    const std::vector<std::vector<std::string>> maps = state_->maps_at(level);
    auto cell = state_->cells.begin();
    for (std::size_t i = 0; i < maps.size(); ++i, ++cell) {
      data["cells"][i]["level"] = state_->is_offered(cell->first) ? 0 : level;
      data["cells"][i]["maps"] = maps[i];
    }
    const std::string json = text_of(data);
    if (json.size() + around.size() > most) continue;
    return page_with(around, json);
  }
  throw UsageError("a page has at most " + format_bytes(most) + ", which is too few for " +
                   format_count(state_->cells.size(), "variant") + ": sweep fewer eps or minpts");
}

}  // namespace epsflow::report

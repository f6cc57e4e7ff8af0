#include <epsflow/report/report.hpp>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>

#include "support/blobs.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/explore.hpp>
#include <epsflow/pipeline/lineage.hpp>
#include <epsflow/pipeline/sweep.hpp>
#include <epsflow/report/as_json.hpp>
#include <epsflow/report/lifetimes.hpp>

namespace epsflow::report {
namespace {

using Json = nlohmann::ordered_json;
using test::check_error;
using test::three_blobs;

/// Returns the data of the page. Fails if a text in it ends the script.
Json data_of(const std::string& page) {
  const std::string begin = R"(<script type="application/json" id="data">)";
  const std::size_t at = page.find(begin) + begin.size();
  const std::size_t end = page.find("</script>", at);
  REQUIRE(end < page.size());
  return Json::parse(page.substr(at, end - at));
}

Report swept(const std::vector<double>& values, const Sweep& sweep) {
  Report report(Subject{.title = "blobs", .points = PointsView(values, 2)});
  for (const VariantResult& result : run(PointsView(values, 2), sweep)) {
    report.add(result.variant, result.summary, result.labels);
  }
  return report;
}

TEST_CASE("a page holds each cell with its counts, its map and its largest clusters") {
  const std::vector<double> values = three_blobs().doubles;
  Report report = swept(values, grid({0.3, 0.6}, {4, 8}));
  CHECK((report.cells() == 4 && report.maps() == 4));
  const Json data = data_of(report.page());
  CHECK(data["points"] == 900);
  CHECK((data["eps"] == Json{0.3, 0.6} && data["minpts"] == Json{4, 8}));
  for (const Json& cell : data["cells"]) {
    CHECK(cell["maps"].size() == 1);
    CHECK(cell["rows"].size() == cell["clusters"]);
    for (std::size_t i = 1; i < cell["rows"].size(); ++i) CHECK(cell["rows"][i - 1][1] >= cell["rows"][i][1]);
    CHECK(cell["rows"][0][1] == cell["largest"]);
    std::uint64_t clusters = 0;
    for (const Json& count : cell["sizes"]) clusters += count.get<std::uint64_t>();
    CHECK(clusters == cell["clusters"]);
    CHECK(cell["bars"].is_null());
  }
  CHECK(data["advice"].is_null());
  CHECK_FALSE(data["has_lineage"].get<bool>());
  CHECK_THROWS_AS(report.add({1, 2}, {}, std::vector<std::int32_t>{0}), UsageError);
  CHECK(report.cells() == 4);
}

TEST_CASE("a page holds the largest clusters of the trees of hierarchies") {
  const std::vector<double> values = three_blobs().doubles;
  Report report(Subject{.title = "blobs", .points = PointsView(values, 2)});
  std::vector<std::int32_t> labels(900, kNoise);
  std::fill_n(labels.begin(), 50, 0);
  std::fill_n(labels.begin() + 50, 60, 1);
  // Each cluster splits into a small one, which comes first, and a large one.
  std::vector<TreeCluster> tree{{.birth = std::numeric_limits<double>::infinity(), .death = 1000, .size = 900}};
  for (std::uint32_t i = 0; i < 150; ++i) {
    const std::int64_t parent = i == 0 ? 0 : 2 * std::int64_t{i};
    const double birth = tree[static_cast<std::size_t>(parent)].death;
    tree.push_back({.parent = parent, .birth = birth, .death = 1, .size = 1, .label = i == 0 ? 1 : -1});
    tree.push_back({.parent = parent, .birth = birth, .death = birth - 2, .size = 598 - i, .steps = {{birth - 1, 5}}});
  }
  for (const std::uint32_t size : {2U, 3U}) {
    const Variant variant{.minpts = 4, .min_cluster_size = size};
    report.add(variant, {.clusters = 2, .noise = 790, .core = 110, .largest = 60}, labels);
    report.add_tree(variant, tree);
  }
  const Json data = data_of(report.page());
  CHECK((data["min_cluster_size"] == Json{2, 3} && data["minpts"] == Json{4}));
  for (const Json& cell : data["cells"]) {
    CHECK(cell["tree_clusters"] == 301);
    REQUIRE(cell["tree"].size() == 120);
    CHECK((cell["tree"][0]["parent"].is_null() && cell["tree"][0]["birth"].is_null()));
    for (std::size_t c = 1; c < 120; ++c) {
      CHECK(cell["tree"][c]["parent"] == c - 1);
      CHECK(cell["tree"][c]["birth"] == cell["tree"][c - 1]["death"]);
    }
    CHECK(cell["tree"][1]["steps"] == Json{Json{999, 5}});
  }
  // A small tree is whole, and selected clusters have the value of their label on maps.
  report.add_tree({.minpts = 4, .min_cluster_size = 3}, std::span(tree).first(3));
  const Json small = data_of(report.page())["cells"][1]["tree"];
  CHECK((small.size() == 3 && small[1]["label"] == 1 && small[1]["value"] == 2 && small[2]["value"] == 0));
}

TEST_CASE("an exploration on a page") {
  const std::vector<double> values = three_blobs().doubles;
  const Engine engine;
  const Dataset points = engine.load(PointsView(values, 2));
  const Exploration made = explore(points);
  REQUIRE(made.one_eps);
  Report report(Subject{.title = "blobs", .points = PointsView(values, 2)});
  report.add(made.one_eps->variant, made.one_eps->summary, made.one_eps->labels);
  report.add_lineage(made.map);
  std::vector<std::pair<Variant, double>> scores;
  for (std::size_t i = 0; i < made.scores.size(); ++i)
    scores.emplace_back(made.map.cell(i).variant, made.scores[i].score);
  report.add_scores(scores);
  report.advise(as_json(made).dump(), made.recommended->labels);
  CHECK((report.cells() == made.map.cells().size() + 1 && report.maps() == 2));
  const Json data = data_of(report.page());
  CHECK(data["advice"]["one_eps"]["eps"] == made.one_eps->variant.eps);
  CHECK(data["advice"]["recommended"]["eps_of_clusters"] == made.recommended->eps_of_clusters);
  CHECK(data["advice"]["recommended"]["reason"] == made.recommended->reason);
  double most = -1;
  for (const Json& cell : data["cells"]) {
    if (!cell["score"].is_null()) most = std::max(most, cell["score"].get<double>());
    if (cell["eps"].is_null()) {
      CHECK((cell["minpts"] == made.recommended->variant.minpts && cell["own_eps"].size() == 3));
      CHECK_FALSE(cell["maps"].empty());
      continue;
    }
    const bool best = cell["eps"] == made.one_eps->variant.eps && cell["minpts"] == made.one_eps->variant.minpts;
    CHECK((cell["maps"].empty() != best));
    if (best) CHECK(cell["bars"].size() == 3);
  }
  CHECK(most == Approx(made.one_eps->score).epsilon(0.2));
  CHECK_THROWS_AS(report.advise("{}"), InputError);
  CHECK_THROWS_AS(report.advise("no JSON"), InputError);
  for (const char* value : {"\"4\"", "null", "true", "2.5", "-1", "1e61", "18446744073709551616", "[4]", "{}"}) {
    for (const char* name : {"minpts", "clusters", "noise", "core", "border", "largest"}) {
      CAPTURE(name, value);
      const auto refused = [&](const Json& changed, const std::string& path) {
        std::string text = changed.dump();
        text.replace(text.find("\"@\""), 3, value);
        check_error<InputError>({"is damaged", path + "." + name + " is ", "explore again"},
                                [&] { report.advise(text); });
      };
      Json changed = as_json(made);
      changed["recommended"][name] = "@";
      refused(changed, "recommended");
      changed["alternatives"] = Json::array({as_json(made)["recommended"], changed["recommended"]});
      changed["recommended"] = nullptr;
      refused(changed, "alternatives[1]");
    }
  }
  for (const char* name : {"eps", "confidence"}) {
    Json changed = as_json(made);
    changed["recommended"][name] = -1;
    CHECK_THROWS_AS(report.advise(changed.dump()), InputError);
    changed["recommended"][name] = "0.5";
    CHECK_THROWS_AS(report.advise(changed.dump()), InputError);
  }
  Json changed = as_json(made);
  changed["recommended"]["noise"] = made.recommended->summary.noise + 1;
  CHECK_THROWS_AS(report.advise(changed.dump()), InputError);
  changed["recommended"] = 3;
  CHECK_THROWS_AS(report.advise(changed.dump()), InputError);
}

TEST_CASE("bars of the clusters of each cell are the lineage's, by the elder rule") {
  const std::vector<double> values = three_blobs().doubles;
  const Engine engine;
  const Lineage map = lineage(engine.load(PointsView(values, 2)), grid({0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8}, {3, 6}));
  const auto bars = bars_of_cells(map, 1000);
  std::size_t ended = 0;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const LineageCell& cell = map.cell(i);
    REQUIRE(bars[i].size() == cell.clusters());
    std::vector<bool> seen(cell.clusters());
    for (const CellBar& life : bars[i]) {
      CHECK_FALSE(seen[life.cluster]);
      seen[life.cluster] = true;
      CHECK(life.size == cell.size[life.cluster]);
      CHECK(map.cell(life.birth).variant.eps <= cell.variant.eps);
      if (!life.death) continue;
      ++ended;
      CHECK(map.cell(*life.death).variant.eps > cell.variant.eps);
      // At its end it shares its cluster with another.
      const std::vector<std::uint32_t> ancestors = map.ancestors(i, *life.death);
      CHECK(std::ranges::count(ancestors, ancestors[life.cluster]) > 1);
    }
  }
  CHECK(ended > 10);
  for (const auto& few : bars_of_cells(map, 2)) CHECK(few.size() <= 2);
}

TEST_CASE("whatever files and columns are called, the page stays whole") {
  const std::vector<double> values{0, 0, 1, 1};
  const std::string evil = "</script><script>alert(1)</script><!-- \"'&\n\xFF .csv";
  Report report(Subject{.title = evil,
                        .points = PointsView(values, 2),
                        .columns = {.names = {evil, "y"}, .units = {evil, ""}},
                        .provenance = {{"Input", evil}},
                        .command = evil,
                        .advice_hint = evil,
                        .catalogue_hint = evil});
  report.add({1, 2}, {}, std::vector<std::int32_t>{0, 0});
  const std::string page = report.page();
  const Json data = data_of(page);
  CHECK(data["title"].get<std::string>().starts_with("</script><script>alert(1)"));
  CHECK(data["planes"][0]["x"]["name"].get<std::string>().starts_with("</script>"));
  CHECK(page.find("alert(1)") != std::string::npos);
  CHECK(page.find("<script>alert") == std::string::npos);
}

TEST_CASE("a page keeps to its size: maps get coarser, those that are recommended last") {
  std::mt19937 random(6);
  std::uniform_real_distribution<double> uniform;
  std::vector<double> values(100000);
  for (double& value : values) value = uniform(random);
  const PointsView points(values, 2);
  Report report(Subject{.title = "noise", .points = points});
  std::vector<std::int32_t> labels(points.size());
  for (std::uint32_t minpts = 1; minpts <= 20; ++minpts) {
    for (std::int32_t& label : labels) label = static_cast<std::int32_t>(random() % 200) - 1;
    report.add({0.5, minpts}, {}, labels);
  }
  Json offer{{"eps", 0.5}, {"minpts", 3}};
  report.advise(Json{{"recommended", offer}, {"alternatives", Json::array()}, {"doubts", Json::array()}}.dump());
  const std::string whole = report.page();
  CHECK(data_of(whole)["cells"][0]["level"] == 0);
  std::set<std::uint64_t> levels;
  for (const std::uint64_t percent : {90U, 60U, 30U, 24U}) {
    const std::uint64_t most = whole.size() * percent / 100;
    const std::string page = report.page(most);
    INFO(percent);
    CHECK(page.size() <= most);
    const Json data = data_of(page);
    levels.insert(data["cells"][0]["level"].get<std::uint64_t>());
    CHECK(data["cells"][2]["level"] == 0);
    CHECK(data["cells"][2]["maps"] == data_of(whole)["cells"][2]["maps"]);
  }
  CHECK(levels.size() >= 3);
  CHECK_THROWS_AS(report.page(1000), UsageError);
}

}  // namespace
}  // namespace epsflow::report

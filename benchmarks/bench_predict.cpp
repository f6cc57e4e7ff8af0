// Times the assignment of new points to the clusters of a file, and prints one line of JSON:
//
//   bench_predict FILE EPS MINPTS [--new N] [--repeat N] [--threads N] [--backend auto|cpu|gpu]
//
// new: number of points to assign, by default a million: points of the file, shifted by up to eps along each axis.
// make_s: of building the index of core points. seconds: of each repetition with this model, from points in memory to
// labels in memory. one_s: of a single point, the median of a hundred.
#include <optional>
#include <span>

#include <epsflow/io/read_points.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/predict.hpp>
#include <epsflow/pipeline/sweep.hpp>

#include "bench.hpp"
#include "made_haloes.hpp"

namespace {

using namespace epsflow;

int measure(const bench::Words& words) {
  const Points points = io::read_points(words[0]);
  const double eps = std::stod(words[1]);
  const auto minpts = static_cast<std::uint32_t>(std::stoul(words[2]));
  EngineOptions options;
  words.set(options);
  const std::size_t d = points.dims();
  if (points.size() == 0) throw InputError("no points");
  std::vector<double> values;
  points.view().visit([&](auto all) { values.assign(all.begin(), all.end()); });

  const auto clustered = run(Engine(options).load(points), Sweep({{eps, minpts}}), {.core_mask = true});
  std::vector<double> core;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (clustered[0].core[i] == 0) continue;
    for (std::size_t k = 0; k < d; ++k) core.push_back(values[i * d + k]);
    labels.push_back(clustered[0].labels[i]);
  }
  std::vector<double> fresh(words.number("--new", 1'000'000) * d);
  std::uint64_t drawn = 0;
  for (std::size_t i = 0; i < fresh.size() / d; ++i) {
    const auto from = static_cast<std::size_t>(bench::random_number(drawn++) * static_cast<double>(points.size()));
    for (std::size_t k = 0; k < d; ++k) {
      fresh[i * d + k] = values[from * d + k] + eps * (2 * bench::random_number(drawn++) - 1);
    }
  }

  bench::Json json{{"core", labels.size()}, {"new", fresh.size() / d}};
  std::optional<Predictor> predictor;
  json["make_s"] = bench::seconds_of([&] { predictor.emplace(CoreView{PointsView(core, d), labels, eps}, options); });
  Labels found;
  for (int i = 0; i < words.repeat(5); ++i) {
    json["seconds"].push_back(bench::seconds_of([&] { found = predictor->predict(PointsView(fresh, d)); }));
  }
  std::vector<double> ones;
  for (std::size_t i = 0; i < std::min<std::size_t>(100, fresh.size() / d); ++i) {
    const PointsView one(std::span<const double>(fresh).subspan(i * d, d), d);
    ones.push_back(bench::seconds_of([&] { (void)predictor->predict(one); }));
  }
  json["one_s"] = bench::median(ones);
  json["assigned"] = std::count_if(found.begin(), found.end(), [](auto label) { return label >= 0; });
  std::cout << json.dump() << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return epsflow::bench::run({"bench_predict FILE EPS MINPTS [--OPTION VALUE …]", 3}, argc, argv, measure);
}

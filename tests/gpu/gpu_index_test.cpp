// Tests which search a GPU uses for which choices, and the properties of an index without points.
#include <epsflow/gpu/gpu_index.hpp>

#include <cstdint>
#include <vector>

#include "support/catch.hpp"
#include "support/gpu.hpp"
#include "support/random_points.hpp"
#include "support/settings.hpp"

#include <epsflow/gpu/gpu_backend.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::gpu {
namespace {

constexpr auto kAutoIndex = IndexChoice::automatic;
constexpr auto kAutoDecide = DecideChoice::automatic;
constexpr std::uint64_t kManyPoints = 10'000'000;
constexpr IndexChoice kIndexes[] = {kAutoIndex, IndexChoice::grid, IndexChoice::tree, IndexChoice::all};
constexpr DecideChoice kFilters[] = {kAutoDecide, DecideChoice::scalar, DecideChoice::tensor64, DecideChoice::tensor16};

TEST_CASE("choose search: what is left open goes by the dimensions, by what was chosen, or by a sample") {
  struct Case {
    IndexChoice index;
    DecideChoice decide;
    SearchChoice few;   ///< for up to six dimensions
    SearchChoice many;  ///< for more dimensions
  };
  constexpr SearchChoice kCells{IndexChoice::grid, DecideChoice::scalar};
  constexpr SearchChoice kSampled{kAutoIndex, kAutoDecide};
  constexpr SearchChoice kSampled16{kAutoIndex, DecideChoice::tensor16};
  constexpr SearchChoice kSampled64{kAutoIndex, DecideChoice::tensor64};
  constexpr SearchChoice kTree{IndexChoice::tree, kAutoDecide};
  constexpr SearchChoice kAll{IndexChoice::all, kAutoDecide};
  const std::vector<Case> cases{
      {kAutoIndex, kAutoDecide, kCells, kSampled},
      // Tiles have no advantage without tensor cores, and cells have none with them.
      {kAutoIndex, DecideChoice::scalar, kCells, kCells},
      {kAutoIndex, DecideChoice::tensor16, kSampled16, kSampled16},
      {kAutoIndex, DecideChoice::tensor64, kSampled64, kSampled64},
      {IndexChoice::grid, kAutoDecide, kCells, kCells},
      {IndexChoice::tree, kAutoDecide, kTree, kTree},
      {IndexChoice::all, kAutoDecide, kAll, kAll},
  };
  for (const Case& c : cases) {
    for (const std::size_t dims : {1U, 2U, 3U, 6U, 7U, 8U, 64U, 4096U}) {
      INFO("index " << static_cast<int>(c.index) << ", decide " << static_cast<int>(c.decide) << ", d " << dims);
      const SearchChoice expected = dims <= 6 ? c.few : c.many;
      const SearchChoice found = choose_search(c.index, c.decide, kManyPoints, dims);
      CHECK(found.index == expected.index);
      CHECK(found.decide == expected.decide);
    }
  }
}

TEST_CASE("choose search: of few points all pairs are compared, unless something else was chosen") {
  CHECK(choose_search(kAutoIndex, kAutoDecide, 10'000, 64).index == IndexChoice::all);
  CHECK(choose_search(kAutoIndex, DecideChoice::tensor64, 10'000, 64).index == IndexChoice::all);
  CHECK(choose_search(kAutoIndex, kAutoDecide, 50'000, 4096).index == IndexChoice::all);
  CHECK(choose_search(kAutoIndex, kAutoDecide, 500'000, 18).index == kAutoIndex);
  CHECK(choose_search(kAutoIndex, kAutoDecide, 1'000'000, 384).index == kAutoIndex);
  CHECK(choose_search(kAutoIndex, kAutoDecide, 10'000, 6).by_cells());
  CHECK(choose_search(kAutoIndex, DecideChoice::scalar, 10'000, 64).by_cells());
  CHECK(choose_search(IndexChoice::tree, kAutoDecide, 10, 64).index == IndexChoice::tree);
  CHECK(choose_search(IndexChoice::grid, kAutoDecide, 10, 64).by_cells());
}

TEST_CASE("choose search: what is chosen stays, and cells are searched in float64 alone") {
  for (const IndexChoice index : kIndexes) {
    for (const DecideChoice decide : kFilters) {
      for (const std::size_t dims : {1U, 6U, 7U, 100U}) {
        INFO("index " << static_cast<int>(index) << ", decide " << static_cast<int>(decide) << ", d " << dims);
        const SearchChoice found = choose_search(index, decide, kManyPoints, dims);
        if (index != kAutoIndex) CHECK(found.index == index);
        if (decide != kAutoDecide) CHECK(found.decide == decide);
        CHECK(found.by_cells() == (found.index == IndexChoice::grid && found.decide == DecideChoice::scalar));
        // If the found choice is requested by name, it is found again.
        const SearchChoice again = choose_search(found.index, found.decide, kManyPoints, dims);
        CHECK(again.index == found.index);
        CHECK(again.decide == found.decide);
      }
    }
  }
}

TEST_CASE("gpu index: figures name the search, and count its candidates") {
  if (!test::have_gpu()) return;
  const auto backend = make_gpu_backend({.threads = 2});
  const CancelToken cancel;
  const test::DataSet data = test::make_data("uniform", 1000, 9, Precision::float64, 1);
  const auto points = backend->load(data.view());
  for (const IndexChoice index : kIndexes) {
    for (const DecideChoice decide : kFilters) {
      INFO("index " << static_cast<int>(index) << ", decide " << static_cast<int>(decide));
      const auto made = points->build_index({.eps = data.scale, .index = index, .decide = decide}, cancel);
      const SearchChoice choice = choose_search(index, decide, 1000, 9);
      const IndexFigures figures = made->figures();
      CHECK(figures.index == choice.index);
      CHECK(figures.decide == (choice.decide == kAutoDecide ? DecideChoice::tensor16 : choice.decide));
      CHECK(figures.pairs_stay == !choice.by_cells());
      CHECK((figures.cells > 0) == choice.by_cells());
      CHECK_FALSE(figures.dense_boxes);
      CHECK(figures.candidates > 0);
      // There are eight tiles; each is compared with itself and with the later ones.
      if (choice.index == IndexChoice::all) CHECK(figures.candidates == 36 * 128 * 128);
    }
  }
}

TEST_CASE("gpu index: no points, and one") {
  if (!test::have_gpu()) return;
  const auto backend = make_gpu_backend({.threads = 2});
  const CancelToken cancel;
  for (const std::size_t n : {0U, 1U}) {
    for (const std::size_t dims : {2U, 9U}) {
      const std::vector<double> values(n * dims, 3.5);
      const PointsView view(std::span<const double>(values), dims);
      const auto points = backend->load(view);
      const Dataset in_box =
          Engine({.backend = BackendChoice::gpu}).load(view, {.box = std::vector<BoxSide>(dims, {0, 10})});
      const auto boxed = run(in_box, grid({1}, {2, 1}), {.strategy = StrategyChoice::direct});
      CHECK(boxed[0].labels == std::vector<std::int32_t>(n, kNoise));
      CHECK(boxed[1].labels == std::vector<std::int32_t>(n, 0));
      for (const IndexChoice index : kIndexes) {
        for (const DecideChoice decide : kFilters) {
          INFO("n " << n << ", d " << dims << ", index " << static_cast<int>(index) << ", decide "
                    << static_cast<int>(decide));
          const auto made = points->build_index({.eps = 1, .index = index, .decide = decide}, cancel);
          if (n == 0) CHECK(made->figures().candidates == 0);
          const test::Settings options{.engine = {.backend = BackendChoice::gpu},
                                       .run = {.search = {.index = index, .decide = decide}}};
          const auto results = run(view, grid({1}, {2, 1}), options);
          REQUIRE(results.size() == 2);
          CHECK(results[0].labels == std::vector<std::int32_t>(n, kNoise));
          CHECK(results[1].labels == std::vector<std::int32_t>(n, 0));
          const Neighbors found = neighbors(view, 1, Distances::include, options);
          CHECK(found.size() == n);
          CHECK(found.pairs() == n);
        }
      }
    }
  }
}

}  // namespace
}  // namespace epsflow::gpu

#include <epsflow/stages/choose_strategy.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"

namespace epsflow::stages {
namespace {

struct Question {
  StrategyChoice choice = StrategyChoice::automatic;
  bool table_wanted = false;
  bool table_refused = false;
  std::size_t variants = 1;
  IndexFigures index;
  std::uint64_t memory = 0;  ///< beside the index
};

struct Case {
  Question question;
  Strategy strategy;
  std::string_view reason;
};

constexpr IndexFigures kDenseBoxes{.cells = 100, .dense_boxes = true, .candidates = 0};
/// A table that takes at most 100 · 4 bytes by the estimate of the choice.
constexpr IndexFigures kCandidates{.cells = 100, .dense_boxes = false, .candidates = 300};
/// Tiles of a device that keeps the pairs that it has found.
constexpr IndexFigures kPairsStay{.cells = 0, .candidates = 300, .pairs_stay = true};
constexpr std::uint64_t kPlenty = std::uint64_t{1} << 40;

TEST_CASE("choose strategy: each reason, and what comes first") {
  const std::vector<Case> cases{
      // An explicit choice wins over everything else.
      {{.choice = StrategyChoice::table, .index = kDenseBoxes}, Strategy::table, "asked for"},
      {{.choice = StrategyChoice::direct, .variants = 50, .index = kCandidates, .memory = kPlenty},
       Strategy::direct,
       "asked for"},
      {{.table_wanted = true, .index = kDenseBoxes}, Strategy::table, "an option of tables was given"},
      {{.variants = 50, .index = kDenseBoxes, .memory = kPlenty},
       Strategy::direct,
       "cells whose points are all neighbours"},
      // Stored pairs are as good as a table for any number of minpts, but an explicit choice comes first.
      {{.variants = 50, .index = kPairsStay, .memory = kPlenty}, Strategy::direct, "pairs are found once and kept"},
      {{.index = kPairsStay}, Strategy::direct, "pairs are found once and kept"},
      {{.choice = StrategyChoice::table, .index = kPairsStay}, Strategy::table, "asked for"},
      {{.table_wanted = true, .index = kPairsStay, .memory = kPlenty},
       Strategy::table,
       "an option of tables was given"},
      {{.table_refused = true, .variants = 9, .index = kPairsStay, .memory = kPlenty},
       Strategy::direct,
       "a table does not fit the memory budget"},
      // The cells are not dense boxes. Several minpts share a table if it fits.
      {{.variants = 3, .index = kCandidates, .memory = kPlenty}, Strategy::direct, "too few minpts to pay for a table"},
      {{.variants = 4, .index = kCandidates, .memory = 399}, Strategy::direct, "a table may not fit the memory budget"},
      {{.variants = 4, .index = kCandidates, .memory = 400}, Strategy::table, "several minpts share a table"},
      // All pairs of 2^32 points are candidates, and the number of bytes must not overflow.
      {{.variants = 9, .index = {.cells = 1, .dense_boxes = false, .candidates = ~std::uint64_t{0}}, .memory = kPlenty},
       Strategy::direct,
       "a table may not fit the memory budget"},
  };
  std::set<std::string_view> reasons;
  for (const Case& c : cases) {
    INFO("expected: " << c.reason);
    const Question& question = c.question;
    constexpr std::uint64_t kIndexBytes = 1000;
    const ChooseStrategy choose{
        .choice = question.choice, .table_wanted = question.table_wanted, .memory = question.memory + kIndexBytes};
    const EpsGroup group{
        .eps = 1, .minpts = std::vector<std::uint32_t>(question.variants, 4), .table_refused = question.table_refused};
    const StrategyAnswer answer = choose(group, kIndexBytes, question.index);
    CHECK(answer.strategy == c.strategy);
    CHECK(std::string(answer.reason) == std::string(c.reason));
    reasons.insert(c.reason);
  }
  CHECK(reasons.size() == 8);
}

TEST_CASE("choose strategy: cells are dense boxes if no table is made and the dimensions are few") {
  for (const std::size_t dims : {1U, 2U, 3U, 4U, 9U}) {
    INFO("d " << dims);
    const auto cells = [&](StrategyChoice choice, bool table_wanted) {
      return ChooseStrategy{.choice = choice, .table_wanted = table_wanted, .dims = dims}.cells();
    };
    const Cells direct = dims <= 3 ? Cells::dense_box : Cells::eps;
    CHECK(cells(StrategyChoice::automatic, false) == direct);
    CHECK(cells(StrategyChoice::direct, false) == direct);
    CHECK(cells(StrategyChoice::automatic, true) == Cells::eps);
    CHECK(cells(StrategyChoice::table, false) == Cells::eps);
    CHECK(cells(StrategyChoice::table, true) == Cells::eps);
  }
}

}  // namespace
}  // namespace epsflow::stages

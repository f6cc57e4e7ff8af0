#include <epsflow/stages/choose_strategy.hpp>

#include <algorithm>

#include <epsflow/index/cell_axes.hpp>

namespace epsflow::stages {
namespace {

/// From this number of minpts on, a table costs less than searching points again for each minpts.
constexpr std::size_t kFewestSharedVariants = 4;

}  // namespace

Cells choose_cells(StrategyChoice choice, bool table_wanted, std::size_t dims) noexcept {
  const bool direct = choice == StrategyChoice::direct || (choice == StrategyChoice::automatic && !table_wanted);
  return direct && dims <= index::kMostDenseBoxDims ? Cells::dense_box : Cells::eps;
}

StrategyAnswer choose_strategy(const StrategyQuestion& question) noexcept {
  if (question.choice == StrategyChoice::table) return {Strategy::table, "asked for"};
  if (question.choice == StrategyChoice::direct) return {Strategy::direct, "asked for"};
  if (question.table_wanted) return {Strategy::table, "an option of tables was given"};
  if (question.table_refused) return {Strategy::direct, "a table does not fit the memory budget"};
  if (question.index.dense_boxes) return {Strategy::direct, "cells whose points are all neighbours"};
  if (question.index.pairs_stay) return {Strategy::direct, "pairs are found once and kept"};
  if (question.variants < kFewestSharedVariants) return {Strategy::direct, "too few minpts to pay for a table"};
  if (question.index.candidates / 3 * sizeof(std::uint32_t) > question.memory) {
    return {Strategy::direct, "a table may not fit the memory budget"};
  }
  return {Strategy::table, "several minpts share a table"};
}

StrategyAnswer ChooseStrategy::operator()(const EpsGroup& group, const Index& index) const {
  return (*this)(group, index, open() ? index.figures() : IndexFigures{});
}

StrategyAnswer ChooseStrategy::operator()(const EpsGroup& group, const Index& index,
                                          const IndexFigures& figures) const {
  return choose_strategy({.choice = choice,
                          .table_wanted = table_wanted,
                          .table_refused = group.table_refused,
                          .variants = group.minpts.size(),
                          .index = figures,
                          .memory = memory - std::min(memory, index.bytes())});
}

}  // namespace epsflow::stages

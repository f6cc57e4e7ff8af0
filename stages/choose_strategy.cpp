#include <epsflow/stages/choose_strategy.hpp>

#include <algorithm>

#include <epsflow/index/cell_axes.hpp>

namespace epsflow::stages {
namespace {

/// From this number of minpts on, a table costs less than searching points again for each minpts.
constexpr std::size_t kFewestSharedVariants = 4;

}  // namespace

Cells ChooseStrategy::cells() const noexcept {
  const bool direct = choice == StrategyChoice::direct || open();
  return direct && dims <= index::kMostDenseBoxDims ? Cells::dense_box : Cells::eps;
}

StrategyAnswer ChooseStrategy::operator()(const EpsGroup& group, std::uint64_t index_bytes,
                                          const IndexFigures& figures) const noexcept {
  if (choice == StrategyChoice::table) return {Strategy::table, "asked for"};
  if (choice == StrategyChoice::direct) return {Strategy::direct, "asked for"};
  if (table_wanted) return {Strategy::table, "an option of tables was given"};
  if (group.table_refused) return {Strategy::direct, "a table does not fit the memory budget"};
  if (figures.dense_boxes) return {Strategy::direct, "cells whose points are all neighbours"};
  if (figures.pairs_stay) return {Strategy::direct, "pairs are found once and kept"};
  if (group.minpts.size() < kFewestSharedVariants) return {Strategy::direct, "too few minpts to pay for a table"};
  if (figures.candidates / 3 * sizeof(std::uint32_t) > memory - std::min(memory, index_bytes)) {
    return {Strategy::direct, "a table may not fit the memory budget"};
  }
  return {Strategy::table, "several minpts share a table"};
}

}  // namespace epsflow::stages

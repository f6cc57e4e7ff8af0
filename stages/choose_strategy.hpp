// Stage: which way the variants of one eps go, through a table or without one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/choices.hpp>

namespace epsflow::stages {

/// What the choice is made of.
struct StrategyQuestion {
  StrategyChoice asked = StrategyChoice::automatic;
  bool table_wanted = false;   ///< the caller chose how tables are made or read
  bool table_refused = false;  ///< a table of this eps has been tried, and did not fit
  std::size_t dims = 1;
  std::size_t variants = 1;  ///< minpts of the eps
  IndexFigures index;        ///< of the eps
  std::uint64_t memory = 0;  ///< bytes of the budget beside points and index
};

struct StrategyAnswer {
  Strategy strategy = Strategy::direct;
  std::string_view reason;
};

/// What the cells of the index shall be for. This much is decided before the index is built, from the caller's options and
/// the dimensions alone: points sorted into one kind of cells would have to be sorted again for the other.
[[nodiscard]] Cells choose_cells(StrategyChoice asked, bool table_wanted, std::size_t dims) noexcept;

/// The way of one eps. Pure.
///
/// Without a table each point is searched once for its count, once more when it becomes core (as far as candidates are not
/// of its set already), and for each minpts for which it is not core; from a table everything is searched once, and read.
/// So a table pays where cells are no cliques, several minpts share it, and it fits: at most a third of the candidates were
/// neighbours in the sets measured, and an id takes 4 bytes.
[[nodiscard]] StrategyAnswer choose_strategy(const StrategyQuestion& question) noexcept;

}  // namespace epsflow::stages

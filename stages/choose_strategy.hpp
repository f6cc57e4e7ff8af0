// Stage: which way the variants of one eps go, through a table or without one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/choices.hpp>
#include <epsflow/stages/eps_job.hpp>

namespace epsflow::stages {

/// What the choice is made of.
struct StrategyQuestion {
  StrategyChoice choice = StrategyChoice::automatic;
  bool table_wanted = false;   ///< the caller chose how tables are made or read
  bool table_refused = false;  ///< a table of this eps has been tried, and did not fit
  std::size_t variants = 1;    ///< minpts of the eps
  IndexFigures index;          ///< of the eps
  std::uint64_t memory = 0;    ///< bytes of the budget beside points and index
};

struct StrategyAnswer {
  Strategy strategy = Strategy::direct;
  std::string_view reason;
};

/// What the cells of the index shall be for. This much is decided before the index is built, from the caller's options and
/// the dimensions alone: points sorted into one kind of cells would have to be sorted again for the other.
[[nodiscard]] Cells choose_cells(StrategyChoice choice, bool table_wanted, std::size_t dims) noexcept;

/// The way of one eps. Pure.
///
/// Without a table each point is searched once for its count, once more when it becomes core (as far as candidates are not
/// of its set already), and for each minpts for which it is not core; from a table everything is searched once, and read.
/// So a table pays where cells are no cliques, several minpts share it, and it fits: at most a third of the candidates were
/// neighbours in the sets measured, and an id takes 4 bytes.
[[nodiscard]] StrategyAnswer choose_strategy(const StrategyQuestion& question) noexcept;

/// Makes the choice for each group of a run, and holds what is the same for all of them. A run and a plan of it use it alike.
struct ChooseStrategy {
  StrategyChoice choice = StrategyChoice::automatic;
  bool table_wanted = false;  ///< as in the question
  std::size_t dims = 1;
  std::uint64_t memory = 0;  ///< bytes of the budget beside all points

  /// Whether the caller left the way open, so that a table that does not fit is no error.
  [[nodiscard]] bool open() const noexcept { return choice == StrategyChoice::automatic && !table_wanted; }
  [[nodiscard]] Cells cells() const noexcept { return choose_cells(choice, table_wanted, dims); }

  /// Counts the figures of the index only where the choice depends on them.
  [[nodiscard]] StrategyAnswer operator()(const EpsGroup& group, const Index& index) const;
  /// With figures that are counted already.
  [[nodiscard]] StrategyAnswer operator()(const EpsGroup& group, const Index& index, const IndexFigures& figures) const;
};

}  // namespace epsflow::stages

// Stage: chooses to cluster the variants of one eps through a table or directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/choices.hpp>
#include <epsflow/stages/eps_job.hpp>

namespace epsflow::stages {

struct StrategyQuestion {
  StrategyChoice choice = StrategyChoice::automatic;
  bool table_wanted = false;   ///< the caller set options of tables
  bool table_refused = false;  ///< a table of this eps was tried and did not fit
  std::size_t variants = 1;    ///< number of minpts of the eps
  IndexFigures index;          ///< of the index of the eps
  std::uint64_t memory = 0;    ///< bytes of the budget without points and index
};

struct StrategyAnswer {
  Strategy strategy = Strategy::direct;
  std::string_view reason;
};

/// Returns the kind of cells of the index: dense boxes for clustering without a table in up to three dimensions, else
/// eps cells. This is decided before the index is built, from the caller's options and the dimensions alone: points
/// that are sorted into one kind of cells would have to be sorted again for the other.
[[nodiscard]] Cells choose_cells(StrategyChoice choice, bool table_wanted, std::size_t dims) noexcept;

/// Chooses the strategy of one eps. Pure.
///
/// Without a table each point is searched once for its count, once more when it becomes core (except candidates already
/// in its set), and once for each minpts for which it is not core. With a table everything is searched once and then
/// read. So a table pays if cells are not dense boxes, several minpts share it, and it fits: at most a third of the
/// candidates were neighbours in the sets measured, and an id takes 4 bytes.
[[nodiscard]] StrategyAnswer choose_strategy(const StrategyQuestion& question) noexcept;

/// Chooses for each group of a run, and holds the inputs that all groups share. A run and its plan use it alike.
struct ChooseStrategy {
  StrategyChoice choice = StrategyChoice::automatic;
  bool table_wanted = false;  ///< as in StrategyQuestion
  std::size_t dims = 1;
  std::uint64_t memory = 0;  ///< bytes of the budget without all points

  /// Returns true if the caller left the strategy open, so that a table that does not fit is not an error.
  [[nodiscard]] bool open() const noexcept { return choice == StrategyChoice::automatic && !table_wanted; }
  [[nodiscard]] Cells cells() const noexcept { return choose_cells(choice, table_wanted, dims); }

  /// Computes the figures of the index only if the choice depends on them.
  [[nodiscard]] StrategyAnswer operator()(const EpsGroup& group, const Index& index) const;
  /// Uses figures that are already computed.
  [[nodiscard]] StrategyAnswer operator()(const EpsGroup& group, const Index& index, const IndexFigures& figures) const;
};

}  // namespace epsflow::stages

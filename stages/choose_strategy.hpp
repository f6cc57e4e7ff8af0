// Stage: chooses to cluster the variants of one eps through a table or directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/choices.hpp>
#include <epsflow/stages/eps_job.hpp>

namespace epsflow::stages {

struct StrategyAnswer {
  Strategy strategy = Strategy::direct;
  std::string_view reason;
};

/// Chooses the strategy of each group of a run. A run and its plan use it alike.
///
/// Without a table each point is searched once for its count, once more when it becomes core (except candidates already
/// in its set), and once for each minpts for which it is not core. With a table everything is searched once and then
/// read. So a table pays if cells are not dense boxes, pairs are not stored anyway, at least four minpts share it, and
/// it fits: at most a third of the candidates were neighbours in the sets measured, and an id takes 4 bytes.
struct ChooseStrategy {
  StrategyChoice choice = StrategyChoice::automatic;
  bool table_wanted = false;  ///< the caller set options of tables
  std::size_t dims = 1;
  std::uint64_t memory = 0;  ///< bytes of the budget without all points

  /// Returns true if the caller left the strategy open, so that a table that does not fit is not an error, and the
  /// figures of an index are needed.
  [[nodiscard]] bool open() const noexcept { return choice == StrategyChoice::automatic && !table_wanted; }
  /// Returns the kind of cells of the index: dense boxes for clustering without a table in up to three dimensions, else
  /// eps cells. This is decided before the index is built, from the caller's options and the dimensions alone: points
  /// that are sorted into one kind of cells would have to be sorted again for the other.
  [[nodiscard]] Cells cells() const noexcept;

  /// Chooses the strategy of one eps. index_bytes, figures: of its index. Pure.
  [[nodiscard]] StrategyAnswer operator()(const EpsGroup& group, std::uint64_t index_bytes,
                                          const IndexFigures& figures) const noexcept;
};

}  // namespace epsflow::stages

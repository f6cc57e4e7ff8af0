// Neighbours in compressed sparse rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace epsflow {

/// A view of the neighbours of n points. The neighbours of point i, i included, are ids[offsets[i] … offsets[i + 1]).
struct NeighborsView {
  std::span<const std::uint64_t> offsets = {};  ///< [host] [n + 1], from 0 to the number of ids
  std::span<const std::uint32_t> ids = {};      ///< [host] [pairs], ascending for each point
  std::span<const double> distances = {};       ///< [host] [pairs] in the unit of eps, or empty
  double eps = 0;                               ///< the eps of the neighbours; 0: not known

  [[nodiscard]] std::size_t size() const noexcept { return offsets.empty() ? 0 : offsets.size() - 1; }
};

}  // namespace epsflow

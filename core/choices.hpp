// Ways of doing the same work: they change time and memory, never a label.
#pragma once

#include <cstdint>

namespace epsflow {

/// How a csr batch is searched.
enum class Kernel : std::uint8_t {
  rows,    ///< whole rows, one after the other
  global,  ///< a task per point emits pairs in any order, which are then sorted (the paper's Algorithm 2)
  shared,  ///< a task per non-empty cell tests tiles of candidates, and emits pairs (the paper's Algorithm 3)
};
[[nodiscard]] constexpr bool emits_pairs(Kernel kernel) noexcept { return kernel != Kernel::rows; }

/// The neighbour table in memory; `automatic` takes packed where the index has a layout for it.
enum class FormatChoice : std::uint8_t { automatic, csr, packed };

/// How the variants of one table are clustered.
enum class VariantMethod : std::uint8_t {
  nested,  ///< from the largest minpts down with one union-find
  each,    ///< each on its own, all concurrently (the paper's way)
};

enum class BackendChoice : std::uint8_t { automatic, cpu, gpu };

}  // namespace epsflow

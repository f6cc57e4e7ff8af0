// Finds the parts in which points lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/space.hpp>
#include <epsflow/parts/descent.hpp>
#include <epsflow/parts/find_equal.hpp>
#include <epsflow/parts/interior.hpp>
#include <epsflow/parts/partition.hpp>

namespace epsflow::parts {

/// Finds the parts of most points in vectors, and of points near a cut one by one. T: precision of the points.
/// Immutable.
template <class T>
class PartFinder {
 public:
  /// reach: the largest distance of ghosts, or 0 if ghosts are not needed.
  PartFinder(const Partition& partition, const Space& space, std::size_t dims, double reach)
      : interior_(partition, space, dims, reach), descent_(partition) {}

  /// Finds the parts of points [parts.size() × d], at most 65,536. inner: scratch, which is overwritten. Returns the
  /// ascending indices of the points that may be ghosts of other parts, in the memory of `inner`.
  std::span<const std::uint16_t> find(const T* points, std::span<std::uint16_t> parts,
                                      std::vector<std::uint16_t>& inner) const {
    const std::size_t d = interior_.dims();
    inner.resize(parts.size() + kFoundBeyond);
    interior_.find(points, parts);
    const std::size_t count = find_equal(parts, Interior<T>::kMixed, inner.data());
    if (count == parts.size()) {
      descent_.find_parts(points, d, parts.size(), parts.data());
    } else {
      for (std::size_t j = 0; j < count; ++j) {
        parts[inner[j]] = static_cast<std::uint16_t>(descent_.part_of(points + inner[j] * d));
      }
    }
    return std::span(inner).first(count);
  }

 private:
  Interior<T> interior_;
  Descent descent_;
};

}  // namespace epsflow::parts

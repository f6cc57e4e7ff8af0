#include <epsflow/parts/ghosts.hpp>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow::parts {

GhostFinder::GhostFinder(const Partition& partition, const Space& space, std::size_t dims, double reach)
    : partition_(partition), space_(space), dims_(dims), reach_(reach) {
  for (std::size_t k = 0; k < space.axes.size(); ++k) {
    periodic_ = periodic_ || space.period(k) != 0;
    if (space.period(k) == 0 || space.period(k) > reach) continue;
    throw UsageError(
        "the box is too narrow along coordinate " + format_count(k) + " for points in parts, which need more than " +
        format_number(reach) +
        " there: use smaller eps, or cluster in one part, in one process and on the CPU or a GPU that holds all");
  }
  for (std::uint32_t part = 0; part < partition.parts(); ++part) {
    const Partition::Box box = partition.box_of(part, dims);
    for (std::size_t k = 0; k < dims; ++k) {
      double lo = box.lo[k], hi = box.hi[k];
      if (k < space.axes.size() && space.period(k) != 0) {
        lo = std::max(lo, space.axes[k].lo);
        hi = std::min(hi, space.axes[k].lo + space.axes[k].length);
      }
      sides_.insert(sides_.end(), {lo, hi});
    }
  }
}

void require_count(std::uint64_t points) {
  if (points <= kMaxPoints) return;
  throw ResourceError("a part has " + format_count(points, "point") + " with its ghosts, and at most " +
                      format_count(kMaxPoints) + " are possible: use more parts, or smaller eps");
}

}  // namespace epsflow::parts

#include <epsflow/windows/moving_clustering.hpp>

#include <algorithm>
#include <array>
#include <atomic>

#include <epsflow/core/parallel.hpp>
#include <epsflow/windows/cell_frame.hpp>
#include <epsflow/windows/moving_cells.hpp>
#include <epsflow/windows/moving_level.hpp>

namespace epsflow::windows {
namespace {

template <std::size_t D>
class MovingDbscan final : public MovingClustering {
 public:
  MovingDbscan(double radius, std::span<const std::uint32_t> minpts, const CellFrame<D>& frame)
      : cells_(radius, *std::max_element(minpts.begin(), minpts.end()), frame) {
    for (const std::uint32_t m : minpts) levels_.push_back(std::make_unique<MovingLevel<D>>(cells_, m));
  }

  [[nodiscard]] bool holds(std::span<const double> x) const override {
    if (!cells_.fits(x.size() / D)) return false;
    std::atomic<bool> all = true;
    parallel_ranges(x.size() / D, 1 << 13, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (!cells_.frame().holds(x.data() + i * D)) all = false;
      }
    });
    return all;
  }

  void step(const PointChanges& changes) override {
    for (auto& level : levels_) level->end();
    cells_.end();
    cells_.change(changes.leaving, {changes.arriving, changes.x}, changes.handles);
    for (auto& level : levels_) level->begin(changes.handles);
    const std::span<const std::uint32_t> affected = cells_.affected();
    in_parts(affected.size(), [&](std::size_t begin, std::size_t end) {
      typename MovingCells<D>::BlockCount counted;
      std::vector<typename MovingLevel<D>::Lists> lists(levels_.size());
      for (std::size_t i = begin; i < end; ++i) {
        cells_.count(affected[i], counted);
        for (std::size_t l = 0; l < levels_.size(); ++l) levels_[l]->find_core(affected[i], counted.touched, lists[l]);
      }
      for (std::size_t l = 0; l < levels_.size(); ++l) levels_[l]->append(lists[l]);
    });
    for (auto& level : levels_) level->resolve();
  }

  [[nodiscard]] CountedClusters read(std::size_t level, const RowOutput& rows, std::size_t earlier) override {
    return levels_[level]->read(rows, earlier);
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept override {
    std::uint64_t sum = cells_.bytes();
    for (const auto& level : levels_) sum += level->bytes();
    return sum;
  }

 private:
  MovingCells<D> cells_;
  std::vector<std::unique_ptr<MovingLevel<D>>> levels_;
};

template <std::size_t D>
std::unique_ptr<MovingClustering> made(std::span<const double> x, double radius,
                                       std::span<const std::uint32_t> minpts) {
  if (radius < 0x1p-500) return nullptr;
  std::array<double, D> origin = {};
  if (!x.empty()) std::copy_n(x.begin(), D, origin.begin());
  auto clustering = std::make_unique<MovingDbscan<D>>(radius, minpts, CellFrame<D>(radius, origin));
  if (!clustering->holds(x)) return nullptr;
  return clustering;
}

}  // namespace

std::unique_ptr<MovingClustering> MovingClustering::make(std::span<const double> x, std::size_t dims, double radius,
                                                         std::span<const std::uint32_t> minpts) {
  switch (dims) {
    case 1:
      return made<1>(x, radius, minpts);
    case 2:
      return made<2>(x, radius, minpts);
    case 3:
      return made<3>(x, radius, minpts);
    default:
      return nullptr;
  }
}

}  // namespace epsflow::windows

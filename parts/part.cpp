#include <epsflow/parts/part.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/parts/row_bytes.hpp>

namespace epsflow::parts {
namespace {

constexpr std::size_t kGrain = 1 << 14;

std::size_t row_bytes(PointsView points) { return points.dims() * epsflow::bytes_of(points.precision()); }

const std::byte* row_of(PointsView points, std::size_t i) {
  return static_cast<const std::byte*>(points.data()) + i * row_bytes(points);
}

std::byte* row_of(Points& points, std::size_t i) { return bytes_of(points) + i * row_bytes(points.view()); }

}  // namespace

/// found: [parts], by ascending point.
void Part::find_ghosts(const GhostFinder& finder, std::uint32_t me, PointsView own, std::vector<Found>& found) const {
  const std::size_t d = own.dims();
  const std::size_t blocks = (own_ + kGrain - 1) / kGrain;
  std::vector<std::vector<Found>> by_block(blocks);
  const auto search = [&](auto dims) {
    parallel_for(blocks, [&](std::size_t b) {
      std::vector<Found>& mine = by_block[b];
      mine.resize(found.size());
      std::vector<double> point(d), room;
      own.visit([&](auto values) {
        for (std::size_t i = b * kGrain; i < std::min(own_, (b + 1) * kGrain); ++i) {
          const auto* const at = values.data() + i * d;
          if (finder.template inside<std::remove_cvref_t<decltype(*at)>, dims>(me, at)) continue;
          std::copy_n(at, d, point.begin());
          finder.for_ghosts(me, point, room, [&](std::uint32_t part, double distance, std::span<const double> place) {
            mine[part].lent.push_back({static_cast<std::uint32_t>(i), distance});
            mine[part].coordinates.insert(mine[part].coordinates.end(), place.begin(), place.end());
          });
        }
      });
    });
  };
  if (d == 2) search(std::integral_constant<std::size_t, 2>());
  if (d == 3) search(std::integral_constant<std::size_t, 3>());
  if (d != 2 && d != 3) search(std::integral_constant<std::size_t, 0>());
  for (const std::vector<Found>& of_block : by_block) {
    for (std::size_t part = 0; part < of_block.size(); ++part) {
      const auto& [lent, coordinates] = of_block[part];
      found[part].lent.insert(found[part].lent.end(), lent.begin(), lent.end());
      found[part].coordinates.insert(found[part].coordinates.end(), coordinates.begin(), coordinates.end());
    }
  }
}

Part::Part(Exchange& exchange, Distribution& distribution, const Partition& partition, const Space& space, double reach,
           const Buffer<std::int64_t>* units)
    : own_(distribution.size()), rank_(static_cast<std::size_t>(exchange.rank())) {
  const auto ranks = static_cast<std::size_t>(exchange.size());
  const PointsView own = distribution.own();
  const std::size_t d = own.dims();
  std::vector<Found> found(ranks);
  find_ghosts(GhostFinder(partition, space, d, reach), static_cast<std::uint32_t>(exchange.rank()), own, found);
  // By distance, so that a smaller radius takes the first of them.
  const std::size_t row = row_bytes(own);
  lent_.resize(ranks);
  std::vector<std::uint64_t> counts;
  counts.reserve(found.size());
  for (const Found& of_rank : found) counts.push_back(of_rank.lent.size());
  const auto lent_begins = begins_of(counts);
  Buffer<std::byte> rows(lent_begins.back() * row);
  Letters<double> distances(ranks);
  parallel_for(ranks, [&](std::size_t r) {
    const std::vector<Lent>& lent = found[r].lent;
    const std::vector<double>& coordinates = found[r].coordinates;
    std::vector<std::uint32_t> order(lent.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return lent[a].distance < lent[b].distance; });
    std::byte* to = rows.data() + lent_begins[r] * row;
    for (const std::uint32_t i : order) {
      lent_[r].push_back(lent[i]);
      distances[r].push_back(lent[i].distance);
      for (std::size_t k = 0; k < d; ++k) {
        const double x = coordinates[i * d + k];
        if (own.precision() == Precision::float32) {
          const auto single = static_cast<float>(x);
          std::memcpy(to, &single, sizeof(single));
          to += sizeof(single);
        } else {
          std::memcpy(to, &x, sizeof(x));
          to += sizeof(x);
        }
      }
    }
    found[r] = {};
  });
  distances_ = all_to_all(exchange, distances);
  counts.clear();
  for (const std::vector<double>& of_rank : distances_) counts.push_back(of_rank.size());
  borrowed_begins_ = begins_of(counts);
  ghosts_ = borrowed_begins_.back();
  require_count(own_ + ghosts_);
  borrowed_ = Points(ghosts_, d, own.precision());
  exchange.all_to_all(rows.data(), lent_begins, bytes_of(borrowed_), borrowed_begins_, row);
  points_ = distribution.take_points(own_ + ghosts_);
  if (units == nullptr) return;
  Letters<std::int64_t> lent_units(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    for (const Lent& lent : lent_[r]) lent_units[r].push_back((*units)[lent.point]);
  }
  borrowed_units_ = all_to_all(exchange, lent_units);
  units_ = Buffer<std::int64_t>(own_ + ghosts_);
  std::copy(units->begin(), units->end(), units_.begin());
}

std::uint64_t Part::bytes() const noexcept {
  std::uint64_t lent = 0;
  for (const std::vector<Lent>& to_rank : lent_) lent += to_rank.size();
  const std::uint64_t of_ghost = 2 * bytes_of_row() + sizeof(double) + (units_.empty() ? 0 : sizeof(std::int64_t));
  return own_ * bytes_of_row() + ghosts_ * of_ghost + lent * sizeof(Lent) + units_.bytes();
}

Part::View Part::view(const PartReach& reach) {
  View view;
  PartView& shared = view.shared;
  shared.part = rank_;
  shared.own = own_;
  std::size_t n = own_;
  const std::size_t row = row_bytes(points_.view());
  const auto within = [&](std::size_t r, double distance) {
    return static_cast<std::size_t>(std::upper_bound(distances_[r].begin(), distances_[r].end(), distance) -
                                    distances_[r].begin());
  };
  const auto put = [&](std::size_t r, std::size_t first, std::size_t last) {
    const std::size_t ghosts = last - first;
    if (ghosts > 0)
      std::memcpy(row_of(points_, n), row_of(borrowed_.view(), borrowed_begins_[r] + first), ghosts * row);
    if (!units_.empty()) std::copy_n(borrowed_units_[r].data() + first, ghosts, units_.data() + n);
    n += ghosts;
  };
  shared.lent_to.push_back(0);
  shared.near_of.push_back(0);
  for (std::size_t r = 0; r < lent_.size(); ++r) {
    for (const Lent& lent : lent_[r]) {
      if (lent.distance > reach.near) break;
      shared.lent.push_back(lent.point);
    }
    shared.lent_to.push_back(shared.lent.size());
    put(r, 0, within(r, reach.near));
    shared.near_of.push_back(n - own_);
  }
  shared.near = n - own_;
  for (std::size_t r = 0; r < lent_.size(); ++r) put(r, within(r, reach.near), within(r, reach.beyond));
  shared.beyond = n - own_ - shared.near;
  view.points = points_.view().rows(0, n);
  if (!units_.empty()) shared.units.assign(units_.begin(), units_.begin() + n);
  return view;
}

}  // namespace epsflow::parts

#include <epsflow/parts/part.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/parts/row_bytes.hpp>

namespace epsflow::parts {
namespace {

std::size_t row_bytes(PointsView points) { return points.dims() * epsflow::bytes_of(points.precision()); }

std::byte* row_of(Points& points, std::size_t i) { return points.data() + i * row_bytes(points.view()); }

/// Finds the own points [n × d] of this rank that are ghosts of other ranks.
template <class T>
GhostLists find_ghosts(const RankSetting& setting, std::span<const T> owned, std::size_t d,
                       std::span<const std::int64_t> units) {
  constexpr std::size_t kGrain = 1 << 14;
  const std::vector<double>& reaches = setting.reaches;
  const GhostFinder finder(setting.cuts, setting.space, d, reaches.back());
  const auto me = static_cast<std::uint32_t>(setting.communicator.rank());
  const std::size_t n = owned.size() / d;
  std::vector<FoundGhosts<T>> found((n + kGrain - 1) / kGrain);
  const auto search = [&](auto dims) {
    parallel_for(found.size(), [&](std::size_t b) {
      std::vector<double> point(d), room;
      for (std::size_t i = b * kGrain; i < std::min(n, (b + 1) * kGrain); ++i) {
        const T* const at = owned.data() + i * d;
        if (finder.template inside<T, dims>(me, at)) continue;
        std::copy_n(at, d, point.begin());
        finder.for_ghosts(me, point, room, [&](std::uint32_t to, double distance, std::span<const double> place) {
          const auto row = static_cast<std::uint32_t>(i);
          found[b].ghosts.push_back(
              {row, row, to, static_cast<std::uint32_t>(GhostOrder::first_within(reaches, distance))});
          for (const double x : place) found[b].coordinates.push_back(static_cast<T>(x));
        });
      }
    });
  };
  if (d == 2) search(std::integral_constant<std::size_t, 2>());
  if (d == 3) search(std::integral_constant<std::size_t, 3>());
  if (d != 2 && d != 3) search(std::integral_constant<std::size_t, 0>());
  return sort_ghosts(std::span<const FoundGhosts<T>>(found), setting.cuts.parts(), reaches, d, units,
                     [](const auto& ghost) { return ghost.point; });
}

}  // namespace

Part::Part(const RankSetting& setting, Distribution& distribution, const Buffer<std::int64_t>* units)
    : own_(distribution.size()), rank_(static_cast<std::size_t>(setting.communicator.rank())) {
  Communicator& communicator = setting.communicator;
  const PointsView owned = distribution.owned();
  const std::span<const std::int64_t> own_units = units != nullptr ? units->span() : std::span<const std::int64_t>();
  GhostLists send_list =
      owned.visit([&](auto values) { return find_ghosts(setting, values, owned.dims(), own_units); });
  send_order_ = send_list.order;
  send_list_ = std::move(send_list.points);
  const std::size_t reaches = setting.reaches.size();
  const std::vector<std::size_t> by_rank =
      begins_of(std::vector<std::size_t>(static_cast<std::size_t>(communicator.size()), reaches));
  std::vector<std::uint64_t> counts(by_rank.back());
  communicator.all_to_all(send_list.counts.data(), by_rank, counts.data(), by_rank, sizeof(std::uint64_t));
  halo_order_ = GhostOrder(setting.reaches, counts);
  ghosts_ = halo_order_.size();
  require_count(own_ + ghosts_);
  halo_ = Points(ghosts_, owned.dims(), owned.precision());
  const std::vector<std::size_t> sent = send_order_.begins(), received = halo_order_.begins();
  communicator.all_to_all(send_list.coordinates.data(), sent, halo_.data(), received, row_bytes(owned));
  points_ = distribution.take_points(own_ + ghosts_);
  if (units == nullptr) return;
  halo_units_ = Buffer<std::int64_t>(ghosts_);
  communicator.all_to_all(send_list.units.data(), sent, halo_units_.data(), received, sizeof(std::int64_t));
  units_ = Buffer<std::int64_t>(own_ + ghosts_);
  std::copy(units->begin(), units->end(), units_.begin());
}

std::uint64_t Part::bytes() const noexcept {
  const std::uint64_t of_ghost = 2 * bytes_of_row() + (units_.empty() ? 0 : sizeof(std::int64_t));
  return own_ * bytes_of_row() + ghosts_ * of_ghost + send_list_.bytes() + units_.bytes();
}

Part::View Part::view(const PartReach& reach) {
  View view;
  PartView& shared = view.shared;
  shared.part = rank_;
  shared.owned = own_;
  std::size_t n = own_;
  const std::size_t row = row_bytes(points_.view());
  const auto put = [&](std::size_t first, std::size_t last) {
    const std::size_t ghosts = last - first;
    if (ghosts > 0) std::memcpy(row_of(points_, n), halo_.data() + first * row, ghosts * row);
    if (!units_.empty()) std::copy_n(halo_units_.data() + first, ghosts, units_.data() + n);
    n += ghosts;
  };
  const std::size_t ranks = send_order_.begins().size() - 1;
  shared.send_begins.push_back(0);
  shared.inner_begins.push_back(0);
  for (std::size_t r = 0; r < ranks; ++r) {
    shared.send_list.insert(shared.send_list.end(), send_list_.data() + send_order_.begin(r),
                            send_list_.data() + send_order_.end(r, reach.inner));
    shared.send_begins.push_back(shared.send_list.size());
    put(halo_order_.begin(r), halo_order_.end(r, reach.inner));
    shared.inner_begins.push_back(n - own_);
  }
  shared.inner = n - own_;
  for (std::size_t r = 0; r < ranks; ++r) put(halo_order_.end(r, reach.inner), halo_order_.end(r, reach.outer));
  shared.outer = n - own_ - shared.inner;
  view.points = points_.view().rows(0, n);
  if (!units_.empty()) shared.units.assign(units_.begin(), units_.begin() + n);
  return view;
}

}  // namespace epsflow::parts

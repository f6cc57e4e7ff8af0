#include <epsflow/parts/host_rank.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include <epsflow/core/parallel.hpp>
#include <epsflow/parts/for_all.hpp>
#include <epsflow/parts/local_sweep.hpp>
#include <epsflow/pipeline/host_bytes.hpp>

namespace epsflow::parts {
namespace {

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
      std::vector<double> point(d), scratch;
      for (std::size_t i = b * kGrain; i < std::min(n, (b + 1) * kGrain); ++i) {
        const T* const at = owned.data() + i * d;
        if (finder.template inside<T, dims>(me, at)) continue;
        std::copy_n(at, d, point.begin());
        finder.for_ghosts(me, point, scratch, [&](std::uint32_t to, double distance, std::span<const double> position) {
          const auto row = static_cast<std::uint32_t>(i);
          found[b].ghosts.push_back(
              {row, row, to, static_cast<std::uint32_t>(GhostOrder::first_within(reaches, distance))});
          for (const double x : position) found[b].coordinates.push_back(static_cast<T>(x));
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

HostRank::HostRank(const RankSetting& setting, Distribution distribution, std::optional<RankWeights> weights)
    : communicator_(setting.communicator),
      backend_(setting.backend),
      distribution_(std::move(distribution)),
      open_{setting.space.norm, setting.space.power} {
  Buffer<std::int64_t> units;  // of own points
  if (weights) {
    scale_ = weights->scale;
    units = distribution_.bring<std::int64_t>(communicator_, weights->units.span());
    weights.reset();
  }
  const PointsView own = distribution_.owned();
  GhostLists send_list = own.visit([&](auto values) { return find_ghosts(setting, values, own.dims(), units.span()); });
  send_order_ = send_list.order;
  send_list_ = std::move(send_list.points);
  const std::size_t reaches = setting.reaches.size();
  const std::vector<std::size_t> by_rank =
      begins_of(std::vector<std::size_t>(static_cast<std::size_t>(communicator_.size()), reaches));
  std::vector<std::uint64_t> counts(by_rank.back());
  communicator_.all_to_all(send_list.counts.data(), by_rank, counts.data(), by_rank, sizeof(std::uint64_t));
  halo_order_ = GhostOrder(setting.reaches, counts);
  const std::size_t ghosts = halo_order_.size(), all = own.size() + ghosts;
  require_count(all);
  halo_ = Points(ghosts, own.dims(), own.precision());
  const std::vector<std::size_t> sent = send_order_.begins(), received = halo_order_.begins();
  points_ = distribution_.take_points(all);
  communicator_.all_to_all(send_list.coordinates.data(), sent, halo_.data(), received, row_bytes());
  if (!scale_) return;
  halo_units_ = Buffer<std::int64_t>(ghosts);
  communicator_.all_to_all(send_list.units.data(), sent, halo_units_.data(), received, sizeof(std::int64_t));
  units_ = Buffer<std::int64_t>(all);
  std::copy(units.begin(), units.end(), units_.begin());
}

std::uint64_t HostRank::held_bytes() const {
  constexpr std::uint64_t kOfShare = sizeof(std::uint16_t) + kBytesPerLabel;
  const std::uint64_t of_ghost = 2 * row_bytes() + (units_.empty() ? 0 : sizeof(std::int64_t));
  return distribution_.share() * kOfShare + owned() * (row_bytes() + sizeof(std::uint32_t)) + ghosts() * of_ghost +
         send_list_.bytes() + units_.bytes();
}

std::uint64_t HostRank::clustering_bytes(std::size_t levels) const {
  const std::uint64_t of_view = scale_ ? sizeof(std::int64_t) : 0;
  const std::uint64_t of_point =
      on_host() ? row_bytes() + host_bytes(levels, scale_.has_value()) + of_view : kBytesPerLabel;
  return (owned() + ghosts()) * of_point;
}

RankPart::Loaded HostRank::load(const PartReach& reach) {
  PartView view{.part = static_cast<std::size_t>(communicator_.rank()),
                .owned = distribution_.size(),
                .send_list = {},
                .send_begins = {0},
                .inner_begins = {0}};
  std::size_t n = view.owned;
  const std::size_t row = row_bytes();
  const auto put = [&](std::size_t first, std::size_t last) {
    const std::size_t ghosts = last - first;
    if (ghosts > 0) std::memcpy(points_.data() + n * row, halo_.data() + first * row, ghosts * row);
    if (!units_.empty()) std::copy_n(halo_units_.data() + first, ghosts, units_.data() + n);
    n += ghosts;
  };
  const std::size_t ranks = send_order_.begins().size() - 1;
  for (std::size_t r = 0; r < ranks; ++r) {
    view.send_list.insert(view.send_list.end(), send_list_.data() + send_order_.begin(r),
                          send_list_.data() + send_order_.end(r, reach.inner));
    view.send_begins.push_back(view.send_list.size());
    put(halo_order_.begin(r), halo_order_.end(r, reach.inner));
    view.inner_begins.push_back(n - view.owned);
  }
  view.inner = n - view.owned;
  for (std::size_t r = 0; r < ranks; ++r) put(halo_order_.end(r, reach.inner), halo_order_.end(r, reach.outer));
  view.outer = n - view.owned - view.inner;
  if (!units_.empty()) view.units.assign(units_.begin(), units_.begin() + n);
  return {std::move(view), {{}, backend_.load(points_.view().rows(0, n), open_)}};
}

std::vector<std::int32_t> HostRank::read(const VariantResult& result, std::size_t first, std::size_t count) {
  const std::span<const std::int32_t> labels = std::span<const std::int32_t>(result.labels).subspan(first, count);
  return {labels.begin(), labels.end()};
}

std::vector<std::uint64_t> HostRank::ids(std::span<const std::uint32_t> points) {
  std::vector<std::uint64_t> ids(points.size());
  for_all(ids.size(), [&](std::size_t k) { ids[k] = distribution_.id(points[k]); });
  return ids;
}

void HostRank::return_labels(VariantResult& result, std::span<const std::uint32_t> numbers, bool core) {
  for_all(result.labels.size(), [labels = result.labels.data(), numbers](std::size_t i) {
    if (labels[i] != kNoise) labels[i] = static_cast<std::int32_t>(numbers[static_cast<std::size_t>(labels[i])]);
  });
  Labels back(distribution_.share());
  distribution_.return_values(communicator_, std::as_const(result.labels).data(), back.data());
  result.labels = std::move(back);
  std::vector<std::uint8_t> mask(core ? distribution_.share() : 0);
  if (core) distribution_.return_values(communicator_, std::as_const(result.core).data(), mask.data());
  result.core = std::move(mask);
}

}  // namespace epsflow::parts

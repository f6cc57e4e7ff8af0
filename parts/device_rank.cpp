#include <epsflow/parts/device_rank.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/parts/for_all.hpp>
#include <epsflow/parts/local_sweep.hpp>

namespace epsflow::parts {
namespace {

void meet(Exchange& exchange) { (void)exchange.sum(std::uint64_t{0}); }

/// True if f() returns true on all ranks. A ResourceError of f counts as false.
template <class F>
bool all_can(Exchange& exchange, const Observer& observer, F&& f) {
  bool can = false;
  try {
    can = f();
  } catch (const ResourceError& error) {
    if (observer.on_notice) observer.on_notice(std::string("points are cut by the host, not by GPUs: ") + error.what());
  }
  return exchange.sum(can ? std::uint64_t{0} : 1) == 0;
}

template <class Counts>
std::vector<std::uint64_t> told(Exchange& exchange, const Counts& counts) {
  return exchange.tell_counts(std::vector<std::uint64_t>(counts.begin(), counts.end()));
}

std::vector<std::uint64_t> places_of(std::uint64_t first, std::span<const std::uint64_t> counts) {
  std::vector<std::uint64_t> places{first};
  for (const std::uint64_t count : counts) places.push_back(places.back() + count);
  return places;
}

std::uint64_t total(std::span<const std::uint64_t> counts) { return places_of(0, counts).back(); }

}  // namespace

std::unique_ptr<DeviceRank> DeviceRank::make(const RankSetting& setting, PointsView rows, PointsView share,
                                             const RunOptions& options, const Observer& observer) {
  Exchange& exchange = setting.exchange;
  std::unique_ptr<DeviceRank> made(new DeviceRank(exchange, setting.backend, share, setting.space));
  const std::size_t ranks = made->ranks();
  if (ranks > kMostDeviceParts || setting.cuts.parts() != ranks) return nullptr;
  DevicePart::Counts counts;
  const auto cut = [&] {
    if (setting.backend.device() >= 0) made->part_ = setting.backend.hold(rows, ranks);
    if (made->part_ == nullptr) return false;
    counts = made->part_->cut(setting.cuts.cuts(), setting.reaches.back());
    return true;
  };
  if (!all_can(exchange, observer, cut)) return nullptr;
  made->row_bytes_ = rows.dims() * bytes_of(rows.precision());
  made->firsts_ = places_of(0, exchange.tell_counts(std::vector<std::uint64_t>(ranks, share.size())));
  made->places_ = places_of(0, told(exchange, counts.own));
  made->ghosts_ = total(told(exchange, counts.ghosts));
  const std::uint64_t most_lent = total(told(exchange, counts.lent));
  Letters<std::byte> keys(ranks);
  const auto make_room = [&] {
    std::ranges::fill(keys, made->part_->make_room({.part = static_cast<std::uint32_t>(exchange.rank()),
                                                    .own = made->own(),
                                                    .ghosts = made->ghosts_,
                                                    .most_lent = most_lent,
                                                    .labels = labels_kept(options),
                                                    .core = options.core_mask && options.keep != Keep::summary,
                                                    .by_processes = !exchange.threads() && ranks > 1}));
    return true;
  };
  if (!all_can(exchange, observer, make_room)) return nullptr;
  keys = all_to_all(exchange, keys);
  const auto open_rooms = [&] {
    for (const std::vector<std::byte>& key : keys) made->rooms_.push_back(made->part_->open_room(key));
    return std::find(made->rooms_.begin(), made->rooms_.end(), nullptr) == made->rooms_.end();
  };
  const auto send_rows = [&] {
    made->part_->send_rows(made->rooms_, exchange.tell_counts(std::span(made->places_).first(ranks)));
    return true;
  };
  if (!all_can(exchange, observer, open_rooms) || !all_can(exchange, observer, send_rows)) {
    made->leave();
    return nullptr;
  }
  made->sent_bytes_ += (share.size() - counts.own[made->me()]) * made->row_bytes_;
  return made;
}

template <class F>
void DeviceRank::send(F&& f) {
  std::exception_ptr failed;
  try {
    f();
  } catch (...) {
    failed = std::current_exception();
  }
  meet(exchange_);
  if (failed) std::rethrow_exception(failed);
}

void DeviceRank::leave() {
  rooms_.clear();
  meet(exchange_);  // other ranks must close this memory before it is freed
}

std::uint64_t DeviceRank::clustering_bytes(std::size_t) const { return share_.size() * kBytesPerLabel; }

RankPart::Loaded DeviceRank::load(const PartReach& reach) {
  DevicePart::Lent lent = part_->lend(reach.near, reach.beyond);
  Loaded loaded;
  PartView& view = loaded.view;
  view.part = me();
  view.own = own();
  // Places here of the ghosts from each rank, from index `first` on; [ranks + 1].
  const auto places_from = [&](std::uint64_t first, std::span<const std::size_t> lent_begins) {
    std::vector<std::uint64_t> counts;
    for (std::size_t r = 0; r < ranks(); ++r) counts.push_back(lent_begins[r + 1] - lent_begins[r]);
    return places_of(first, exchange_.tell_counts(counts));
  };
  const std::vector<std::uint64_t> near = places_from(own(), lent.near_of);
  const std::vector<std::uint64_t> beyond = places_from(near.back(), lent.beyond_of);
  for (const std::uint64_t place : near) view.near_of.push_back(place - own());
  view.near = view.near_of.back();
  view.beyond = beyond.back() - near.back();
  const std::vector<std::uint64_t> near_places = exchange_.tell_counts(std::span(near).first(ranks()));
  const std::vector<std::uint64_t> beyond_places = exchange_.tell_counts(std::span(beyond).first(ranks()));
  send([&] { part_->send_lent(rooms_, near_places, beyond_places); });
  sent_bytes_ += (lent.near.size() + lent.beyond_of.back()) * row_bytes_;
  view.lent = std::move(lent.near);
  view.lent_to = std::move(lent.near_of);
  std::optional<InputError> odd;
  try {
    loaded.points.loaded = backend_.load(part_->points(view.size()), space_);
  } catch (const InputError& error) {
    odd = error;
  }
  if (exchange_.sum(odd ? std::uint64_t{1} : 0) > 0) {
    // The rank that sent the row finds it in its share and throws.
    require_finite(share_);
    meet(exchange_);
    if (odd) throw InputError(*odd);
  }
  return loaded;
}

std::vector<std::uint64_t> DeviceRank::ids(std::span<const std::uint32_t> points) {
  // The ranks that sent the points return their rows.
  std::vector<std::uint64_t> counts;
  std::size_t of_earlier = 0;
  for (std::size_t r = 0; r < ranks(); ++r) {
    const auto end =
        static_cast<std::size_t>(std::lower_bound(points.begin(), points.end(), places_[r + 1]) - points.begin());
    counts.push_back(end - of_earlier);
    of_earlier = end;
  }
  const auto begins = begins_of(counts), asked_begins = begins_of(exchange_.tell_counts(counts));
  Buffer<std::uint32_t> rows(points.size()), asked(asked_begins.back());
  for (std::size_t r = 0; r < ranks(); ++r) {
    for_all(static_cast<std::size_t>(counts[r]), [&](std::size_t i) {
      rows[begins[r] + i] = points[begins[r] + i] - static_cast<std::uint32_t>(places_[r]);
    });
  }
  exchange_.all_to_all(rows.data(), begins, asked.data(), asked_begins, sizeof(std::uint32_t));
  for (std::size_t r = 0; r < ranks(); ++r) {
    const std::span<std::uint32_t> of_rank =
        asked.span().subspan(asked_begins[r], asked_begins[r + 1] - asked_begins[r]);
    part_->rows_of(static_cast<std::uint32_t>(r), of_rank, 0, 0, of_rank.data());
  }
  exchange_.all_to_all(asked.data(), asked_begins, rows.data(), begins, sizeof(std::uint32_t));
  std::vector<std::uint64_t> ids(points.size());
  for (std::size_t r = 0; r < ranks(); ++r) {
    for_all(static_cast<std::size_t>(counts[r]),
            [&](std::size_t i) { ids[begins[r] + i] = firsts_[r] + rows[begins[r] + i]; });
  }
  return ids;
}

void DeviceRank::bring_home(VariantResult& result, std::span<const std::uint32_t> numbers, bool core) {
  const std::vector<std::int32_t> table(numbers.begin(), numbers.end());
  send([&] {
    part_->send_back(rooms_, places_, {result.device_labels.data(), core ? result.device_core.data() : nullptr}, table);
  });
  result.device_labels = {};
  result.device_core = {};
  const std::uint64_t kept = places_[me() + 1] - places_[me()];
  sent_bytes_ += (own() - kept) * (sizeof(std::int32_t) + (core ? 1 : 0));
  result.labels = part_->room_for_labels(share_.size());
  result.core.resize(core ? share_.size() : 0);
  part_->take_back(result.labels.data(), core ? result.core.data() : nullptr);
}

}  // namespace epsflow::parts

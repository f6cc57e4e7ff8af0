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

void meet(Communicator& communicator) { (void)communicator.sum(std::uint64_t{0}); }

/// True if f() returns true on all ranks. A ResourceError of f counts as false.
template <class F>
bool all_can(Communicator& communicator, const Observer& observer, F&& f) {
  bool can = false;
  try {
    can = f();
  } catch (const ResourceError& error) {
    if (observer.on_notice) observer.on_notice(std::string("points are cut by the host, not by GPUs: ") + error.what());
  }
  return communicator.sum(can ? std::uint64_t{0} : 1) == 0;
}

template <class Counts>
std::vector<std::uint64_t> told(Communicator& communicator, const Counts& counts) {
  return communicator.exchange_counts(std::vector<std::uint64_t>(counts.begin(), counts.end()));
}

}  // namespace

std::unique_ptr<DeviceRank> DeviceRank::make(const RankSetting& setting, PointsView rows, PointsView share,
                                             const RunOptions& options, const Observer& observer) {
  Communicator& communicator = setting.communicator;
  std::unique_ptr<DeviceRank> made(new DeviceRank(communicator, setting.backend, share, setting.space));
  const std::size_t ranks = made->ranks();
  if (ranks > kMostDeviceParts || setting.cuts.parts() != ranks) return nullptr;
  DevicePart::RowCounts counts;
  const auto cut = [&] {
    if (setting.backend.device() >= 0) made->part_ = setting.backend.hold(rows, ranks);
    if (made->part_ == nullptr) return false;
    counts = made->part_->cut(setting.cuts.cuts(), setting.reaches.back());
    return true;
  };
  if (!all_can(communicator, observer, cut)) return nullptr;
  made->row_bytes_ = rows.dims() * bytes_of(rows.precision());
  made->ids_ = RankBlocks(communicator, share.size());
  made->owned_begins_ = begins_of(told(communicator, counts.owned));
  made->ghosts_ = begins_of(told(communicator, counts.ghosts)).back();
  const std::uint64_t most_sent = begins_of(told(communicator, counts.send_list)).back();
  PerRank<std::byte> keys(ranks);
  const auto make_buffer = [&] {
    std::ranges::fill(keys, made->part_->make_buffer({.part = static_cast<std::uint32_t>(communicator.rank()),
                                                      .owned = made->owned(),
                                                      .ghosts = made->ghosts_,
                                                      .most_sent = most_sent,
                                                      .labels = labels_retained(options),
                                                      .core = options.core_mask && options.keep != Keep::summary,
                                                      .by_processes = !communicator.threads() && ranks > 1}));
    return true;
  };
  if (!all_can(communicator, observer, make_buffer)) return nullptr;
  keys = all_to_all(communicator, keys);
  const auto open_buffers = [&] {
    for (const std::vector<std::byte>& key : keys) made->buffers_.push_back(made->part_->open_buffer(key));
    return std::find(made->buffers_.begin(), made->buffers_.end(), nullptr) == made->buffers_.end();
  };
  const auto send_rows = [&] {
    made->part_->send_rows(made->buffers_, communicator.exchange_counts(std::span(made->owned_begins_).first(ranks)));
    return true;
  };
  if (!all_can(communicator, observer, open_buffers) || !all_can(communicator, observer, send_rows)) {
    made->leave();
    return nullptr;
  }
  made->sent_bytes_ += (share.size() - counts.owned[made->me()]) * made->row_bytes_;
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
  meet(communicator_);
  if (failed) std::rethrow_exception(failed);
}

void DeviceRank::leave() {
  buffers_.clear();
  meet(communicator_);  // other ranks must close this memory before it is freed
}

std::uint64_t DeviceRank::clustering_bytes(std::size_t) const { return share_.size() * kBytesPerLabel; }

RankPart::Loaded DeviceRank::load(const PartReach& reach) {
  DevicePart::SendLists send_list = part_->make_send_lists(reach.inner, reach.outer);
  Loaded loaded;
  PartView& view = loaded.view;
  view.part = me();
  view.owned = owned();
  // The first index here of the ghosts of each rank, counted from `first`; [ranks + 1].
  const auto ghost_begins = [&](std::uint64_t first, std::span<const std::size_t> send_begins) {
    std::vector<std::uint64_t> counts;
    for (std::size_t r = 0; r < ranks(); ++r) counts.push_back(send_begins[r + 1] - send_begins[r]);
    return begins_of(communicator_.exchange_counts(counts), first);
  };
  const std::vector<std::uint64_t> inner = ghost_begins(owned(), send_list.inner_begins);
  const std::vector<std::uint64_t> outer = ghost_begins(inner.back(), send_list.outer_begins);
  for (const std::uint64_t begin : inner) view.inner_begins.push_back(begin - owned());
  view.inner = view.inner_begins.back();
  view.outer = outer.back() - inner.back();
  const std::vector<std::uint64_t> inner_offsets = communicator_.exchange_counts(std::span(inner).first(ranks()));
  const std::vector<std::uint64_t> outer_offsets = communicator_.exchange_counts(std::span(outer).first(ranks()));
  send([&] { part_->send_ghosts(buffers_, inner_offsets, outer_offsets); });
  sent_bytes_ += (send_list.inner.size() + send_list.outer_begins.back()) * row_bytes_;
  view.send_list = std::move(send_list.inner);
  view.send_begins = std::move(send_list.inner_begins);
  std::optional<InputError> odd;
  try {
    loaded.points.loaded = backend_.load(part_->points(view.size()), space_);
  } catch (const InputError& error) {
    odd = error;
  }
  if (communicator_.sum(odd ? std::uint64_t{1} : 0) > 0) {
    // The rank that sent the row finds it in its share and throws.
    require_finite(share_);
    meet(communicator_);
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
        static_cast<std::size_t>(std::lower_bound(points.begin(), points.end(), owned_begins_[r + 1]) - points.begin());
    counts.push_back(end - of_earlier);
    of_earlier = end;
  }
  const auto begins = begins_of(counts), requested_begins = begins_of(communicator_.exchange_counts(counts));
  Buffer<std::uint32_t> rows(points.size()), asked(requested_begins.back());
  for (std::size_t r = 0; r < ranks(); ++r) {
    for_all(static_cast<std::size_t>(counts[r]), [&](std::size_t i) {
      rows[begins[r] + i] = points[begins[r] + i] - static_cast<std::uint32_t>(owned_begins_[r]);
    });
  }
  communicator_.all_to_all(rows.data(), begins, asked.data(), requested_begins, sizeof(std::uint32_t));
  for (std::size_t r = 0; r < ranks(); ++r) {
    const std::span<std::uint32_t> of_rank =
        asked.span().subspan(requested_begins[r], requested_begins[r + 1] - requested_begins[r]);
    part_->rows_of(static_cast<std::uint32_t>(r), of_rank, 0, 0, of_rank.data());
  }
  communicator_.all_to_all(asked.data(), requested_begins, rows.data(), begins, sizeof(std::uint32_t));
  std::vector<std::uint64_t> ids(points.size());
  for (std::size_t r = 0; r < ranks(); ++r) {
    for_all(static_cast<std::size_t>(counts[r]),
            [&](std::size_t i) { ids[begins[r] + i] = ids_.first(r) + rows[begins[r] + i]; });
  }
  return ids;
}

void DeviceRank::return_labels(VariantResult& result, std::span<const std::uint32_t> numbers, bool core) {
  const std::vector<std::int32_t> table(numbers.begin(), numbers.end());
  send([&] {
    part_->send_back(buffers_, owned_begins_, {result.device_labels.data(), core ? result.device_core.data() : nullptr},
                     table);
  });
  result.device_labels = {};
  result.device_core = {};
  const std::uint64_t local = owned_begins_[me() + 1] - owned_begins_[me()];
  sent_bytes_ += (owned() - local) * (sizeof(std::int32_t) + (core ? 1 : 0));
  result.labels = part_->label_buffer(share_.size());
  result.core.resize(core ? share_.size() : 0);
  part_->take_back(result.labels.data(), core ? result.core.data() : nullptr);
}

}  // namespace epsflow::parts

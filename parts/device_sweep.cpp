#include <epsflow/parts/device_sweep.hpp>

#include <tbb/task_arena.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <epsflow/core/stopwatch.hpp>
#include <epsflow/parts/level_totals.hpp>
#include <epsflow/parts/local_merge.hpp>
#include <epsflow/parts/part_reach.hpp>
#include <epsflow/parts/part_view.hpp>
#include <epsflow/parts/resident_part.hpp>
#include <epsflow/parts/row_clusters.hpp>
#include <epsflow/parts/thread_ranks.hpp>

namespace epsflow::parts {
namespace {

/// Returns the first row that a device loads.
std::size_t first_row(std::size_t rows, std::size_t device, std::size_t devices) {
  return rows / devices * device + std::min(device, rows % devices);
}

}  // namespace

DeviceSweep::DeviceSweep(const RunOptions& options, std::span<const PartWorker> workers, CancelToken& stop,
                         std::size_t rows)
    : options_(options),
      workers_(workers),
      stop_(stop),
      rows_(rows),
      parts_(workers.size()),
      buffers_(workers.size()) {}

template <class F>
void DeviceSweep::on_devices(F&& f) const {
  stop_.check();
  run_together(workers_.size(), stop_, [&](std::size_t p) {
    tbb::task_arena arena(static_cast<int>(workers_[p].threads));
    arena.execute([&] { f(p); });
  });
}

std::unique_ptr<DeviceSweep> DeviceSweep::make(PointsView points, const Partition& cuts, double reach,
                                               const RunOptions& options, std::span<const PartWorker> workers,
                                               CancelToken& stop) {
  const std::size_t devices = workers.size();
  if (devices != cuts.parts() || devices > kMostDeviceParts) return nullptr;
  std::unique_ptr<DeviceSweep> made(new DeviceSweep(options, workers, stop, points.size()));
  std::vector<DevicePart::RowCounts> counts(devices);
  made->on_devices([&](std::size_t g) {
    made->parts_[g] = workers[g].backend.hold(
        points.rows(first_row(points.size(), g, devices), first_row(points.size(), g + 1, devices)), devices);
    if (made->parts_[g] != nullptr) counts[g] = made->parts_[g]->cut(cuts.cuts(), reach);
  });
  if (std::find(made->parts_.begin(), made->parts_.end(), nullptr) != made->parts_.end()) return nullptr;
  std::vector<std::uint64_t> ghosts(devices, 0), send_list(devices, 0);
  for (std::size_t p = 0; p < devices; ++p) {
    std::vector<std::uint64_t>& begins = made->owned_begins_.emplace_back(1, 0);
    for (const DevicePart::RowCounts& of_rows : counts) {
      begins.push_back(begins.back() + of_rows.owned[p]);
      ghosts[p] += of_rows.ghosts[p];
      send_list[p] += of_rows.send_list[p];
    }
  }
  std::vector<std::vector<std::byte>> keys(devices);
  made->on_devices([&](std::size_t p) {
    keys[p] = made->parts_[p]->make_buffer({.part = static_cast<std::uint32_t>(p),
                                            .owned = made->owned_begins_[p].back(),
                                            .ghosts = ghosts[p],
                                            .most_sent = send_list[p],
                                            .labels = labels_retained(options),
                                            .core = masks_made(options)});
  });
  made->on_devices([&](std::size_t g) {
    std::vector<std::uint64_t> begins;
    for (std::size_t p = 0; p < devices; ++p) {
      made->buffers_[g].push_back(made->parts_[g]->open_buffer(keys[p]));
      begins.push_back(made->owned_begins_[p][g]);
    }
    made->parts_[g]->send_rows(made->buffers_[g], begins);
  });
  return made;
}

class DeviceSweep::Group {
 public:
  Group(const DeviceSweep& sweep, const stages::EpsGroup& group, const Space& space)
      : sweep_(sweep),
        group_(group),
        options_(sweep.options_),
        views_(sweep.parts_.size()),
        residents_(sweep.parts_.size()) {
    share_ghosts(PartReach(group.radius));
    sweep_.on_devices([&](std::size_t p) {
      PartPoints points;
      points.loaded = sweep_.workers_[p].backend.load(sweep_.parts_[p]->points(views_[p].size()), space);
      const DirectOptions direct{
          .minpts = group.minpts, .core_mask = masks_made(options_), .labels = MemorySpace::device};
      residents_[p] = std::make_unique<ResidentPart>(std::move(points), views_[p], nullptr,
                                                     PartSearch{group.radius, options_.search, sweep_.stop_}, direct);
    });
  }

  void cluster(const OnResult& on_result) {
    std::optional<RowClusters> clusters;
    if (options_.clusters) clusters.emplace(sweep_.rows_, group_.minpts.back());
    for (const std::uint32_t minpts : group_.minpts) {
      const Stopwatch time;
      VariantResult result;
      result.variant = {group_.eps, minpts};
      MergedSets merged = unite(minpts);
      std::vector<std::uint32_t> sizes(clusters ? merged.count : 0, 0);
      label(merged, result, sizes);
      if (clusters) result.clusters = clusters->take(result, std::move(merged.first_core), std::move(sizes));
      if (options_.keep == Keep::summary) result.labels = {};
      if (options_.keep == Keep::summary || !options_.core_mask) result.core = {};
      result.seconds = time.seconds();
      on_result(std::move(result));
    }
  }

 private:
  /// Sends each part its ghosts, by the part that owns them: inner ghosts first.
  void share_ghosts(const PartReach& reach) {
    const std::size_t parts = views_.size();
    std::vector<DevicePart::SendLists> send_list(parts);
    sweep_.on_devices(
        [&](std::size_t p) { send_list[p] = sweep_.parts_[p]->make_send_lists(reach.inner, reach.outer); });
    std::vector<std::vector<std::uint64_t>> inner_offsets(parts), outer_offsets(parts);  // [of][to]
    for (std::size_t to = 0; to < parts; ++to) {
      PartView& view = views_[to];
      view.part = to;
      view.owned = sweep_.owned_begins_[to].back();
      view.inner_begins.push_back(0);
      std::uint64_t at = view.owned;
      const auto put = [&](std::vector<std::vector<std::uint64_t>>& offsets, std::size_t of, std::size_t size) {
        offsets[of].push_back(at);
        at += size;
      };
      for (std::size_t of = 0; of < parts; ++of) {
        put(inner_offsets, of, send_list[of].inner_begins[to + 1] - send_list[of].inner_begins[to]);
        view.inner_begins.push_back(at - view.owned);
      }
      view.inner = view.inner_begins.back();
      for (std::size_t of = 0; of < parts; ++of)
        put(outer_offsets, of, send_list[of].outer_begins[to + 1] - send_list[of].outer_begins[to]);
      view.outer = at - view.owned - view.inner;
    }
    for (std::size_t p = 0; p < parts; ++p) {
      views_[p].send_list = std::move(send_list[p].inner);
      views_[p].send_begins = std::move(send_list[p].inner_begins);
    }
    sweep_.on_devices(
        [&](std::size_t p) { sweep_.parts_[p]->send_ghosts(sweep_.buffers_[p], inner_offsets[p], outer_offsets[p]); });
  }

  MergedSets unite(std::uint32_t minpts) {
    sets_.assign(views_.size(), {});
    sweep_.on_devices([&](std::size_t p) {
      PartClusters found = std::move(residents_[p]->unite({&minpts, 1}, views_[p], false).front());
      std::vector<std::uint32_t> rows = rows_of(p, found.first);
      sets_[p] = PartSets(std::move(found), std::move(rows));
    });
    return merge_sets(views_, sets_);
  }

  /// Returns the rows of own points. own: points of a part, ascending.
  [[nodiscard]] std::vector<std::uint32_t> rows_of(std::size_t part, std::span<const std::uint32_t> owned) const {
    std::vector<std::uint32_t> rows(owned.size());
    const std::vector<std::uint64_t>& begins = sweep_.owned_begins_[part];
    std::size_t at = 0;
    for (std::size_t g = 0; g + 1 < begins.size(); ++g) {
      const auto end =
          static_cast<std::size_t>(std::lower_bound(owned.begin(), owned.end(), begins[g + 1]) - owned.begin());
      sweep_.parts_[g]->rows_of(
          static_cast<std::uint32_t>(part), owned.subspan(at, end - at), static_cast<std::uint32_t>(begins[g]),
          static_cast<std::uint32_t>(first_row(sweep_.rows_, g, views_.size())), rows.data() + at);
      at = end;
    }
    return rows;
  }

  /// Writes the labels of all rows and the counts of the level to result. sizes: [clusters] to add to, or empty.
  void label(const MergedSets& merged, VariantResult& result, std::span<std::uint32_t> sizes) {
    const bool retained = labels_retained(options_);
    std::vector<VariantResult> of_parts(views_.size());
    std::vector<OwnCounts> counts(views_.size());
    if (retained) result.labels = sweep_.parts_.front()->label_buffer(sweep_.rows_);
    const bool masked = masks_made(options_);
    if (masked) result.core.resize(sweep_.rows_);
    sweep_.on_devices([&](std::size_t p) {
      const PartView& view = views_[p];
      DevicePart& device = *sweep_.parts_[p];
      residents_[p]->label({&result.variant, 1}, {&merged.of_parts[p].local, 1},
                           [&](VariantResult&& of_part, std::size_t, const LevelResult& found) {
                             counts[p] = {found, device.read(of_part.device_labels.data() + view.owned, view.inner),
                                          std::span(sets_[p].shared).subspan(view.send_list.size())};
                             of_parts[p] = std::move(of_part);
                           });
    });
    LevelTotals totals;
    for (std::size_t p = 0; p < views_.size(); ++p) totals.add(counts[p], merged.of_parts[p], sizes);
    result.summary = totals.summary(merged.count);
    if (!retained && !masked) return;
    sweep_.on_devices([&](std::size_t p) {
      const std::vector<std::uint32_t>& global = merged.of_parts[p].global;
      const std::vector<std::int32_t> numbers(global.begin(), global.end());
      sweep_.parts_[p]->send_back(
          sweep_.buffers_[p], sweep_.owned_begins_[p],
          {retained ? of_parts[p].device_labels.data() : nullptr, masked ? of_parts[p].device_core.data() : nullptr},
          numbers);
      of_parts[p] = {};
    });
    sweep_.on_devices([&](std::size_t g) {
      const std::size_t first = first_row(sweep_.rows_, g, views_.size());
      sweep_.parts_[g]->take_back(retained ? result.labels.data() + first : nullptr,
                                  masked ? result.core.data() + first : nullptr);
    });
  }

  const DeviceSweep& sweep_;
  const stages::EpsGroup& group_;
  const RunOptions& options_;
  std::vector<PartView> views_;
  std::vector<std::unique_ptr<ResidentPart>> residents_;
  std::vector<PartSets> sets_;  ///< of the level united last
};

void DeviceSweep::cluster(const stages::EpsGroup& group, const Space& space, const OnResult& on_result) {
  Group(*this, group, space).cluster(on_result);
}

}  // namespace epsflow::parts

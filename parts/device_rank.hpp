// The part of a rank on its GPU. The GPUs cut the points and send them to each other over their links.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/device_part.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/parts/communicator.hpp>
#include <epsflow/parts/partition.hpp>
#include <epsflow/parts/rank_blocks.hpp>
#include <epsflow/parts/rank_part.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::parts {

/// A part that stays in device memory: its points, a buffer for the ghosts of the largest radius, and at most 6 bytes
/// for each row of the share.
class DeviceRank final : public RankPart {
 public:
  /// rows: the share after the transformation of the metric, without weights, in a space without periodic axes; it is
  /// copied. share: the share as the caller gave it, where rows that are not finite are looked up; it must outlive the
  /// part. Returns null on all ranks if there are more than kMostDeviceParts ranks or the cuts do not make one part for
  /// each, and if one device cannot cut points, has too little memory (the observer of its rank gets a notice), or
  /// cannot reach the device of another rank. Collective.
  [[nodiscard]] static std::unique_ptr<DeviceRank> make(const RankSetting& setting, PointsView rows, PointsView share,
                                                        const RunOptions& options, const Observer& observer);

  [[nodiscard]] std::uint64_t owned() const override { return owned_begins_.back(); }
  [[nodiscard]] std::uint64_t ghosts() const override { return ghosts_; }
  [[nodiscard]] std::uint64_t held_bytes() const override { return 0; }
  [[nodiscard]] std::uint64_t clustering_bytes(std::size_t levels) const override;
  [[nodiscard]] std::uint64_t sent_bytes() const override { return sent_bytes_; }
  [[nodiscard]] bool loads_alone() const override { return false; }
  [[nodiscard]] Loaded load(const PartReach& reach) override;
  [[nodiscard]] std::vector<std::uint64_t> ids(std::span<const std::uint32_t> points) override;
  [[nodiscard]] MemorySpace labels() const override { return MemorySpace::device; }
  [[nodiscard]] std::vector<std::int32_t> read(const VariantResult& result, std::size_t first,
                                               std::size_t count) override {
    return part_->read(result.device_labels.data() + first, count);
  }
  void return_labels(VariantResult& result, std::span<const std::uint32_t> numbers, bool core) override;
  void leave() override;

 private:
  DeviceRank(Communicator& communicator, Backend& backend, PointsView share, Space space)
      : communicator_(communicator), backend_(backend), share_(share), space_(std::move(space)) {}

  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(communicator_.size()); }
  [[nodiscard]] std::size_t me() const { return static_cast<std::size_t>(communicator_.rank()); }
  /// Calls f, which sends to other ranks, and returns after all ranks have called it, even if f throws. Then everything
  /// sent has arrived, and no rank still writes to memory of a rank on which f threw.
  template <class F>
  void send(F&& f);

  Communicator& communicator_;
  Backend& backend_;
  PointsView share_;
  Space space_;
  std::uint64_t row_bytes_ = 0;
  std::uint64_t ghosts_ = 0;
  std::uint64_t sent_bytes_ = 0;
  RankBlocks ids_;                           ///< ids of the rows of each share
  std::vector<std::uint64_t> owned_begins_;  ///< [ranks + 1] where the own points sent by each rank begin
  std::unique_ptr<DevicePart> part_;
  std::vector<std::unique_ptr<PeerBuffer>> buffers_;  ///< [ranks]
};

}  // namespace epsflow::parts

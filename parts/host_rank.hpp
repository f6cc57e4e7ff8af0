// The part of a rank in host memory: points are sent and ghosts are found by the host.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/core/weights.hpp>
#include <epsflow/parts/communicator.hpp>
#include <epsflow/parts/distribution.hpp>
#include <epsflow/parts/ghost_lists.hpp>
#include <epsflow/parts/part_weights.hpp>
#include <epsflow/parts/rank_part.hpp>

namespace epsflow::parts {

class HostRank final : public RankPart {
 public:
  /// Takes the points of the distribution, brings their weights, and exchanges ghosts with the other ranks. weights: of
  /// the share, or none. Collective. O(n·d), in parallel. Throws UsageError if a periodic axis is not longer than the
  /// largest reach, and ResourceError if 32-bit ids cannot number the points and ghosts of the part.
  HostRank(const RankSetting& setting, Distribution distribution, std::optional<RankWeights> weights);

  [[nodiscard]] std::uint64_t owned() const override { return distribution_.size(); }
  [[nodiscard]] std::uint64_t ghosts() const override { return halo_order_.size(); }
  [[nodiscard]] std::uint64_t held_bytes() const override;
  [[nodiscard]] std::uint64_t clustering_bytes(std::size_t levels) const override;
  /// False on a GPU, whose memory holds the points of one eps at a time.
  [[nodiscard]] bool loads_alone() const override { return on_host(); }
  [[nodiscard]] const Distribution* distribution() const override { return &distribution_; }
  [[nodiscard]] const WeightScale* scale() const override { return scale_ ? &*scale_ : nullptr; }
  /// The loaded points are valid until the next call.
  [[nodiscard]] Loaded load(const PartReach& reach) override;
  [[nodiscard]] std::vector<std::uint64_t> ids(std::span<const std::uint32_t> points) override;
  [[nodiscard]] MemorySpace labels() const override { return MemorySpace::host; }
  [[nodiscard]] std::vector<std::int32_t> read(const VariantResult& result, std::size_t first,
                                               std::size_t count) override;
  void return_labels(VariantResult& result, std::span<const std::uint32_t> numbers, bool core) override;

 private:
  [[nodiscard]] bool on_host() const { return backend_.device() < 0; }
  /// Bytes of the coordinates of one point.
  [[nodiscard]] std::size_t row_bytes() const noexcept { return points_.dims() * bytes_of(points_.precision()); }

  Communicator& communicator_;
  Backend& backend_;
  Distribution distribution_;
  Space open_;  ///< the space without periodic axes, because ghosts lie where their images are
  std::optional<WeightScale> scale_;
  Points points_;                    ///< own points, and capacity for all ghosts
  GhostOrder send_order_;            ///< order of send_list_; pairs: [ranks]
  Buffer<std::uint32_t> send_list_;  ///< own points that other ranks have as ghosts
  GhostOrder halo_order_;            ///< order of halo_; pairs: [ranks]
  Points halo_;                      ///< ghosts of the largest reach
  Buffer<std::int64_t> units_;       ///< weights of points_ in whole units, or empty
  Buffer<std::int64_t> halo_units_;  ///< weights of ghosts, or empty
};

}  // namespace epsflow::parts

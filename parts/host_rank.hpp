// The part of a rank in host memory: points are sent and ghosts are found by the host.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/parts/communicator.hpp>
#include <epsflow/parts/distribution.hpp>
#include <epsflow/parts/part.hpp>
#include <epsflow/parts/part_weights.hpp>
#include <epsflow/parts/partition.hpp>
#include <epsflow/parts/rank_part.hpp>

namespace epsflow::parts {

class HostRank final : public RankPart {
 public:
  /// weights: of the share, or none. Collective. Throws as Part.
  HostRank(const RankSetting& setting, Distribution distribution, std::optional<RankWeights> weights);

  [[nodiscard]] std::uint64_t owned() const override { return part_.owned(); }
  [[nodiscard]] std::uint64_t ghosts() const override { return part_.ghosts(); }
  [[nodiscard]] std::uint64_t held_bytes() const override;
  [[nodiscard]] std::uint64_t clustering_bytes(std::size_t levels) const override;
  /// False on a GPU, whose memory holds the points of one eps at a time.
  [[nodiscard]] bool loads_alone() const override { return on_host(); }
  [[nodiscard]] const WeightScale* scale() const override { return weights_ ? &weights_->scale : nullptr; }
  [[nodiscard]] Loaded load(const PartReach& reach) override;
  [[nodiscard]] std::vector<std::uint64_t> ids(std::span<const std::uint32_t> points) override;
  [[nodiscard]] MemorySpace labels() const override { return MemorySpace::host; }
  [[nodiscard]] std::vector<std::int32_t> read(const VariantResult& result, std::size_t first,
                                               std::size_t count) override;
  void return_labels(VariantResult& result, std::span<const std::uint32_t> numbers, bool core) override;

  [[nodiscard]] const Distribution& distribution() const noexcept { return distribution_; }

 private:
  [[nodiscard]] bool on_host() const { return backend_.device() < 0; }

  Communicator& communicator_;
  Backend& backend_;
  Distribution distribution_;
  std::optional<RankWeights> weights_;  ///< the scale of the weights; the units are empty, because part_ has them
  Part part_;
  Space open_;  ///< the space without periodic axes, because ghosts lie where their images are
};

}  // namespace epsflow::parts

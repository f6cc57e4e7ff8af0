#include <epsflow/parts/host_rank.hpp>

#include <utility>

#include <epsflow/core/buffer.hpp>
#include <epsflow/parts/for_all.hpp>
#include <epsflow/parts/local_sweep.hpp>
#include <epsflow/pipeline/host_bytes.hpp>

namespace epsflow::parts {
namespace {

std::optional<RankWeights> moved(Communicator& communicator, const Distribution& distribution,
                                 std::optional<RankWeights> weights) {
  if (weights) weights->units = distribution.bring<std::int64_t>(communicator, weights->units.span());
  return weights;
}

}  // namespace

HostRank::HostRank(const RankSetting& setting, Distribution distribution, std::optional<RankWeights> weights)
    : communicator_(setting.communicator),
      backend_(setting.backend),
      distribution_(std::move(distribution)),
      weights_(moved(communicator_, distribution_, std::move(weights))),
      part_(setting, distribution_, weights_ ? &weights_->units : nullptr),
      open_{setting.space.norm, setting.space.power} {
  if (weights_) weights_->units = {};
}

std::uint64_t HostRank::held_bytes() const {
  constexpr std::uint64_t kOfShare = sizeof(std::uint16_t) + kBytesPerLabel;
  return distribution_.share() * kOfShare + part_.bytes() + part_.owned() * sizeof(std::uint32_t);
}

std::uint64_t HostRank::clustering_bytes(std::size_t levels) const {
  const std::uint64_t of_view = weights_ ? sizeof(std::int64_t) : 0;
  const std::uint64_t of_point =
      on_host() ? part_.bytes_of_row() + host_bytes(levels, weights_.has_value()) + of_view : kBytesPerLabel;
  return (part_.owned() + part_.ghosts()) * of_point;
}

RankPart::Loaded HostRank::load(const PartReach& reach) {
  Part::View view = part_.view(reach);
  return {std::move(view.shared), {{}, backend_.load(view.points, open_)}};
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

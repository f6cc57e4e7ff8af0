#include <epsflow/parts/distribution.hpp>

#include <cstring>
#include <limits>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/parts/ghosts.hpp>
#include <epsflow/parts/part_finder.hpp>
#include <epsflow/parts/row_bytes.hpp>

namespace epsflow::parts {
namespace {

/// Capacity for one ghost per this many points. Unused capacity costs address space only, not memory.
constexpr std::size_t kPointsPerGhost = 4;

}  // namespace

Distribution::Distribution(Communicator& communicator, PointsView share, const Partition& partition)
    : rows_(share.size(), partition.parts()), sent_{0} {
  if (ranks() - 1 > std::numeric_limits<std::uint16_t>::max()) {
    throw ResourceError("there are " + format_count(ranks()) + " ranks, and at most 65536 are possible: start fewer");
  }
  const std::size_t d = share.dims();
  share.visit([&]<class T>(std::span<const T> values) {
    const PartFinder<T> parts(partition, Space{}, d, 0);
    parallel_for(rows_.blocks(), [&](std::size_t b) {
      const std::size_t first = rows_.begin(b), last = rows_.begin(b + 1);
      require_finite(share, first, last);
      std::vector<std::uint16_t> part_of(last - first), scratch;
      (void)parts.find(values.data() + first * d, part_of, scratch);
      rows_.list(b, part_of);
    });
  });
  rows_.number();
  for (std::size_t r = 0; r < ranks(); ++r) sent_.push_back(sent_.back() + rows_.size(r));
  std::vector<std::uint64_t> counts;
  for (std::size_t r = 0; r < ranks(); ++r) counts.push_back(sent_[r + 1] - sent_[r]);
  counts = communicator.exchange_counts(counts);
  received_ = begins_of(counts);
  require_count(size());
  ids_ = RankBlocks(communicator, share.size());

  const std::size_t row = share.dims() * epsflow::bytes_of(share.precision());
  Buffer<std::byte> rows(share.bytes());
  Buffer<std::uint32_t> offsets(share.size());
  with_row_bytes(row, [&](auto bytes) {
    const auto* const from = static_cast<const std::byte*>(share.data());
    for_share([&](std::size_t i, std::size_t to) {
      std::memcpy(rows.data() + to * bytes, from + i * bytes, bytes);
      offsets[to] = static_cast<std::uint32_t>(i);
    });
  });
  own_ = Points(static_cast<std::size_t>(std::min<std::uint64_t>(kMaxPoints, size() + size() / kPointsPerGhost)),
                share.dims(), share.precision());
  offsets_ = Buffer<std::uint32_t>(size());
  communicator.all_to_all(rows.data(), sent_, own_.data(), received_, row);
  communicator.all_to_all(offsets.data(), sent_, offsets_.data(), received_, sizeof(std::uint32_t));
}

Points Distribution::take_points(std::size_t size) {
  if (own_.size() >= size) return std::move(own_);
  Points larger(size, own_.dims(), own_.precision());
  copy_bytes(own_.data(), owned().bytes(), larger.data());
  own_ = Points();
  return larger;
}

}  // namespace epsflow::parts

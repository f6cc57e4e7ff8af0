#include <epsflow/parts/distribution.hpp>

#include <tbb/blocked_range.h>

#include <limits>
#include <numeric>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/parts/descent.hpp>
#include <epsflow/parts/ghosts.hpp>
#include <epsflow/parts/row_bytes.hpp>

namespace epsflow::parts {
namespace {

/// A ghost for so many points has room behind them. What is not used costs addresses, and no memory.
constexpr std::size_t kRoomForGhosts = 4;

/// Copies [from, from + bytes) in parallel.
void copy(const std::byte* from, std::size_t bytes, std::byte* to) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, bytes, 1 << 17),
                    [&](const auto& range) { std::memcpy(to + range.begin(), from + range.begin(), range.size()); });
}

}  // namespace

Distribution::Distribution(Exchange& exchange, PointsView share, const Partition& partition)
    : part_of_(share.size()), sent_(static_cast<std::size_t>(exchange.size()), 0), received_{0}, firsts_{0} {
  if (ranks() - 1 > std::numeric_limits<std::uint16_t>::max()) {
    throw ResourceError("there are " + format_count(ranks()) + " ranks, and at most 65536 are possible: start fewer");
  }
  begins_.resize(blocks() * ranks(), 0);
  const Descent descent(partition);
  const std::size_t d = share.dims();
  share.visit([&](auto values) {
    tbb::parallel_for(std::size_t{0}, blocks(), [&](std::size_t b) {
      std::uint32_t* const counts = begins_.data() + b * ranks();
      for (std::size_t i = b * kBlock; i < std::min(share.size(), (b + 1) * kBlock); ++i) {
        part_of_[i] = static_cast<std::uint16_t>(descent.part_of(values.data() + i * d));
      }
      for (std::size_t i = b * kBlock; i < std::min(share.size(), (b + 1) * kBlock); ++i) ++counts[part_of_[i]];
    });
  });
  const std::size_t row = share.dims() * epsflow::bytes_of(share.precision());
  Mail rows;
  for (std::size_t r = 0; r < ranks(); ++r) {
    std::uint32_t all = 0;
    for (std::size_t b = 0; b < blocks(); ++b) all += std::exchange(begins_[b * ranks() + r], all);
    sent_[r] = all;
    rows.emplace_back(std::uint64_t{all} * row);
    offsets_.emplace_back(std::uint64_t{all} * sizeof(std::uint32_t));
  }
  with_row_bytes(row, [&](auto bytes) {
    const auto* const from = static_cast<const std::byte*>(share.data());
    for_share([&](std::size_t i, std::size_t part, std::size_t place) {
      std::memcpy(rows[part].data() + place * bytes, from + i * bytes, bytes);
      const auto offset = static_cast<std::uint32_t>(i);
      std::memcpy(offsets_[part].data() + place * sizeof(offset), &offset, sizeof(offset));
    });
  });
  firsts_.resize(ranks() + 1, 0);
  firsts_[static_cast<std::size_t>(exchange.rank()) + 1] = share.size();
  exchange.sum(std::span(firsts_));
  std::partial_sum(firsts_.begin(), firsts_.end(), firsts_.begin());
  rows = exchange.all_to_all(std::move(rows));
  offsets_ = exchange.all_to_all(std::move(offsets_));
  for (const auto& of_rank : offsets_) received_.push_back(received_.back() + of_rank.size() / sizeof(std::uint32_t));
  require_count(size());
  own_ = Points(static_cast<std::size_t>(std::min<std::uint64_t>(kMaxPoints, size() + size() / kRoomForGhosts)),
                share.dims(), share.precision());
  for (std::size_t r = 0; r < ranks(); ++r) {
    copy(rows[r].data(), rows[r].size(), bytes_of(own_) + received_[r] * row);
    rows[r] = {};
  }
}

Points Distribution::take_points(std::size_t size) {
  if (own_.size() >= size) return std::move(own_);
  Points larger(size, own_.dims(), own_.precision());
  copy(bytes_of(own_), own().bytes(), bytes_of(larger));
  own_ = Points();
  return larger;
}

}  // namespace epsflow::parts

// Points on their way to the parts they lie in, and back.
#pragma once

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/parts/exchange.hpp>
#include <epsflow/parts/for_all.hpp>
#include <epsflow/parts/partition.hpp>

namespace epsflow::parts {

/// Moves points to the parts they lie in, and what is found of them back to where they came from.
class Distribution {
 public:
  /// share: the points of this rank; ids follow each other over the ranks, in their order. Collective. O(n·d), in parallel. Throws
  /// ResourceError for a part of more points than 32-bit ids tell, and for more than 65,536 ranks.
  Distribution(Exchange& exchange, PointsView share, const Partition& partition);

  /// The points of this part, by ascending id, until they are taken.
  [[nodiscard]] PointsView own() const { return own_.view().rows(0, size()); }
  /// These, with room for `size` points in all. Copies them where there is not enough.
  [[nodiscard]] Points take_points(std::size_t size);
  /// Points of this part.
  [[nodiscard]] std::size_t size() const noexcept { return received_.back(); }
  /// Of own point i, among the points of all ranks. O(log ranks).
  [[nodiscard]] std::uint64_t id(std::size_t i) const noexcept {
    const auto r =
        static_cast<std::size_t>(std::upper_bound(received_.begin(), received_.end(), i) - received_.begin()) - 1;
    std::uint32_t offset = 0;
    std::memcpy(&offset, offsets_[r].data() + (i - received_[r]) * sizeof(offset), sizeof(offset));
    return firsts_[r] + offset;
  }
  [[nodiscard]] std::size_t share() const noexcept { return part_of_.size(); }

  /// values: [share]. Returns those of own points, [own]. Collective.
  template <class T>
  [[nodiscard]] Buffer<T> bring(Exchange& exchange, std::span<const T> values) const;
  /// value_of(i): of own point i. to: [share], what was found of each point of the share. Collective.
  template <class T, class F>
  void bring_back(Exchange& exchange, F&& value_of, T* to) const;

 private:
  static constexpr std::size_t kBlock = 1 << 14;

  [[nodiscard]] std::size_t ranks() const noexcept { return sent_.size(); }
  [[nodiscard]] std::size_t blocks() const noexcept { return (share() + kBlock - 1) / kBlock; }
  /// Calls f(i, part, place) for each point of the share, in parallel. place: among those that went to the same part.
  template <class F>
  void for_share(F&& f) const {
    tbb::parallel_for(std::size_t{0}, blocks(), [&](std::size_t b) {
      const auto begins = begins_.begin() + static_cast<std::ptrdiff_t>(b * ranks());
      std::vector<std::uint32_t> next(begins, begins + static_cast<std::ptrdiff_t>(ranks()));
      const std::size_t last = std::min(share(), (b + 1) * kBlock);
      for (std::size_t i = b * kBlock; i < last; ++i) f(i, std::size_t{part_of_[i]}, std::size_t{next[part_of_[i]]++});
    });
  }

  Buffer<std::uint16_t> part_of_;  ///< [share]
  std::vector<std::uint32_t>
      begins_;  ///< [blocks × ranks] of the points of a block that went to a part, the place of the first
  std::vector<std::size_t> sent_;      ///< [ranks] of the share, how many went to each
  std::vector<std::size_t> received_;  ///< [ranks + 1] where own points of each begin
  std::vector<std::uint64_t> firsts_;  ///< [ranks + 1] ids of the first rows of their shares
  Mail offsets_;                       ///< [ranks] rows that own points were in their shares, 32 bits each
  Points own_;                         ///< with room for some ghosts
};

template <class T>
Buffer<T> Distribution::bring(Exchange& exchange, std::span<const T> values) const {
  Mail mail;
  for (const std::size_t count : sent_) mail.emplace_back(count * sizeof(T));
  for_share([&](std::size_t i, std::size_t part, std::size_t place) {
    std::memcpy(mail[part].data() + place * sizeof(T), &values[i], sizeof(T));
  });
  mail = exchange.all_to_all(std::move(mail));
  Buffer<T> own(size());
  for (std::size_t r = 0; r < ranks(); ++r) {
    if (mail[r].size() > 0) std::memcpy(own.data() + received_[r], mail[r].data(), mail[r].size());
  }
  return own;
}

template <class T, class F>
void Distribution::bring_back(Exchange& exchange, F&& value_of, T* to) const {
  Mail mail;
  for (std::size_t r = 0; r < ranks(); ++r) {
    const std::size_t first = received_[r], count = received_[r + 1] - first;
    std::byte* const letter = mail.emplace_back(count * sizeof(T)).data();
    for_all(count, [&](std::size_t i) {
      const T value = value_of(first + i);
      std::memcpy(letter + i * sizeof(T), &value, sizeof(T));
    });
  }
  mail = exchange.all_to_all(std::move(mail));
  for_share([&](std::size_t i, std::size_t part, std::size_t place) {
    std::memcpy(to + i, mail[part].data() + place * sizeof(T), sizeof(T));
  });
}

}  // namespace epsflow::parts

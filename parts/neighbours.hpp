// Ranks that are processes of one machine read from each other what they are sent, instead of having it carried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace epsflow::parts {

class Exchange;

/// Which ranks can read each other's memory: where they run on one machine, and its system lets them (Linux, process_vm_readv()).
class Neighbours {
 public:
  /// Tries. Collective.
  explicit Neighbours(Exchange& exchange);

  /// Whether this rank can read what rank r has, and whether rank r can read what this one has.
  [[nodiscard]] bool reads(std::size_t r) const noexcept { return reads_[r] != 0; }
  [[nodiscard]] bool read_by(std::size_t r) const noexcept { return read_by_[r] != 0; }
  /// Of all pairs of ranks, on every rank the same.
  [[nodiscard]] bool none() const noexcept { return pairs_ == 0; }
  [[nodiscard]] bool all() const noexcept { return pairs_ == reads_.size() * (reads_.size() - 1); }

  /// What lies at an address of rank r to a place of this one's.
  struct Piece {
    std::size_t rank;
    std::uint64_t address;
    std::span<std::byte> to;
  };
  /// In parallel. Throws ResourceError where a rank cannot be read any more.
  void read(std::span<const Piece> pieces) const;

 private:
  std::vector<std::uint64_t> processes_;  ///< [ranks]
  std::vector<std::uint64_t> reads_;      ///< [ranks]
  std::vector<std::uint64_t> read_by_;    ///< [ranks]
  std::uint64_t pairs_ = 0;
};

}  // namespace epsflow::parts

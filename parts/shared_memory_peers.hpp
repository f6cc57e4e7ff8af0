// Lets ranks that are processes of one machine read data from each other's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace epsflow::parts {

class Communicator;

/// The ranks that can read each other's memory: ranks on one machine whose system permits it (Linux,
/// process_vm_readv()).
class SharedMemoryPeers {
 public:
  /// Tests each pair of ranks. Collective.
  explicit SharedMemoryPeers(Communicator& communicator);

  /// True if this rank can read the memory of rank r; read_by() is true if rank r can read the memory of this rank.
  [[nodiscard]] bool reads(std::size_t r) const noexcept { return reads_[r] != 0; }
  [[nodiscard]] bool read_by(std::size_t r) const noexcept { return read_by_[r] != 0; }
  /// True if no rank can read another's memory; all() is true if each rank can read the memory of all others. Both are
  /// the same on every rank.
  [[nodiscard]] bool none() const noexcept { return pairs_ == 0; }
  [[nodiscard]] bool all() const noexcept { return pairs_ == reads_.size() * (reads_.size() - 1); }

  /// Bytes to copy from an address in the memory of a rank to `to`.
  struct Piece {
    std::size_t rank;
    std::uint64_t address;
    std::span<std::byte> to;
  };
  /// Copies all pieces, in parallel. Throws ResourceError if the memory of a rank cannot be read any more.
  void read(std::span<const Piece> pieces) const;

 private:
  std::vector<std::uint64_t> processes_;  ///< [ranks] process ids
  std::vector<std::uint64_t> reads_;      ///< [ranks]
  std::vector<std::uint64_t> read_by_;    ///< [ranks]
  std::uint64_t pairs_ = 0;
};

}  // namespace epsflow::parts

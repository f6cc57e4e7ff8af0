#include <epsflow/parts/shared_memory_peers.hpp>

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <string>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/parts/communicator.hpp>

namespace epsflow::parts {
namespace {

/// Bytes that a thread reads at a time.
constexpr std::size_t kBlock = std::size_t{1} << 20;

bool read_from(std::uint64_t process, std::uint64_t address, std::span<std::byte> to) {
  const iovec here{to.data(), to.size()};
  const iovec there{reinterpret_cast<void*>(address), to.size()};  // NOLINT: of another process
  return process_vm_readv(static_cast<pid_t>(process), &here, 1, &there, 1, 0) == static_cast<ssize_t>(to.size());
}

}  // namespace

SharedMemoryPeers::SharedMemoryPeers(Communicator& communicator) {
  const auto ranks = static_cast<std::size_t>(communicator.size()), me = static_cast<std::size_t>(communicator.rank());
  const auto from_each = [&](std::uint64_t mine) {
    return communicator.exchange_counts(std::vector<std::uint64_t>(ranks, mine));
  };
  // A random number proves that the address belongs to the intended process, and not to one of the same id here.
  std::random_device random;
  const std::uint64_t number = (std::uint64_t{random()} << 32) | random();
  processes_ = from_each(static_cast<std::uint64_t>(getpid()));
  const auto addresses = from_each(reinterpret_cast<std::uintptr_t>(&number));
  const auto numbers = from_each(number);
  reads_.resize(ranks, 0);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r == me) continue;
    std::uint64_t found = 0;
    const bool read = read_from(processes_[r], addresses[r], std::as_writable_bytes(std::span(&found, 1)));
    reads_[r] = read && found == numbers[r] ? 1 : 0;
  }
  read_by_ = communicator.exchange_counts(reads_);
  pairs_ = communicator.sum(static_cast<std::uint64_t>(std::count(reads_.begin(), reads_.end(), 1U)));
}

void SharedMemoryPeers::read(std::span<const Piece> pieces) const {
  std::vector<std::size_t> blocks;
  for (const Piece& piece : pieces) blocks.push_back((piece.to.size() + kBlock - 1) / kBlock);
  const auto begins = begins_of(blocks);
  parallel_for(begins.back(), [&](std::size_t b) {
    const auto p = static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), b) - begins.begin()) - 1;
    const auto& [rank, address, to] = pieces[p];
    const std::size_t at = (b - begins[p]) * kBlock;
    if (read_from(processes_[rank], address + at, to.subspan(at, std::min(kBlock, to.size() - at)))) return;
    throw ResourceError("memory of rank " + format_count(rank) +
                        ", which runs on the same machine, cannot be read: " + std::strerror(errno));
  });
}

}  // namespace epsflow::parts

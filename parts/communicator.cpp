#include <epsflow/parts/communicator.hpp>

#include <cstring>
#include <utility>

#include <epsflow/core/parallel.hpp>
#include <epsflow/parts/shared_memory_peers.hpp>

namespace epsflow::parts {

void copy_bytes(const void* from, std::size_t bytes, void* to) {
  constexpr std::size_t kGrain = 1 << 17;
  parallel_ranges(bytes, kGrain, [&](std::size_t begin, std::size_t end) {
    std::memcpy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin, end - begin);
  });
}

Communicator::Communicator(RanksAre ranks) : ranks_are_(ranks) {}
Communicator::~Communicator() = default;

std::vector<std::uint64_t> Communicator::exchange_counts(std::span<const std::uint64_t> counts) {
  const auto ranks = static_cast<std::size_t>(size()), me = static_cast<std::size_t>(rank());
  std::vector<std::uint64_t> received(ranks);
  received[me] = counts[me];
  std::vector<std::span<const std::byte>> out(ranks);
  std::vector<std::span<std::byte>> in(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r == me) continue;
    out[r] = std::as_bytes(counts.subspan(r, 1));
    in[r] = std::as_writable_bytes(std::span(received).subspan(r, 1));
  }
  alltoallv(out, in);
  return received;
}

void Communicator::all_to_all(const void* send, std::span<const std::size_t> send_begins, void* receive,
                              std::span<const std::size_t> receive_begins, std::size_t bytes) {
  if (ranks_are_ == RanksAre::processes && peers_ == nullptr) peers_ = std::make_unique<SharedMemoryPeers>(*this);
  const auto ranks = static_cast<std::size_t>(size()), me = static_cast<std::size_t>(rank());
  std::vector<std::span<const std::byte>> out(ranks);
  std::vector<std::span<std::byte>> in(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    out[r] = {static_cast<const std::byte*>(send) + send_begins[r] * bytes,
              (send_begins[r + 1] - send_begins[r]) * bytes};
    in[r] = {static_cast<std::byte*>(receive) + receive_begins[r] * bytes,
             (receive_begins[r + 1] - receive_begins[r]) * bytes};
    if (r != me) sent_bytes_ += out[r].size();
  }
  copy_bytes(out[me].data(), out[me].size(), in[me].data());
  out[me] = {};
  in[me] = {};
  if (peers_ == nullptr || peers_->none()) return alltoallv(out, in);
  std::vector<std::uint64_t> addresses;
  addresses.reserve(ranks);
  for (const auto& letter : out) addresses.push_back(reinterpret_cast<std::uintptr_t>(letter.data()));
  addresses = exchange_counts(addresses);
  std::vector<SharedMemoryPeers::Piece> pieces;
  for (std::size_t r = 0; r < ranks; ++r) {
    if (peers_->reads(r)) pieces.push_back({r, addresses[r], std::exchange(in[r], {})});
    if (peers_->read_by(r)) out[r] = {};
  }
  peers_->read(pieces);
  if (!peers_->all()) alltoallv(out, in);
  (void)sum(0);  // send buffers may be freed only after all ranks have read them
}

void Communicator::min(std::span<double> values) {
  for (double& value : values) value = -value;
  max(values);
  for (double& value : values) value = -value;
}

std::uint64_t Communicator::sum(std::uint64_t value) {
  sum(std::span(&value, 1));
  return value;
}

std::uint64_t Communicator::max(std::uint64_t value) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(size()));
  all[static_cast<std::size_t>(rank())] = value;
  sum(std::span(all));
  for (const std::uint64_t other : all) value = other > value ? other : value;
  return value;
}

std::uint64_t Communicator::exclusive_scan(std::uint64_t value) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(size()));
  all[static_cast<std::size_t>(rank())] = value;
  sum(std::span(all));
  std::uint64_t below = 0;
  for (int r = 0; r < rank(); ++r) below += all[static_cast<std::size_t>(r)];
  return below;
}

}  // namespace epsflow::parts

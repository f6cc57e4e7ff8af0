#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/device_shared.hpp>
#include <epsflow/gpu/direct/tally.cuh>

namespace epsflow::gpu {
namespace {

__global__ void positions_kernel(const std::uint32_t* order, std::uint32_t size, std::uint32_t* positions) {
  const std::uint64_t p = direct_thread();
  if (p < size) positions[order[p]] = static_cast<std::uint32_t>(p);
}

__global__ void find_kernel(const std::uint32_t* positions, std::uint32_t* ids, std::uint32_t count) {
  const std::uint64_t i = direct_thread();
  if (i < count) ids[i] = positions[ids[i]];
}

/// Writes the last `count` ids.
__global__ void ghosts_kernel(std::uint32_t size, std::uint32_t count, std::uint32_t* ids) {
  const std::uint64_t i = direct_thread();
  if (i < count) ids[i] = size - count + static_cast<std::uint32_t>(i);
}

__global__ void deny_kernel(const std::uint32_t* positions, std::uint32_t count, std::uint32_t* counts) {
  const std::uint64_t i = direct_thread();
  if (i < count) counts[positions[i]] = 0;
}

/// Returns the number of the cluster of which a position is a core point, or kNotCore.
__device__ std::uint32_t cluster_of(const LabelledLevel& level, std::uint32_t position) {
  const Nodes& nodes = level.nodes;
  const std::uint32_t node = level.node_of == nullptr ? position : level.node_of[position];
  const bool whole = nodes.starts != nullptr && nodes.starts[node + 1] - nodes.starts[node] >= nodes.minpts;
  return whole || bit_of(nodes.core, position) ? level.numbering.numbers[node] & kNumberMask : kNotCore;
}

__global__ void clusters_kernel(LabelledLevel level, const std::uint32_t* positions, std::uint32_t size,
                                std::uint32_t* clusters) {
  const std::uint64_t i = direct_thread();
  if (i < size) clusters[i] = cluster_of(level, positions[i]);
}

__global__ void renumber_kernel(LabelledLevel level, const std::uint32_t* numbers) {
  const std::uint64_t x = direct_thread();
  if (x >= level.nodes.count) return;
  std::uint32_t& entry = level.numbering.numbers[x];
  const std::uint32_t number = entry & kNumberMask;
  if (number != kNoNumber) entry = numbers[number] | (entry & kWholeNode);
}

__global__ void add_sizes_kernel(const std::uint32_t* sizes, const std::uint32_t* numbers, std::uint32_t clusters,
                                 std::uint32_t* sums) {
  const std::uint64_t k = direct_thread();
  if (k < clusters) atomicAdd(sums + numbers[k], sizes[k]);
}

__global__ void __launch_bounds__(tuning::kDirectThreads)
    forget_kernel(LabelledLevel level, const std::uint32_t* positions, std::uint32_t ghosts) {
  constexpr std::uint32_t kLess = 0U - 1U;
  const std::uint64_t i = direct_thread();
  const std::uint32_t cluster = i < ghosts ? cluster_of(level, positions[i]) : kNotCore;
  add_by_block(level.numbering.sizes, cluster != kNotCore, cluster != kNotCore ? cluster : 0, kLess);
}

template <class T>
void copy_in(T* to, std::span<const T> from, cudaStream_t stream) {
  if (!from.empty()) check(cudaMemcpyAsync(to, from.data(), from.size_bytes(), cudaMemcpyHostToDevice, stream));
}

}  // namespace

DeviceShared::DeviceShared(const SharedPoints& shared, std::uint32_t size, const FindPositions& find,
                           DeviceMemory& memory, cudaStream_t stream)
    : memory_(memory),
      ghosts_(shared.outer_ghosts),
      positions_(memory, stream, shared.asked.size() + shared.outer_ghosts) {
  if (positions_.size() == 0) return;
  copy_in(positions_.data(), shared.asked, stream);
  if (ghosts_ > 0) {
    ghosts_kernel<<<direct_blocks(ghosts_), tuning::kDirectThreads, 0, stream>>>(size, ghosts_,
                                                                                 positions_.data() + asked());
    check_launch(stream);
  }
  find(positions_.data(), static_cast<std::uint32_t>(positions_.size()));
}

void launch_positions_of(const std::uint32_t* order, std::uint32_t size, std::uint32_t* ids, std::uint32_t count,
                         Scratch scratch) {
  const DeviceBuffer<std::uint32_t> all(scratch.memory, scratch.stream, size);
  positions_kernel<<<direct_blocks(size), tuning::kDirectThreads, 0, scratch.stream>>>(order, size, all.data());
  check_launch(scratch.stream);
  find_kernel<<<direct_blocks(count), tuning::kDirectThreads, 0, scratch.stream>>>(all.data(), ids, count);
  check_launch(scratch.stream);
}

void DeviceShared::exclude_outer_ghosts(std::uint32_t* counts, cudaStream_t stream) const {
  if (ghosts_ == 0) return;
  deny_kernel<<<direct_blocks(ghosts_), tuning::kDirectThreads, 0, stream>>>(positions_.data() + asked(), ghosts_,
                                                                             counts);
  check_launch(stream);
}

std::vector<std::uint32_t> DeviceShared::clusters(const LabelledLevel& level, cudaStream_t stream) const {
  static_assert(kNotCore == UnitedPart::kNoSet);
  if (asked() == 0) return {};
  const DeviceBuffer<std::uint32_t> found(memory_, stream, asked());
  clusters_kernel<<<direct_blocks(asked()), tuning::kDirectThreads, 0, stream>>>(level, positions_.data(), asked(),
                                                                                 found.data());
  check_launch(stream);
  return read_values(found.data(), found.size(), stream);
}

void DeviceShared::renumber(const LabelledLevel& level, const ClusterNumbers& numbers, cudaStream_t stream) const {
  const auto clusters = static_cast<std::uint32_t>(numbers.numbers.size());
  if (clusters == 0) return;
  const DeviceBuffer<std::uint32_t> map(memory_, stream, clusters);
  copy_in(map.data(), std::span<const std::uint32_t>(numbers.numbers), stream);
  const DeviceBuffer<std::uint32_t> sums(memory_, stream, clusters);
  check(cudaMemsetAsync(sums.data(), 0, sums.bytes(), stream));
  add_sizes_kernel<<<direct_blocks(clusters), tuning::kDirectThreads, 0, stream>>>(level.numbering.sizes, map.data(),
                                                                                   clusters, sums.data());
  check_launch(stream);
  check(cudaMemcpyAsync(level.numbering.sizes, sums.data(), sums.bytes(), cudaMemcpyDeviceToDevice, stream));
  renumber_kernel<<<direct_blocks(level.nodes.count), tuning::kDirectThreads, 0, stream>>>(level, map.data());
  check_launch(stream);
  check(cudaStreamSynchronize(stream));  // after this the caller's numbers have been read
}

void DeviceShared::forget_ghosts(const LabelledLevel& level, cudaStream_t stream) const {
  if (ghosts_ == 0) return;
  forget_kernel<<<direct_blocks(ghosts_), tuning::kDirectThreads, 0, stream>>>(level, positions_.data() + asked(),
                                                                               ghosts_);
  check_launch(stream);
}

}  // namespace epsflow::gpu

#include <epsflow/gpu/parts/gpu_peer_buffer.hpp>

#include <atomic>
#include <random>

namespace epsflow::gpu {
namespace {

constexpr std::uint64_t up(std::uint64_t bytes) {
  constexpr std::uint64_t kAlignment = 256;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

PeerBufferShape::PeerBufferShape(std::uint64_t point_bytes, std::uint64_t rows, bool labels, bool core)
    : labels_(up(point_bytes)),
      core_(labels_ + (labels ? up(rows * sizeof(std::int32_t)) : 0)),
      mark_(core_ + (core ? up(rows) : 0)),
      has_labels_(labels),
      has_core_(core) {}

PeerBufferArrays PeerBufferShape::in(std::byte* block) const noexcept {
  return {block, has_labels_ ? reinterpret_cast<std::int32_t*>(block + labels_) : nullptr,
          has_core_ ? reinterpret_cast<std::uint8_t*>(block + core_) : nullptr};
}

std::uint64_t process_number() {
  static const std::uint64_t number = [] {
    std::random_device random;
    return (std::uint64_t{random()} << 32) | random();
  }();
  return number;
}

std::uint64_t next_mark() {
  static std::atomic<std::uint64_t> marks{0};
  return process_number() + ++marks;
}

std::unique_ptr<GpuPeerBuffer> GpuPeerBuffer::open(const PeerBufferKey& key, int from) {
  std::unique_ptr<GpuPeerBuffer> buffer(new GpuPeerBuffer(key));
  if (key.process == process_number()) {
    buffer->arrays_ = key.shape.in(key.block);
    const bool reached = key.device == from || (!key.open && key.memory->reachable_from(from));
    if (!reached) buffer->device_ = key.device;
    return buffer;
  }
  if (!key.open) return nullptr;
  std::byte* const block = buffer->opened_.emplace(key.handle, from).data();
  if (block == nullptr) return nullptr;
  // A handle from another machine may also be valid on this one.
  std::uint64_t mark = 0;
  check(cudaMemcpy(&mark, key.shape.mark(block), sizeof(mark), cudaMemcpyDeviceToHost));
  if (mark != key.mark) return nullptr;
  buffer->arrays_ = key.shape.in(block);
  return buffer;
}

}  // namespace epsflow::gpu

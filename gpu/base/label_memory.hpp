// Memory of labels that a GPU copies into: touched and pinned once, kept for the next labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/labels.hpp>

namespace epsflow::gpu {

/// Touching and pinning 61 MB of fresh memory costs more than clustering 15 million points, so what was used is kept: as
/// many blocks as were ever in use at once, up to so many bytes, the latest first.
class PinnedLabels final : public LabelMemory {
 public:
  /// `threads` touch new memory. most_idle: bytes that may be kept.
  PinnedLabels(int device, unsigned threads, std::uint64_t most_idle) noexcept
      : device_(device), threads_(threads), most_idle_(most_idle) {}
  ~PinnedLabels() override;

  [[nodiscard]] std::int32_t* acquire(std::size_t n) override;
  void release(std::int32_t* labels) noexcept override;
  /// Keeps nothing for later from now on, and gives up what is kept: for labels that outlive their engine.
  void retire() noexcept;

 private:
  struct Block {
    Buffer<std::int32_t> labels;
    bool pinned = false;
  };
  [[nodiscard]] Block make(std::size_t n) const;
  static void unpin(Block& block) noexcept;
  void drop_oldest() noexcept;

  int device_;
  unsigned threads_;
  std::uint64_t most_idle_;
  std::mutex mutex_;
  std::vector<Block> idle_;
  std::vector<Block> used_;
  std::uint64_t idle_bytes_ = 0;
};

}  // namespace epsflow::gpu

// Host memory of labels into which a GPU copies. It is touched and pinned once and then reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/labels.hpp>

namespace epsflow::gpu {

/// Touching and pinning 61 MB of fresh memory costs more than clustering 15 million points, so released blocks are
/// cached, up to a limit of bytes. Blocks that have been idle longest are freed first. Thread-safe.
class PinnedLabels final : public LabelMemory {
 public:
  /// threads: number of threads that touch new memory. most_idle: largest number of bytes of idle blocks.
  PinnedLabels(int device, unsigned threads, std::uint64_t most_idle) noexcept
      : device_(device), threads_(threads), most_idle_(most_idle) {}
  ~PinnedLabels() override;

  /// Returns an idle block of exactly n labels, or a new one, pinned if the system permits it.
  [[nodiscard]] std::int32_t* acquire(std::size_t n) override;
  void release(std::int32_t* labels) noexcept override;
  /// Frees the idle blocks and keeps none from now on, for labels that outlive their engine.
  void retire() noexcept;

 private:
  struct LabelBlock {
    Buffer<std::int32_t> labels;
    bool pinned = false;
  };
  [[nodiscard]] LabelBlock make(std::size_t n) const;
  static void unpin(LabelBlock& block) noexcept;
  void drop_oldest() noexcept;

  int device_;
  unsigned threads_;
  std::uint64_t most_idle_;
  std::mutex mutex_;
  std::vector<LabelBlock> idle_;
  std::vector<LabelBlock> used_;
  std::uint64_t idle_bytes_ = 0;
};

}  // namespace epsflow::gpu

// Block sizes and thresholds of catalogues.
#pragma once

#include <cstdint>

namespace epsflow::gpu::tuning {

/// Threads of a block of the kernels.
inline constexpr unsigned kCatalogThreads = 128;
/// Points of a cluster, or of a piece of one, that a warp sums up: 32 steps of some 1 us, as each reads points all over the memory.
inline constexpr std::uint32_t kCatalogPiece = 1024;
/// Points that a thread looks at before they are sorted.
inline constexpr unsigned kLookedAtPoints = 16;
/// Bytes of a catalogue that come to the host at a time: bounds the pinned memory.
inline constexpr std::uint64_t kCatalogCopy = 32 << 20;
/// Bytes of it that pay for a thread on the host.
inline constexpr std::uint64_t kCatalogBytesPerThread = 1 << 20;

static_assert(kCatalogThreads % 32 == 0, "whole warps");

}  // namespace epsflow::gpu::tuning

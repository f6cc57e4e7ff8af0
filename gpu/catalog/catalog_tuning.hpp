// Block sizes and thresholds of catalogues.
#pragma once

#include <cstdint>

namespace epsflow::gpu::tuning {

/// Threads of a block of the kernels.
inline constexpr unsigned kCatalogThreads = 128;
/// Points of a cluster, or a piece of it, for a warp: 32 steps of about 1 us, as they are scattered in memory.
inline constexpr std::uint32_t kCatalogPiece = 1024;
/// Points that a thread examines before they are sorted.
inline constexpr unsigned kLookedAtPoints = 16;
/// Bytes of a catalogue that are copied to the host at a time, which bounds the pinned memory.
inline constexpr std::uint64_t kCatalogCopy = 32 << 20;
/// Bytes of a catalogue for which one more thread on the host pays.
inline constexpr std::uint64_t kCatalogBytesPerThread = 1 << 20;

static_assert(kCatalogThreads % 32 == 0, "whole warps");

}  // namespace epsflow::gpu::tuning

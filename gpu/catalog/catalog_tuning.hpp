// Block sizes and thresholds of catalogues.
#pragma once

#include <cstdint>

namespace epsflow::gpu::tuning {

/// Threads of a block of the kernels.
inline constexpr unsigned kCatalogThreads = 128;
/// The most points that one warp sums up; larger clusters are divided into pieces of this size. A piece takes 32 steps
/// of about 1 us each, because its points are scattered in memory.
inline constexpr std::uint32_t kCatalogPiece = 1024;
/// Points for each thread of launch_scan_input(), which checks labels and weights before points are sorted by label.
inline constexpr unsigned kScannedPoints = 16;
/// Bytes of a catalogue that are copied to the host at a time, which bounds the pinned memory.
inline constexpr std::uint64_t kCatalogCopy = 32 << 20;
/// Bytes of a catalogue for each thread on the host that copies it. For fewer bytes one more thread is not worthwhile.
inline constexpr std::uint64_t kCatalogBytesPerThread = 1 << 20;

static_assert(kCatalogThreads % 32 == 0, "whole warps");

}  // namespace epsflow::gpu::tuning

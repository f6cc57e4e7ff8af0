// Every block size, buffer size and threshold of the GPU code, each with its reason. Those of catalogues and tiles are in their folders.
#pragma once

#include <cstddef>
#include <cstdint>

namespace epsflow::gpu::tuning {

/// Streams with their buffers: one searches, one sorts or copies, one is handed over (the paper's three).
inline constexpr unsigned kLanes = 3;
/// Tables in flight: one searched, one clustered, one between them.
inline constexpr unsigned kTables = 3;

/// Bytes of pinned memory through which points are uploaded, each time and from each thread: 19 us of the bus, many times
/// what a copy costs to start, and soon pinned.
inline constexpr std::uint64_t kUploadChunk = 1 << 20;
/// Copies are made of several chunks if each thread still has this many of them.
inline constexpr std::uint64_t kUploadTurns = 32;
struct UploadShape {
  std::uint64_t threads;      ///< the most that copy to pinned memory: a core copies some 8 GB/s, the bus 55
  std::uint64_t most_chunks;  ///< in one copy
};
/// One or two GPUs: few copies, because the driver starts them one by one.
inline constexpr std::size_t kFewGpus = 2;
inline constexpr UploadShape kUploadOfFew{8, 4};
/// More GPUs: host memory is the limit, so the two buffers of a thread stay in the cache of its core. For a billion points four
/// GPUs take .34 s in place of .43, but two would take .57 in place of .54 (benchmarks/results/gpus.md).
inline constexpr UploadShape kUploadOfMany{12, 1};
/// The most threads that pick rows out of others, at some 3 GB/s each.
inline constexpr unsigned kGatherThreads = 16;

/// All lanes of a warp, as masks of CUDA's functions for warps name them.
inline constexpr unsigned kWholeWarp = 0xFFFFFFFF;

/// Threads of a block of the kernels that build the index.
inline constexpr unsigned kIndexThreads = 256;
/// Threads of a block of the kernels that give each point a thread.
inline constexpr unsigned kPointThreads = 256;
/// Threads that fill one row: few, as a range of candidates is short where cells hold few points.
inline constexpr unsigned kRowThreads = 8;
/// Threads of a block of the kernel that gives each cell a block: cells mostly hold fewer points.
inline constexpr unsigned kCellThreads = 128;
/// Bytes of candidates that such a block holds in shared memory, unless a single one has more.
inline constexpr std::uint32_t kCandidateBytes = 8192;
/// Pairs that a warp collects in shared memory before it takes room in the buffer for all of them with one atomic.
inline constexpr unsigned kWarpPairs = 128;

/// Share of the points that the estimate looks at (the paper's f = 0.01).
inline constexpr std::uint32_t kSampleStride = 100;
/// Head-room of a batch over its estimate (the paper's α), doubled for tables of fewer than three times kStaticPairs.
inline constexpr double kAlpha = 0.05;
/// Pairs of a lane's buffer for kernels that emit pairs (the paper's b_b); tables of fewer than three times as many get
/// a third of the estimate instead.
inline constexpr std::uint64_t kStaticPairs = 100'000'000;
/// Smallest such buffer.
inline constexpr std::uint64_t kFewestPairs = 1 << 16;
/// Pairs of a batch of whole rows: 64 MB of ids are 1.2 ms of the bus, far more than what a batch costs to start.
inline constexpr std::uint64_t kRowsBatchPairs = 16 << 20;
/// Words of a batch of a packed table.
inline constexpr std::uint64_t kPackedBatchWords = 8 << 20;
/// Rows of a batch on average, at most: bounds a lane's pinned memory for counts.
inline constexpr std::uint64_t kMostBatchRows = 2 << 20;
/// Distance tests of a batch on average, times dimensions, at most: bounds how long a cancelled run goes on. An H200
/// counted 3e12 a second (2-D, well-filled cells), so they take it some 0.03 s.
inline constexpr double kMostBatchWork = 1e11;
/// Parts of a count that are queued without waiting for each.
inline constexpr std::size_t kPartsAtOnce = 16;
/// Words that a lane needs for a pair: row and neighbour, twice for the sort, and a share of what the sort needs
/// besides.
inline constexpr std::uint64_t kPairWordsWithScratch = 5;
/// Share of the memory that the index leaves which the buffers of lanes may take.
inline constexpr double kLaneShare = 0.5;
/// Parts per thread into which a table is cut for whoever reads it.
inline constexpr unsigned kBlocksPerWorker = 64;

// Direct clustering. Thresholds without a measurement beside them are first guesses.

/// Threads of a block of its kernels.
inline constexpr unsigned kDirectThreads = 256;
/// Keys per point up to which a bitmap over the keys finds cells: a quarter of a byte each, so 16 bytes a point.
inline constexpr std::uint64_t kMostKeysPerPoint = 64;
/// Beyond, blocks of keys per point at most: 16 bytes a point. Fewer are larger, and the search in each is longer.
inline constexpr std::uint64_t kMostKeyBlocksPerPoint = 4;
/// Share of the memory still free that the table of blocks may take, as a divisor.
inline constexpr std::uint64_t kKeyBlockShare = 8;
/// Blocks of the count that a multiprocessor is to hold below three dimensions, as 32 registers a thread allow; 0
/// leaves the registers to the compiler.
inline constexpr unsigned kCountBlocks = 8;
/// Candidates of a point that one thread tests, before it leaves the point to a block: some 1.5 ms of loads in a row.
inline constexpr std::uint32_t kThreadCandidates = 1 << 14;
/// Points that may remain for blocks; the threads of more go on by themselves.
inline constexpr std::uint32_t kRemainingPoints = 1 << 20;
/// Candidates of such a point that a block tests between two looks at the sum.
inline constexpr std::uint32_t kBlockCandidates = 4096;
/// Points of one launch of the count, at least, where it is cut into parts of kMostBatchWork: they fill the device.
inline constexpr std::uint32_t kFewestCounted = 1 << 18;
/// minpts from which it pays to add up all candidates of a point before the first test.
inline constexpr std::uint32_t kBoundFromMinpts = 8;
/// Cells per point up to which one cell in kSampleCells is united before the others, which then mostly find it done. Where
/// there are more, core cells are listed first: on ten million points in 3-D (eps 0.232) two in three threads met others.
inline constexpr double kDenseCells = 0.5;
inline constexpr std::uint32_t kSampleCells = 8;
/// Cells per point up to which labels are looked up by id, and not written position by position: the cells stay in the
/// cache then, and what is written lies side by side.
inline constexpr double kLookUpCells = 0.25;
/// Pairs of points up to which one thread decides a pair of cells.
inline constexpr std::uint64_t kMostThreadPairs = 1024;
/// Of more, how many it tries.
inline constexpr unsigned kThreadTries = 48;
/// Pairs of cells, or parts of them, that blocks may be left with.
inline constexpr std::uint32_t kQueuedPairs = 1 << 20;
/// Threads of a block that works them off, and blocks of the launch.
inline constexpr unsigned kPairThreads = 128;
inline constexpr unsigned kPairBlocks = 132 * 8;
/// Points of the larger cell that one block takes.
inline constexpr std::uint32_t kPairPart = 4096;
/// Points of a cell from which it is huge. Of two huge cells a block tries kPairPart points each; where that decides
/// nothing they are compared chunk by chunk.
inline constexpr std::uint32_t kHugeCell = 8192;
/// Consecutive points of a huge cell that share bounds.
inline constexpr std::uint32_t kChunk = 64;
/// Blocks of a pair of huge cells.
inline constexpr unsigned kHugeBlocks = 128;
/// Cells, or points, up to which arrays are as long as they might have to be; beyond, a wait of some 10 us for what is needed is nothing.
inline constexpr std::uint32_t kCountedNodes = 1 << 24;
/// Counters that blocks share out among themselves, lest they queue for one.
inline constexpr unsigned kTallies = 32;

// Nearest points.

/// Threads of a block of its kernels.
inline constexpr unsigned kNearestThreads = 128;
/// How many times as far as points mostly are from the one before, along the curve, makes a jump. One group in sixteen has one where
/// points are spread evenly in space.
inline constexpr float kCurveJump = 8;
/// Points whose number on the curve does not tell them from many others, at most. A million of them at one place would take a
/// second; a CPU sorts them along a curve of their own.
inline constexpr std::uint32_t kMostUnresolved = 1 << 17;

static_assert(kPointThreads % 32 == 0 && kCellThreads % 32 == 0, "whole warps");
static_assert(kNearestThreads % 32 == 0 && kDirectThreads % 32 == 0 && kPairThreads % 32 == 0, "whole warps");
static_assert(kRowThreads < 32 && 32 % kRowThreads == 0, "teams share a warp");
static_assert(kWarpPairs >= 64, "a warp adds up to 32 pairs at a time");

}  // namespace epsflow::gpu::tuning

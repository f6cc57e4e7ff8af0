// Block sizes, buffer sizes and thresholds of the GPU code, except for catalogues and tiles.
#pragma once

#include <cstddef>
#include <cstdint>

namespace epsflow::gpu::tuning {

/// Lanes (streams with buffers) by default: one searches, one sorts or copies, one hands over rows (as in the paper).
inline constexpr unsigned kLanes = 3;
/// Tables in flight by default: one is searched, one is clustered, one waits between them.
inline constexpr unsigned kTables = 3;

/// Bytes of a chunk, the unit of buffers for uploads: 19 us on the bus, many times the start of a copy; quick to pin.
inline constexpr std::uint64_t kUploadChunk = 1 << 20;
/// A copy has several chunks if each thread then still makes at least this many copies.
inline constexpr std::uint64_t kUploadTurns = 32;
struct UploadShape {
  std::uint64_t threads;      ///< most threads that fill the buffers: a core copies about 8 GB/s, and the bus 55
  std::uint64_t most_chunks;  ///< most chunks of one copy
  std::uint64_t worth;        ///< a thread is started only if it has at least this many chunks to copy
};
/// One or two GPUs: few copies, because the driver starts them one by one.
inline constexpr std::size_t kFewGpus = 2;
inline constexpr UploadShape kUploadOfFew{8, 4, 2};
/// More GPUs: host memory is the limit, so the two buffers of a thread stay in the cache of its core. For a billion
/// points four GPUs take .34 s instead of .43, but two would take .57 instead of .54 (benchmarks/results/gpus.md).
/// Threads of all GPUs start one after another, 40 to 80 us each.
inline constexpr UploadShape kUploadOfMany{12, 1, 4};
/// The most bytes that threads of a task arena copy: starting threads would take longer. Beyond it memory is the limit.
inline constexpr std::uint64_t kArenaUpload = 32 << 20;
/// Bytes that such a thread copies at a time.
inline constexpr std::uint64_t kArenaChunk = 1 << 18;
/// The most threads that write the rows of a PointsSource to buffers, at some 3 GB/s each.
inline constexpr unsigned kGatherThreads = 16;

/// The mask of all lanes of a warp in CUDA's warp functions.
inline constexpr unsigned kWholeWarp = 0xFFFFFFFF;

/// Threads of a block in the kernels that build grids and tiles, and in the kernels of windows and parts.
inline constexpr unsigned kIndexThreads = 256;
/// Threads of a block in the kernels of tables with one thread, or kRowThreads threads, for each point.
inline constexpr unsigned kPointThreads = 256;
/// Threads that fill one row: few, because candidate ranges are short if cells hold few points.
inline constexpr unsigned kRowThreads = 8;
/// Threads of a block in the kernel with one block for each cell, as most cells hold fewer points.
inline constexpr unsigned kCellThreads = 128;
/// Bytes of candidates that such a block holds in shared memory, unless a single candidate has more.
inline constexpr std::uint32_t kCandidateBytes = 8192;
/// Pairs that a warp collects in shared memory before it reserves space in the buffer for them with one atomic.
inline constexpr unsigned kWarpPairs = 128;

/// The estimate samples one in this many points (the paper's f = 0.01).
inline constexpr std::uint32_t kSampleStride = 100;
/// Margin of a batch over its estimate (the paper's α), doubled for tables of fewer than three times kStaticPairs if
/// the caller does not set the pairs of a lane.
inline constexpr double kAlpha = 0.05;
/// Pairs in a lane's buffer for kernels that emit pairs (the paper's b_b), if the caller does not set them. Tables of
/// fewer than three times as many pairs get a third of the estimate with its margin instead.
inline constexpr std::uint64_t kStaticPairs = 100'000'000;
/// Smallest buffer of such a third, in pairs.
inline constexpr std::uint64_t kFewestPairs = 1 << 16;
/// Pairs of a batch of whole rows: 64 MB of ids take 1.2 ms on the bus, far more than starting a batch costs.
inline constexpr std::uint64_t kRowsBatchPairs = 16 << 20;
/// Words of a batch of a packed table.
inline constexpr std::uint64_t kPackedBatchWords = 8 << 20;
/// Upper bound on the average number of rows of a batch, which bounds a lane's pinned memory for counts.
inline constexpr std::uint64_t kMostBatchRows = 2 << 20;
/// Upper bound on the average distance tests of a batch, or of a part of direct clustering, times dimensions. It bounds
/// how long a cancelled run continues: an H200 did 3e12 a second (2-D, well-filled cells), so a batch takes 0.03 s.
inline constexpr double kMostBatchWork = 1e11;
/// Up to this many parts of a count, a union or a labelling are queued without a wait. If there are more, each is
/// waited for.
inline constexpr std::size_t kPartsAtOnce = 16;
/// Words of a lane for each pair: row and neighbour, twice for the sort, and a share of the sort's temporary memory.
inline constexpr std::uint64_t kPairWordsWithScratch = 5;
/// Share of the memory left by the index that the buffers of all lanes together may take.
inline constexpr double kLaneShare = 0.5;
/// Blocks for each thread into which a table is divided for its readers.
inline constexpr unsigned kBlocksPerWorker = 64;

// Direct clustering. Thresholds without a measurement are first guesses.

/// Threads of a block in its kernels with one thread for each point or cell.
inline constexpr unsigned kDirectThreads = 256;
/// Keys per point up to which a bitmap over the keys finds cells: a quarter of a byte each, 16 bytes a point.
inline constexpr std::uint64_t kMostKeysPerPoint = 64;
/// With more keys, the most key blocks per point: 16 bytes a point. Larger blocks take longer to search.
inline constexpr std::uint64_t kMostKeyBlocksPerPoint = 4;
/// The table of key blocks may take the free memory divided by this number.
inline constexpr std::uint64_t kKeyBlockShare = 8;
/// Blocks of the count on a multiprocessor (32 registers a thread), without weights in up to two dimensions.
inline constexpr unsigned kCountBlocks = 8;
/// Candidates of a point that one thread tests before it leaves the point to a block: about 1.5 ms of successive loads.
inline constexpr std::uint32_t kThreadCandidates = 1 << 14;
/// Limit of the points left to blocks. Threads of further points continue by themselves.
inline constexpr std::uint32_t kRemainingPoints = 1 << 20;
/// Candidates of such a point that a block tests before it checks whether it may stop.
inline constexpr std::uint32_t kBlockCandidates = 4096;
/// Fewest points in a launch of the count, except the last, if kMostBatchWork divides the count: they fill the device.
inline constexpr std::uint32_t kFewestCounted = 1 << 18;
/// If the smallest minpts is at least this, it pays to add up candidates of a point before the first test.
inline constexpr std::uint32_t kBoundFromMinpts = 8;
/// Up to this many cells per point, one in kSampleCells cells is united first, and most others then have nothing to do.
/// With more, core cells are listed first: of ten million points in 3-D (eps 0.232), two in three threads had none.
inline constexpr double kDenseCells = 0.5;
inline constexpr std::uint32_t kSampleCells = 8;
/// Up to this many cells per point, labels in cells whose points are all core are looked up by id, in the bitmap,
/// instead of written by position: then the cells stay in the cache, and adjacent threads write adjacent labels.
inline constexpr double kLookUpCells = 0.25;
/// Pairs of points up to which one thread decides a pair of cells.
inline constexpr std::uint64_t kMostThreadPairs = 1024;
/// The number of pairs of points that a thread tries if there are more.
inline constexpr unsigned kThreadTries = 48;
/// Limit of the pairs of cells, or parts of them, left to blocks.
inline constexpr std::uint32_t kQueuedPairs = 1 << 20;
/// Threads of a block that processes queued pairs, huge pairs or remaining points, and blocks of the launch.
inline constexpr unsigned kPairThreads = 128;
inline constexpr unsigned kPairBlocks = 132 * 8;
/// Points of the larger cell for one block.
inline constexpr std::uint32_t kPairPart = 4096;
/// A cell with at least this many points is huge. For two huge cells a block tries kPairPart points of each; if that
/// does not decide, the cells are compared chunk by chunk.
inline constexpr std::uint32_t kHugeCell = 8192;
/// Consecutive points of a huge cell that share bounds.
inline constexpr std::uint32_t kChunk = 64;
/// Blocks for a pair of huge cells.
inline constexpr unsigned kHugeBlocks = 128;
/// Up to this many cells, or points, arrays have the largest possible size. With more, the host waits for the exact
/// size, which takes 10 us.
inline constexpr std::uint32_t kCountedNodes = 1 << 24;
/// Counters over which blocks are spread, so that they do not queue for one.
inline constexpr unsigned kTallies = 32;

// Nearest points.

/// Threads of a block in its kernels.
inline constexpr unsigned kNearestThreads = 128;
/// A jump is a distance to the point before along the curve of more than this many times the mean in its group of 32
/// points. If points are spread evenly in space, one group in sixteen has one.
inline constexpr float kCurveJump = 8;
/// Limit of the points that share their number on the curve with many others. A million of them at one point would take
/// a second; the CPU sorts them along a curve of their own.
inline constexpr std::uint32_t kMostUnresolved = 1 << 17;

// Spanning trees.

/// Threads of a block in its kernels.
inline constexpr unsigned kTreeThreads = 128;
/// Points that are sampled to find a large component, one for each thread of a block.
inline constexpr unsigned kTreeSample = 1024;
/// The most steps of an entry towards its root in one launch; most chains are shorter.
inline constexpr unsigned kRootSteps = 64;
/// The most elements of a point's list of nearest points: 1 KiB a point. Each 32 elements take a search.
inline constexpr std::uint32_t kMostListed = 256;
/// If at most this many lanes of a warp search, the warp searches for one lane at a time.
inline constexpr int kFewSearching = 10;

static_assert(kPointThreads % 32 == 0 && kCellThreads % 32 == 0, "whole warps");
static_assert(kNearestThreads % 32 == 0 && kTreeThreads % 32 == 0 && kDirectThreads % 32 == 0 && kPairThreads % 32 == 0,
              "whole warps");
static_assert(kRowThreads < 32 && 32 % kRowThreads == 0, "teams share a warp");
static_assert(kWarpPairs >= 64, "a warp adds up to 32 pairs at a time");

}  // namespace epsflow::gpu::tuning

#include <epsflow/gpu/base/upload.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <epsflow/core/parallel.hpp>
#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/base/tuning.hpp>

namespace epsflow::gpu {
namespace {

bool is_pinned(const void* memory) {
  cudaPointerAttributes attributes{};
  const bool known = cudaPointerGetAttributes(&attributes, memory) == cudaSuccess;
  if (!known) (void)cudaGetLastError();
  return known && attributes.type != cudaMemoryTypeUnregistered;
}

/// Copies chunk by chunk. Each thread has two buffers: one is filled while the other crosses the bus. All threads share
/// a stream, because copies that alternate between streams take a quarter longer.
class StagedUpload {
 public:
  /// Fills a buffer with `size` bytes from `at` on.
  using Fill = std::function<void(std::uint64_t at, std::uint64_t size, std::byte* buffer)>;

  /// chunk: bytes of one copy.
  StagedUpload(void* to, std::uint64_t bytes, std::uint64_t chunk, const Fill& fill, int device, PinnedPool& pinned)
      : to_(static_cast<std::byte*>(to)), bytes_(bytes), chunk_(chunk), fill_(fill), device_(device), pinned_(pinned) {}

  void run(unsigned threads) {
    {
      std::vector<std::jthread> helpers;
      try {
        for (unsigned i = 1; i < threads; ++i) helpers.emplace_back([this] { work(); });
      } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): fewer threads, or none, do it as well
      }
      work();
    }
    if (failed_ != nullptr) std::rethrow_exception(failed_);
  }

 private:
  struct UploadBuffer {
    PinnedBytes memory;
    Event crossed;
  };

  void work() noexcept {
    try {
      const DeviceScope scope(device_);
      std::array<UploadBuffer, 2> buffers;
      const StreamDrain drain(stream_);  // waits before the buffers are freed
      for (std::size_t turn = 0;; ++turn) {
        const std::uint64_t at = next_.fetch_add(chunk_, std::memory_order_relaxed);
        if (at >= bytes_) break;
        const std::uint64_t size = std::min(chunk_, bytes_ - at);
        UploadBuffer& buffer = buffers[turn % buffers.size()];
        if (buffer.memory.size() == 0) {
          buffer.memory = pinned_.acquire(chunk_);
        } else {
          buffer.crossed.synchronize();
        }
        fill_(at, size, buffer.memory.as<std::byte>());
        check(cudaMemcpyAsync(to_ + at, buffer.memory.as<std::byte>(), size, cudaMemcpyHostToDevice, stream_.get()));
        buffer.crossed.record(stream_);
      }
      stream_.synchronize();
    } catch (...) {
      next_.store(bytes_, std::memory_order_relaxed);
      const std::scoped_lock lock(mutex_);
      if (failed_ == nullptr) failed_ = std::current_exception();
    }
  }

  std::byte* to_;
  std::uint64_t bytes_;
  std::uint64_t chunk_;
  const Fill& fill_;
  int device_;
  PinnedPool& pinned_;
  Stream stream_;
  std::atomic<std::uint64_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr failed_;
};

/// Returns pinned memory, or none if the system refuses it.
PinnedBytes pinned_or_none(PinnedPool& pool, std::uint64_t bytes) {
  try {
    return pool.acquire(bytes);
  } catch (const DeviceError&) {
    return {};
  }
}

/// Copies piece by piece on the threads of the calling arena, through a buffer of the same size.
void upload_in_arena(std::byte* to, const std::byte* from, std::uint64_t bytes, const PinnedBytes& buffer, int device) {
  constexpr std::uint64_t kPiece = tuning::kArenaChunk;
  const Stream stream;
  const StreamDrain drain(stream);  // waits before the buffer is used again
  parallel_ranges((bytes + kPiece - 1) / kPiece, 1, [&](std::size_t begin, std::size_t end) {
    const DeviceScope scope(device);
    for (std::size_t p = begin; p < end; ++p) {
      const std::uint64_t at = p * kPiece;
      const std::uint64_t size = std::min(kPiece, bytes - at);
      std::byte* const piece = buffer.as<std::byte>() + at;
      std::memcpy(piece, from + at, size);
      check(cudaMemcpyAsync(to + at, piece, size, cudaMemcpyHostToDevice, stream.get()));
    }
  });
  stream.synchronize();
}

}  // namespace

void upload(void* to, const void* from, std::uint64_t bytes, const UploadPath& path) {
  if (bytes == 0) return;
  if (path.in_arena && bytes > 2 * tuning::kArenaChunk && bytes <= tuning::kArenaUpload && !is_pinned(from)) {
    const PinnedBytes buffer = pinned_or_none(path.pinned, std::bit_ceil(bytes));
    if (buffer.size() > 0) {
      upload_in_arena(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes, buffer, path.device);
      return;
    }
  }
  const tuning::UploadShape& shape = path.gpus > tuning::kFewGpus ? tuning::kUploadOfMany : tuning::kUploadOfFew;
  const std::uint64_t useful = bytes / (shape.worth * tuning::kUploadChunk);
  if (useful < 2 || path.threads < 2 || is_pinned(from)) {
    const Stream stream;
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream.get()));
    stream.synchronize();
    return;
  }
  const auto* const bytes_from = static_cast<const std::byte*>(from);
  const auto copy = [&](std::uint64_t at, std::uint64_t size, std::byte* buffer) {
    std::memcpy(buffer, bytes_from + at, size);
  };
  const std::uint64_t workers = std::min<std::uint64_t>({path.threads, shape.threads, useful});
  const std::uint64_t chunk =
      std::clamp(bytes / (workers * tuning::kUploadTurns) / tuning::kUploadChunk, std::uint64_t{1}, shape.most_chunks) *
      tuning::kUploadChunk;
  StagedUpload(to, bytes, chunk, copy, path.device, path.pinned).run(static_cast<unsigned>(workers));
}

void upload(void* to, const PointsSource& from, const UploadPath& path) {
  if (from.size == 0) return;
  const std::uint64_t row = from.row_bytes();
  const std::uint64_t chunk = std::max<std::uint64_t>(1, tuning::kUploadChunk / row) * row;
  const auto write = [&](std::uint64_t at, std::uint64_t size, std::byte* buffer) {
    from.write(at / row, (at + size) / row, buffer);
  };
  const std::uint64_t useful = std::max<std::uint64_t>(1, from.bytes() / (2 * chunk));
  StagedUpload(to, from.bytes(), chunk, write, path.device, path.pinned)
      .run(static_cast<unsigned>(std::min<std::uint64_t>({path.threads, tuning::kGatherThreads, useful})));
}

}  // namespace epsflow::gpu

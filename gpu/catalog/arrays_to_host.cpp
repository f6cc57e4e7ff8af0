#include <epsflow/gpu/catalog/arrays_to_host.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/catalog/catalog_tuning.hpp>

namespace epsflow::gpu {
namespace {

/// Calls work(i) for each i below count, on up to `threads` threads. Throws an exception that work throws.
template <class F>
void on_threads(std::uint64_t threads, std::uint64_t count, const F& work) {
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failed;
  const auto run = [&]() noexcept {
    try {
      for (std::uint64_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      failed = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    try {
      for (std::uint64_t i = 1; i < std::min(threads, count); ++i) helpers.emplace_back(run);
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): fewer threads, or none, do it as well
    }
    run();
  }
  if (failed != nullptr) std::rethrow_exception(failed);
}

}  // namespace

std::uint64_t ArraysToHost::useful(unsigned threads) const noexcept {
  return std::clamp<std::uint64_t>(bytes_ / tuning::kCatalogBytesPerThread, 1, std::max(threads, 1U));
}

void ArraysToHost::make_buffer(unsigned threads) {
  on_threads(useful(threads), arrays_.size(), [&](std::uint64_t i) { arrays_[i].to = arrays_[i].make(); });
}

void ArraysToHost::copy(const void* from, PinnedPool& pinned, cudaStream_t stream, unsigned threads) {
  if (bytes_ == 0) return;
  const std::uint64_t parts = useful(threads);
  const PinnedBytes buffer = pinned.acquire(std::min(bytes_, tuning::kCatalogCopy));
  const std::byte* const piece = buffer.as<std::byte>();
  for (std::uint64_t first = 0; first < bytes_; first += tuning::kCatalogCopy) {
    const std::uint64_t size = std::min(bytes_ - first, tuning::kCatalogCopy);
    check(cudaMemcpyAsync(buffer.as<std::byte>(), static_cast<const std::byte*>(from) + first, size,
                          cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    const std::uint64_t part = size / parts + 1;
    on_threads(parts, (size + part - 1) / part, [&](std::uint64_t i) {
      fill(piece + i * part, first + i * part, first + std::min(size, (i + 1) * part));
    });
  }
}

/// Copies a piece to the vectors. piece: the bytes [first, last) of all arrays.
void ArraysToHost::fill(const std::byte* piece, std::uint64_t first, std::uint64_t last) const {
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const std::uint64_t begin = std::max(first, arrays_[i].begin);
    const std::uint64_t end = std::min(last, i + 1 < arrays_.size() ? arrays_[i + 1].begin : bytes_);
    if (begin < end) std::memcpy(arrays_[i].to + (begin - arrays_[i].begin), piece + (begin - first), end - begin);
  }
}

}  // namespace epsflow::gpu

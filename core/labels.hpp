// The result of DBSCAN for one variant: a label per point and its counts.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/device_array.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/sweep.hpp>

namespace epsflow {

/// The label of noise. Clusters are 0, 1, 2, … by their smallest core point id.
inline constexpr std::int32_t kNoise = -1;

/// A pool of memory for labels. Released memory may be retained for the next labels. The pool of a GPU's engine is
/// pinned, if the system allows it, so that the GPU copies straight into it. Thread-safe.
class LabelMemory {
 public:
  LabelMemory() = default;
  LabelMemory(const LabelMemory&) = delete;
  LabelMemory& operator=(const LabelMemory&) = delete;
  virtual ~LabelMemory() = default;

  /// Returns memory for n labels, uninitialised. Throws ResourceError.
  [[nodiscard]] virtual std::int32_t* acquire(std::size_t n) = 0;
  virtual void release(std::int32_t* labels) noexcept = 0;
};

/// Labels in input order, in memory of their own or of a pool. Copies have memory of their own.
class Labels {
 public:
  Labels() = default;
  /// Makes n labels, uninitialised. Throws ResourceError.
  explicit Labels(std::size_t n) : own_(n), data_(own_.data()), size_(n) {}
  Labels(std::size_t n, std::shared_ptr<LabelMemory> memory)
      : memory_(std::move(memory)), data_(memory_->acquire(n)), size_(n) {}
  explicit Labels(std::span<const std::int32_t> labels) : Labels(labels.size()) {
    std::copy(labels.begin(), labels.end(), data_);
  }
  Labels(const std::vector<std::int32_t>& labels) : Labels(std::span(labels)) {}  // NOLINT(google-explicit-constructor)
  Labels(std::initializer_list<std::int32_t> labels) : Labels(std::span(labels.begin(), labels.size())) {}
  Labels(const Labels& other) : Labels(other.span()) {}
  Labels& operator=(const Labels& other) {
    Labels copy(other);
    swap(copy);
    return *this;
  }
  Labels(Labels&& other) noexcept { swap(other); }
  Labels& operator=(Labels&& other) noexcept {
    Labels taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Labels() {
    if (memory_ != nullptr) memory_->release(data_);
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::int32_t* data() noexcept { return data_; }
  [[nodiscard]] const std::int32_t* data() const noexcept { return data_; }
  [[nodiscard]] std::int32_t& operator[](std::size_t i) noexcept { return data_[i]; }
  [[nodiscard]] const std::int32_t& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] const std::int32_t* begin() const noexcept { return data_; }
  [[nodiscard]] const std::int32_t* end() const noexcept { return data_ + size_; }
  [[nodiscard]] std::span<std::int32_t> span() noexcept { return {data_, size_}; }
  [[nodiscard]] std::span<const std::int32_t> span() const noexcept { return {data_, size_}; }
  operator std::span<const std::int32_t>() const noexcept { return span(); }  // NOLINT(google-explicit-constructor)

  /// Compares with other labels, a vector or a span, element by element.
  template <std::convertible_to<std::span<const std::int32_t>> Other>
  friend bool operator==(const Labels& a, const Other& other) noexcept {
    const std::span<const std::int32_t> b(other);
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void swap(Labels& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(own_, other.own_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  std::shared_ptr<LabelMemory> memory_;
  Buffer<std::int32_t> own_;
  std::int32_t* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Counts of one labelling.
struct LabelSummary {
  std::uint64_t clusters = 0;
  std::uint64_t noise = 0;  ///< points in no cluster
  /// Points with at least minpts neighbours (or as much weight), themselves included. For clusters selected in a
  /// hierarchy: all points in clusters, and `border` is 0.
  std::uint64_t core = 0;
  std::uint64_t border = 0;   ///< points in a cluster that are not core
  std::uint64_t largest = 0;  ///< points of the largest cluster, 0 without clusters
  /// True if border points are distinguished from noise. With RunOptions::keep = Keep::core it is false, and noise,
  /// border and largest are 0 and have no meaning.
  bool borders_told = true;

  friend bool operator==(const LabelSummary&, const LabelSummary&) = default;
};

/// Entry k of each array belongs to cluster k. Its first core point identifies a cluster across variants; its number
/// does not, because clusters of every variant count from 0.
struct Clusters {
  std::vector<std::uint32_t> first_core;  ///< smallest id of its core points, ascending
  std::vector<std::uint32_t> core;        ///< number of its core points
  std::vector<std::uint32_t> size;  ///< number of its points, core and border; empty with RunOptions::keep = Keep::core

  // The nesting of clusters depends on core points alone: a core point stays core at a smaller minpts and at a larger
  // eps, and connected points stay connected. (A border point may change its cluster.)

  /// For each cluster of the next larger minpts of this eps in the sweep: the number of the cluster of this variant
  /// that contains it. Empty for the largest minpts.
  std::vector<std::uint32_t> joined;
  /// For the smallest minpts of an eps: [n] for each point, the cluster at the largest minpts at which the point is
  /// core. It is an index into one list: the clusters of the largest minpts, then the clusters of the next smaller one,
  /// and so on; kNeverCore if never. Empty for other minpts.
  Labels core_since;

  static constexpr std::int32_t kNeverCore = -1;

  [[nodiscard]] std::size_t count() const noexcept { return first_core.size(); }
};

/// Throws ResourceError if all minpts of one eps together have more clusters than core_since can number.
inline void require_countable(std::uint64_t clusters) {
  if (clusters <= static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) return;
  throw ResourceError(
      "the minpts of one eps have more than 2 billion clusters together, which is more than can be tied to each other: "
      "give fewer or "
      "larger minpts");
}

/// One finished variant.
struct VariantResult {
  Variant variant;
  Labels labels;  ///< [n] in input order; empty unless RunOptions::keep = Keep::labels
  LabelSummary summary;
  /// Seconds of wall time: the clustering of this variant, and an equal share of the common work of its eps.
  double seconds = 0;
  std::vector<std::uint8_t> core = {};  ///< [n] 1 for core points, else 0; empty unless RunOptions::core_mask
  Clusters clusters = {};               ///< empty unless RunOptions::clusters
  /// For a data set in slices (Engine::load()): [slices] the counts of each slice. `labels` then number the clusters of
  /// each slice from 0, but `summary` and `clusters` are of all slices together: label l of a slice is cluster m + l of
  /// `clusters`; m is the number of clusters in the slices before it.
  std::vector<LabelSummary> slices = {};
  /// With RunOptions::labels = MemorySpace::device, which requires Keep::labels, these two are filled, and `labels` and
  /// `core` above stay empty. device_core is empty unless RunOptions::core_mask. Variants of one eps are stored
  /// together in blocks of at most 64 MiB; a variant that needs more has a larger block to itself; a block is freed
  /// when no labels in it are in use.
  DeviceArray<std::int32_t> device_labels = {};
  DeviceArray<std::uint8_t> device_core = {};
};

}  // namespace epsflow

// What a device must offer to the flow. The CPU's is in cpu/; another device's goes into a folder of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/choices.hpp>
#include <epsflow/core/device_array.hpp>
#include <epsflow/core/device_part.hpp>
#include <epsflow/core/kept_core.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/phases.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/points_source.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/core/table_search.hpp>

namespace epsflow {

/// What an index is made for.
struct IndexOptions {
  double eps = 0;
  Cells cells = Cells::reach;
  IndexChoice index = IndexChoice::automatic;
  DecideChoice decide = DecideChoice::automatic;
  /// Labels of whole data sets are all that is wanted, and an index of pairs may be made where it is faster.
  bool pairs = false;
};

/// What an index knows of itself.
struct IndexFigures {
  std::uint64_t cells = 0;  ///< 0 where the device finds them only as it clusters
  bool cliques = false;     ///< any two points of a cell are neighbours
  /// Distance tests of a search that tests every candidate of every point; 0 where it has not been counted, as clusterings
  /// of clique cells need no such search.
  std::uint64_t candidates = 0;
  IndexChoice index = IndexChoice::grid;
  DecideChoice decide = DecideChoice::scalar;
  bool pairs_stay = false;  ///< pairs are found once, and kept where there is room: more minpts cost little
};

/// The index of one eps: immutable, thread-safe. It makes one object for each use. What it makes must not outlive it.
class Index {
 public:
  Index() = default;
  Index(const Index&) = delete;  // what it makes holds its address
  Index& operator=(const Index&) = delete;
  virtual ~Index() = default;

  [[nodiscard]] virtual IndexFigures figures() const = 0;
  /// Bytes of host memory that the index holds.
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  /// Throws UsageError for a packed table of more than kMostPackedDims dimensions or of a kernel that emits pairs.
  [[nodiscard]] virtual std::unique_ptr<TableSearch> table(const TableOptions& options) const = 0;
  /// Bytes of host memory that a clustering without a table takes, at most, with the labels that are made at once.
  [[nodiscard]] virtual std::uint64_t direct_bytes(const DirectOptions& options) const = 0;
  /// The first phase of a clustering without a table. Throws Cancelled, ResourceError.
  [[nodiscard]] virtual std::unique_ptr<Counted> count(const DirectOptions& options) const = 0;
  /// The same for a part: options.shared is set. Throws UsageError if the index cannot cluster parts, Cancelled, ResourceError.
  [[nodiscard]] virtual std::unique_ptr<CountedPart> count_part(const DirectOptions& options) const = 0;
  /// Where the labels of such a clustering go. What count() made must not outlive it. Throws ResourceError.
  [[nodiscard]] virtual std::unique_ptr<LabelPlace> place(const DirectOptions& options) const = 0;
};

/// A data set where its backend works on it, and what distance is in it: immutable, thread-safe. It makes the indexes, and must
/// outlive them.
class LoadedPoints {
 public:
  /// bytes: of their coordinates, which are counted as host memory wherever they are.
  LoadedPoints(std::size_t size, std::size_t dims, std::uint64_t bytes, Space space = {}) noexcept
      : size_(size), dims_(dims), bytes_(bytes), space_(std::move(space)) {}
  LoadedPoints(const LoadedPoints&) = delete;  // indexes hold its address
  LoadedPoints& operator=(const LoadedPoints&) = delete;
  virtual ~LoadedPoints() = default;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t dims() const noexcept { return dims_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] const Space& space() const noexcept { return space_; }
  /// The points in host memory. Where they are on the device alone they are brought there once; may wait.
  [[nodiscard]] virtual PointsView host() const = 0;
  /// Brings weights of the points to where they are worked on. Throws ResourceError.
  [[nodiscard]] virtual LoadedWeights load(WholeWeights weights) const { return {.whole = std::move(weights)}; }
  /// Bytes of host memory that building an index takes at its peak, at most, whatever its eps and cells.
  [[nodiscard]] virtual std::uint64_t index_bytes(const IndexOptions& options) const = 0;
  /// Throws UsageError for a choice that the backend does not have, Cancelled, ResourceError.
  [[nodiscard]] virtual std::unique_ptr<Index> build_index(const IndexOptions& options,
                                                           const CancelToken& cancel) const = 0;
  /// sums[i · ks.size() + j]: the left-hand side of the rule (core/space.hpp) for point i and its ks[j]-th nearest other point. Each k is at
  /// least 1 and less than the number of points. sums: [host] [n × ks.size()]. Works on the threads of the calling arena. Throws
  /// Cancelled, ResourceError.
  virtual void nearest_sums(std::span<const std::uint32_t> ks, double* sums, const CancelToken& cancel) const = 0;
  /// Bytes of host memory that nearest_sums() takes, at most, beside the sums.
  [[nodiscard]] virtual std::uint64_t nearest_bytes() const = 0;

 private:
  std::size_t size_;
  std::size_t dims_;
  std::uint64_t bytes_;
  Space space_;
};

/// A device that searches and clusters.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;  // what it loads holds its address
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Number of its GPU; -1 where it has none.
  [[nodiscard]] virtual int device() const { return -1; }
  /// Bytes of its memory that may be used; 0 where it has none of its own.
  [[nodiscard]] virtual std::uint64_t device_memory() const { return 0; }
  /// Lanes that keep the device busy.
  [[nodiscard]] virtual unsigned lanes() const = 0;
  /// Groups in flight that keep device and host busy.
  [[nodiscard]] virtual unsigned groups() const = 0;
  /// The points and the backend must outlive what is returned. Throws InputError for a coordinate that is NaN or infinite,
  /// UsageError for a space that the backend does not know, ResourceError.
  [[nodiscard]] virtual std::unique_ptr<LoadedPoints> load(PointsView points, const Space& space) = 0;
  [[nodiscard]] std::unique_ptr<LoadedPoints> load(PointsView points) { return load(points, Space{}); }
  /// The same of points on a device, in a plain space, with slices or without. Throws UsageError, too, where the backend cannot reach them.
  [[nodiscard]] virtual std::unique_ptr<LoadedPoints> load(const DevicePointsView& points, const Space& space) = 0;
  /// The same of points that are put together as they are brought; null where the backend has no way of its own, and takes them as it takes
  /// other points. The source need not outlive the call.
  [[nodiscard]] virtual std::unique_ptr<LoadedPoints> load(const PointsSource& /*source*/, const Space& /*space*/) {
    return nullptr;
  }
  /// Takes rows of a data set that `devices` backends hold together, in a space without closed axes. Returns null if the backend
  /// cannot. The backend must outlive the result. Throws ResourceError.
  [[nodiscard]] virtual std::unique_ptr<DevicePart> hold(PointsView /*rows*/, std::size_t /*devices*/) {
    return nullptr;
  }
  /// Keeps core points of a plain space for others to be assigned by them; null where it has no way for these. core: its labels are
  /// not negative. Copies what it needs. Throws Cancelled, ResourceError.
  [[nodiscard]] virtual std::unique_ptr<KeptCore> keep(const CoreInput& core, const CancelToken& cancel) = 0;
  /// Runs a task that may wait for the device: on a thread of the backend, or at once where nothing ever waits. The
  /// task must not throw.
  virtual void post(const std::function<void()>& task) { task(); }
  /// Makes the memory of tables reachable for the device's copies; null where any memory is.
  [[nodiscard]] virtual PagePinner* pinner() noexcept { return nullptr; }
};

}  // namespace epsflow

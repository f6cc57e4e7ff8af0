// The interface between the flow and a device. The CPU's backend is in cpu/, the GPU's in gpu/.
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
#include <epsflow/core/memory.hpp>
#include <epsflow/core/phases.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/points_source.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/core/stored_core.hpp>
#include <epsflow/core/table_search.hpp>
#include <epsflow/core/tree_parts.hpp>

namespace epsflow {

/// The options of an index.
struct IndexOptions {
  double eps = 0;            ///< the search radius, among the transformed points
  Cells cells = Cells::eps;  ///< dense_box: eps cells are made if dense boxes are not possible
  IndexChoice index = IndexChoice::automatic;
  DecideChoice decide = DecideChoice::automatic;
  /// Allows an index of pairs if it is faster. Set it only if nothing but labels of whole data sets in host memory is
  /// needed, without weights.
  bool pairs = false;
};

/// The figures of an index.
struct IndexFigures {
  std::uint64_t cells = 0;   ///< non-empty cells; 0 without a grid, or if a GPU finds them only while it clusters
  bool dense_boxes = false;  ///< any two points of a cell are neighbours
  /// Distance tests of a search that tests every candidate of every point (with tiles of a GPU: each pair once). On a
  /// GPU it is an upper bound. 0 if not counted, as for dense-box cells.
  std::uint64_t candidates = 0;
  IndexChoice index = IndexChoice::grid;
  DecideChoice decide = DecideChoice::scalar;
  bool pairs_stay = false;  ///< pairs are found once and stored if memory suffices: more minpts cost little
};

/// The index of one eps: immutable, thread-safe. It makes one object for each use, and must outlive these objects.
class Index {
 public:
  Index() = default;
  Index(const Index&) = delete;  // its objects hold its address
  Index& operator=(const Index&) = delete;
  virtual ~Index() = default;

  [[nodiscard]] virtual IndexFigures figures() const = 0;
  /// Returns the bytes of host memory that the index holds.
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  /// Makes the search of a table. Throws UsageError for a packed table of over kMostPackedDims dimensions or of a
  /// kernel that emits pairs; Cancelled; ResourceError.
  [[nodiscard]] virtual std::unique_ptr<TableSearch> table(const TableOptions& options) const = 0;
  /// Returns the most bytes of host memory that a clustering without a table takes, with the labels of all levels that
  /// are labelled together.
  [[nodiscard]] virtual std::uint64_t direct_bytes(const DirectOptions& options) const = 0;
  /// Runs the first phase of a clustering without a table. Throws Cancelled, ResourceError.
  [[nodiscard]] virtual std::unique_ptr<Counted> count(const DirectOptions& options) const = 0;
  /// Runs the first phase for a part; options.shared is set. Throws UsageError if it cannot; Cancelled; ResourceError.
  [[nodiscard]] virtual std::unique_ptr<CountedPart> count_part(const DirectOptions& options) const = 0;
  /// Makes the store for the labels of such a clustering. It must outlive the result of count(). Throws ResourceError.
  [[nodiscard]] virtual std::unique_ptr<LabelStore> label_store(const DirectOptions& options) const = 0;
};

/// The tree of one minpts in the memory of a backend. All functions may wait, and throw Cancelled, ResourceError.
class HeldTree {
 public:
  HeldTree() = default;
  HeldTree(const HeldTree&) = delete;  // a backend owns it
  HeldTree& operator=(const HeldTree&) = delete;
  virtual ~HeldTree() = default;

  [[nodiscard]] virtual SpanningTree spanning_tree() = 0;
  [[nodiscard]] virtual TreeNodes nodes() = 0;
  /// min_cluster_size: from 2 to the number of points.
  [[nodiscard]] virtual CondensedParts condense(std::uint64_t min_cluster_size) = 0;
  /// Selects clusters of the condensed tree, and labels all points. labels: the memory in which the labels and
  /// probabilities are left. May throw as `select`.
  [[nodiscard]] virtual SelectedClusters select(std::uint64_t min_cluster_size, const SelectClusters& select,
                                                MemorySpace labels) = 0;
};

/// A data set in the memory of its backend, and its space: immutable, thread-safe. Must outlive its indexes.
class LoadedPoints {
 public:
  /// bytes: of the coordinates; they count as host memory wherever they are.
  LoadedPoints(std::size_t size, std::size_t dims, std::uint64_t bytes, Space space = {}) noexcept
      : size_(size), dims_(dims), bytes_(bytes), space_(std::move(space)) {}
  LoadedPoints(const LoadedPoints&) = delete;  // indexes hold its address
  LoadedPoints& operator=(const LoadedPoints&) = delete;
  virtual ~LoadedPoints() = default;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t dims() const noexcept { return dims_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] const Space& space() const noexcept { return space_; }
  /// Returns the points in host memory. Points that are only on the device are copied once; this may wait.
  [[nodiscard]] virtual PointsView host() const = 0;
  /// Copies weights to the memory that the backend works on. Throws ResourceError.
  [[nodiscard]] virtual LoadedWeights load(WholeWeights weights) const { return {.whole = std::move(weights)}; }
  /// Returns the most bytes of host memory that build_index() takes with these options.
  [[nodiscard]] virtual std::uint64_t index_bytes(const IndexOptions& options) const = 0;
  /// Builds an index. The token must outlive it. Throws UsageError for a choice that the backend does not support,
  /// Cancelled, ResourceError.
  [[nodiscard]] virtual std::unique_ptr<Index> build_index(const IndexOptions& options,
                                                           const CancelToken& cancel) const = 0;
  /// Writes to sums[i · ks.size() + j] the left-hand side of the rule (core/space.hpp) for point i and its ks[j]-th
  /// nearest other point. Each k is at least 1 and less than the number of points. sums: [host] [n × ks.size()]. Works
  /// on the device, or on the threads of the calling arena. Throws Cancelled, ResourceError.
  virtual void nearest_sums(std::span<const std::uint32_t> ks, double* sums, const CancelToken& cancel) const = 0;
  /// Returns the most bytes of host memory that nearest_sums() takes beside the sums.
  [[nodiscard]] virtual std::uint64_t nearest_bytes() const = 0;
  /// Makes a tree for each minpts, in this order, and calls take(tree); the tree is valid only during this call.
  /// as_eps: if true, heights are eps, which requires a metric whose radius is eps; if false, heights are sums by the
  /// rule of core/space.hpp, and HeldTree::spanning_tree() is the only function that may be called. Returns false, and
  /// does not call take, if the backend has no special way to do so or lacks memory for the first tree; the caller then
  /// makes the trees from host(). minpts: each from 1 to the number of points. Throws Cancelled, ResourceError, and the
  /// exceptions of take().
  [[nodiscard]] virtual bool make_trees(std::span<const std::uint32_t> /*minpts*/, bool /*as_eps*/,
                                        const CancelToken& /*cancel*/,
                                        const std::function<void(HeldTree&)>& /*take*/) const {
    return false;
  }

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
  Backend(const Backend&) = delete;  // its data sets hold its address
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Returns the number of its GPU; -1 if it has none.
  [[nodiscard]] virtual int device() const { return -1; }
  /// Returns the usable bytes of its memory; 0 if it has no memory of its own.
  [[nodiscard]] virtual std::uint64_t device_memory() const { return 0; }
  /// Returns the number of lanes that keep the device busy.
  [[nodiscard]] virtual unsigned lanes() const = 0;
  /// Returns the number of groups in flight that keep device and host busy.
  [[nodiscard]] virtual unsigned groups() const = 0;
  /// Loads points. The points and the backend must outlive the result. Throws InputError for a coordinate that is NaN
  /// or infinite, UsageError for a space that the backend does not support, ResourceError.
  [[nodiscard]] virtual std::unique_ptr<LoadedPoints> load(PointsView points, const Space& space) = 0;
  [[nodiscard]] std::unique_ptr<LoadedPoints> load(PointsView points) { return load(points, Space{}); }
  /// Loads points on a device, in a space without closed axes, which may have slices. Throws UsageError also if it
  /// cannot reach them.
  [[nodiscard]] virtual std::unique_ptr<LoadedPoints> load(const DevicePointsView& points, const Space& space) = 0;
  /// Loads points from a source. Returns null if the backend has no special way to do so; they are then loaded like
  /// other points. The source need not outlive the call.
  [[nodiscard]] virtual std::unique_ptr<LoadedPoints> load(const PointsSource& /*source*/, const Space& /*space*/) {
    return nullptr;
  }
  /// Loads rows of a data set that `devices` backends hold together, in a space without closed axes. Returns null if
  /// the backend cannot. The backend must outlive the result. Throws ResourceError.
  [[nodiscard]] virtual std::unique_ptr<DevicePart> hold(PointsView /*rows*/, std::size_t /*devices*/) {
    return nullptr;
  }
  /// Keeps core points of a plain space, to assign other points by them. Returns null if the backend cannot. core: its
  /// labels are not negative. Copies the data that it needs. Throws Cancelled, ResourceError.
  [[nodiscard]] virtual std::unique_ptr<StoredCore> keep(const CoreInput& core, const CancelToken& cancel) = 0;
  /// Runs a task that may wait for the device, on a thread of the backend, or at once. It must not throw.
  virtual void post(const std::function<void()>& task) { task(); }
  /// Returns the object that makes memory of tables accessible to the device's copies; null if any memory is.
  [[nodiscard]] virtual PagePinner* pinner() noexcept { return nullptr; }
};

}  // namespace epsflow

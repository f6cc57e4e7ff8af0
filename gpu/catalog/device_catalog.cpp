#include <epsflow/gpu/catalog/device_catalog.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include <epsflow/catalog/catalog_checks.hpp>
#include <epsflow/catalog/metric_arrays.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/gpu/base/device_arrays.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/base/upload.hpp>
#include <epsflow/gpu/base/with_types.hpp>
#include <epsflow/gpu/catalog/arrays_to_host.hpp>
#include <epsflow/gpu/catalog/catalog_kernels.hpp>
#include <epsflow/gpu/catalog/catalog_tuning.hpp>

namespace epsflow::gpu {
namespace {

class DeviceCataloguer {
 public:
  DeviceCataloguer(const DeviceCatalogInput& in, const CatalogDevice& gpu, const CancelToken& cancel)
      : in_(in),
        gpu_(gpu),
        cancel_(cancel),
        metric_(in.metric, in.points.dims()),
        n_(narrow<std::uint32_t>(in.points.size())),
        dims_(in.points.dims()) {}

  Catalog make() {
    bring();
    scan_input();
    order();
    cancel_.check();
    find();
    return copied();
  }

 private:
  /// Returns values that kernels can read, copied if they are on the host or not aligned. Null if there are none.
  template <class T>
  [[nodiscard]] const T* reachable(const T* values, std::uint64_t count) {
    if (count == 0) return nullptr;
    const bool on_gpu = gpu_of(values, gpu_.device) == gpu_.device;
    if (on_gpu && reinterpret_cast<std::uintptr_t>(values) % sizeof(T) == 0) return values;
    const std::uint64_t bytes = checked_multiply(count, sizeof(T), "an array of a catalogue");
    const DeviceBuffer<std::byte>& copy = copies_.emplace_back(gpu_.memory, stream_.get(), bytes);
    if (on_gpu) {
      check(cudaMemcpyAsync(copy.data(), values, bytes, cudaMemcpyDeviceToDevice, stream_.get()));
    } else {
      stream_.synchronize();  // the copy is allocated now
      upload(copy.data(), values, bytes, {gpu_.device, gpu_.pinned, gpu_.threads});
    }
    return reinterpret_cast<const T*>(copy.data());
  }

  void bring() {
    for (const cudaStream_t writer : {static_cast<cudaStream_t>(in_.points.stream()), cudaStream_t{}}) {
      const Event made;
      check(cudaEventRecord(made.get(), writer));
      check(cudaStreamWaitEvent(stream_.get(), made.get()));
    }
    const std::uint64_t values = std::uint64_t{n_} * dims_;
    points_ = {in_.points.precision() == Precision::float32
                   ? static_cast<const void*>(reachable(static_cast<const float*>(in_.points.data()), values))
                   : reachable(static_cast<const double*>(in_.points.data()), values),
               n_, static_cast<std::uint32_t>(dims_), in_.points.precision()};
    labels_ = reachable(in_.labels.data(), in_.labels.size());
    core_ = reachable(in_.core.data(), in_.core.size());
    weights_ = reachable(in_.weights.data(), in_.weights.size());
    for (const NamedColumn& column : in_.columns) {
      columns_.push_back(reachable(column.values.data(), column.values.size()));
    }
    if (!metric_.values.empty()) metric_values_ = copy_of<double>(metric_.values, gpu_.memory, stream_.get());
  }

  /// Finds the number of clusters. Throws if a label or weight is invalid.
  void scan_input() {
    if (n_ == 0) return;
    const bool sphere = on_sphere(in_.metric.kind);
    facts_ = {gpu_.memory, stream_.get(), 1};
    launch_scan_input(points_, labels_, weights_, sphere ? &metric_.sky : nullptr, facts_.data(), stream_.get());
    const InputFacts found = read_values(facts_.data(), 1, stream_.get()).front();
    if (found.bad_label != kAllFine) {
      throw_bad_label(found.bad_label, read_values(labels_ + found.bad_label, 1, stream_.get()).front());
    }
    if (found.bad_weight != kAllFine) {
      throw_bad_weight(found.bad_weight, read_values(weights_ + found.bad_weight, 1, stream_.get()).front());
    }
    numbers_ = found.clusters;
  }

  /// Sorts the points by cluster, noise last.
  void order() {
    if (numbers_ == 0) return;
    const cudaStream_t stream = stream_.get();
    DeviceMemory& memory = gpu_.memory;
    const DeviceBuffer<std::uint32_t> keys(memory, stream, n_), other_keys(memory, stream, n_);
    ids_ = {memory, stream, n_};
    DeviceBuffer<std::uint32_t> other_ids(memory, stream, n_);
    launch_label_keys(labels_, n_, numbers_, keys.data(), ids_.data(), stream);
    TwoBuffers<std::uint32_t> sorted{keys.data(), other_keys.data()};
    TwoBuffers<std::uint32_t> ids{ids_.data(), other_ids.data()};
    launch_sort(sorted, ids, n_, std::bit_width(numbers_), {memory, stream});
    if (ids.current != ids_.data()) std::swap(ids_, other_ids);
    std::uint32_t* const entries = sorted.other;  // the cluster index of each point
    launch_cell_numbers(sorted.current, n_, entries, {memory, stream});
    const PinnedBytes last = gpu_.pinned.acquire(2 * sizeof(std::uint32_t));
    for (const auto& [to, from] : {std::pair{0, entries}, std::pair{1, sorted.current}}) {
      check(cudaMemcpyAsync(last.as<std::uint32_t>() + to, from + n_ - 1, sizeof(std::uint32_t), cudaMemcpyDeviceToHost,
                            stream));
    }
    stream_.synchronize();
    const std::uint32_t all = last.as<std::uint32_t>()[0] + 1;  // including noise
    clusters_ = last.as<std::uint32_t>()[1] == numbers_ ? all - 1 : all;
    starts_ = {memory, stream, std::uint64_t{all} + 1};
    labels_of_ = {memory, stream, all};
    launch_cell_starts(sorted.current, entries, n_, all, starts_.data(), labels_of_.data(), stream);
    ordered_.record(stream_);
  }

  /// Returns the next of the arrays that are copied to the host.
  [[nodiscard]] double* take(std::uint64_t count) {
    double* const taken = found_.data() + taken_;
    taken_ += count;
    return taken;
  }

  /// Computes all sums. Their arrays are in the order in which copied() takes them.
  void find() {
    if (clusters_ == 0) return;
    const std::uint64_t each = std::uint64_t{clusters_};
    const std::uint64_t of_all =
        4 * dims_ + 1 + (weights_ != nullptr ? 1 : 0) + (core_ != nullptr ? 2 : 0) + 4 * columns_.size();
    DeviceMemory& memory = gpu_.memory;
    const cudaStream_t stream = stream_.get();
    found_ = {memory, stream, each * of_all};
    const std::uint32_t most_large = n_ / tuning::kCatalogPiece;
    const std::uint32_t most_pieces = static_cast<std::uint32_t>(2 * std::uint64_t{n_} / tuning::kCatalogPiece);
    const DeviceBuffer<ClusterPiece> pieces(memory, stream, std::uint64_t{most_pieces} + most_large);
    const DeviceBuffer<std::uint32_t> counts(memory, stream, 2);
    const ClusterView clusters{.count = clusters_,
                               .starts = starts_.data(),
                               .order = ids_.data(),
                               .most_pieces = most_pieces,
                               .most_large = most_large,
                               .counts = counts.data(),
                               .pieces = pieces.data(),
                               .large = pieces.data() + most_pieces};
    if (most_large > 0) launch_cut_clusters(clusters, stream);
    count(clusters);
    with_types<2, 3, 4>(points_.precision, points_.dims, [&]<class T, unsigned G>() { measure<T, G>(clusters); });
  }

  void count(const ClusterView& clusters) {
    const Scratch scratch{gpu_.memory, stream_.get()};
    sums::Counts counts{.core = core_, .weights = weights_};
    if (core_ != nullptr) {
      counts.cores = reinterpret_cast<std::uint64_t*>(take(clusters_));
      counts.first_core = reinterpret_cast<std::uint64_t*>(take(clusters_));
    }
    if (weights_ != nullptr) counts.totals = totals_ = take(clusters_);
    if (core_ != nullptr || weights_ != nullptr) launch_sums(counts, clusters, scratch);
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      sums::ColumnSums column{.values = columns_[k], .weights = in_.columns[k].weighted ? weights_ : nullptr};
      for (double** to : {&column.mean, &column.sum, &column.min, &column.max}) *to = take(clusters_);
      launch_sums(column, clusters, scratch);
    }
  }

  template <class T, unsigned G>
  void measure(const ClusterView& by_id) {
    const Scratch scratch{gpu_.memory, stream_.get()};
    const std::uint64_t values = clusters_ * std::uint64_t{dims_};
    // Gathers the points, which are scattered in the input, because every kind of sum reads all of them.
    const DeviceBuffer<T> points(gpu_.memory, stream_.get(), std::uint64_t{n_} * dims_);
    const DeviceBuffer<double> weights(gpu_.memory, stream_.get(), weights_ != nullptr ? n_ : 0);
    launch_gather_rows(static_cast<const T*>(points_.data), n_, points_.dims, by_id, points.data(), stream_.get());
    if (weights_ != nullptr) launch_gather_rows(weights_, n_, 1, by_id, weights.data(), stream_.get());
    ClusterView clusters = by_id;
    clusters.order = nullptr;
    const DeviceBuffer<double> means(gpu_.memory, stream_.get(), values);
    const DeviceBuffer<double> references(gpu_.memory, stream_.get(), metric_.closed ? values : 0);
    const DeviceBuffer<std::uint8_t> goes_round(gpu_.memory, stream_.get(), metric_.closed ? values : 0);
    sums::Measured<T> of = metric_.measured<T>(metric_values_.data());
    of.points = points.data();
    if (weights_ != nullptr) of.shares = {weights.data(), totals_};
    of.references = references.data();
    of.goes_round = goes_round.data();
    of.means = means.data();
    for (double** to : {&of.center, &of.spread, &of.lower, &of.upper}) *to = take(values);
    of.radius = take(clusters_);
    if (on_sphere(in_.metric.kind)) {
      sums::Sky sky = metric_.sky;
      sky.ways = facts_.data()->ways;
      launch_sums(sums::SkyMeans<T>{of, sky}, clusters, scratch);
      launch_sums(sums::SkySpreads<T>{of, sky}, clusters, scratch);
      return;
    }
    for (std::size_t axis = 0; axis < dims_; axis += G) {
      if (metric_.closed) launch_sums(sums::Directions<T, G>{of, axis}, clusters, scratch);
      launch_sums(sums::Means<T, G>{of, axis}, clusters, scratch);
    }
    for (std::size_t axis = 0; axis < dims_; axis += G) {
      launch_sums(sums::Spreads<T, G>{of, axis}, clusters, scratch);
    }
  }

  Catalog copied() {
    Catalog made;
    made.dims = dims_;
    made.has_core = core_ != nullptr;
    made.has_weights = weights_ != nullptr;
    const std::uint64_t each = clusters_;
    if (each == 0) return named(std::move(made));
    ArraysToHost found;
    if (core_ != nullptr) {
      found.next(made.core, each);
      found.next(made.first_core, each);
    }
    if (weights_ != nullptr) found.next(made.weight, each);
    made = named(std::move(made));
    for (ColumnSummary& to : made.columns) {
      for (std::vector<double>* values : {&to.mean, &to.sum, &to.min, &to.max}) found.next(*values, each);
    }
    for (std::vector<double>* values : {&made.center, &made.spread, &made.lower, &made.upper}) {
      found.next(*values, each * dims_);
    }
    found.next(made.radius, each);
    // These copies run while the sums are computed.
    std::vector<std::uint64_t> labels;
    std::vector<std::uint32_t> starts;
    const Stream beside;
    check(cudaStreamWaitEvent(beside.get(), ordered_.get()));
    bring(labels, labels_of_.data(), each, beside);
    bring(starts, starts_.data(), each + 1, beside);
    made.cluster.assign(labels.begin(), labels.end());
    made.size.resize(each);
    for (std::uint64_t c = 0; c < each; ++c) made.size[c] = starts[c + 1] - starts[c];
    found.make_buffer(gpu_.threads);
    found.copy(found_.data(), gpu_.pinned, stream_.get(), gpu_.threads);
    require_differences(made);
    return made;
  }

  /// Adds an empty summary for each column.
  [[nodiscard]] Catalog named(Catalog made) const {
    for (const NamedColumn& column : in_.columns) made.columns.emplace_back().name = column.name;
    return made;
  }

  template <class T>
  void bring(std::vector<T>& to, const T* from, std::uint64_t count, const Stream& stream) {
    ArraysToHost array;
    array.next(to, count);
    array.make_buffer(gpu_.threads);
    array.copy(from, gpu_.pinned, stream.get(), gpu_.threads);
  }

  const DeviceCatalogInput& in_;
  const CatalogDevice& gpu_;
  const CancelToken& cancel_;
  const MetricArrays metric_;
  const std::uint32_t n_;
  const std::size_t dims_;
  const Stream stream_;
  const Event ordered_;  ///< recorded when starts_ and labels_of_ are complete
  std::vector<DeviceBuffer<std::byte>> copies_;
  DeviceBuffer<double> metric_values_;
  // The input in memory that kernels can read:
  PointsOnDevice points_;
  const std::int32_t* labels_ = nullptr;
  const std::uint8_t* core_ = nullptr;
  const double* weights_ = nullptr;
  std::vector<const double*> columns_;
  // The results:
  DeviceBuffer<InputFacts> facts_;
  std::uint32_t numbers_ = 0;  ///< one more than the highest label
  std::uint32_t clusters_ = 0;
  DeviceBuffer<std::uint32_t> ids_;        ///< [n] point ids in the order of their clusters
  DeviceBuffer<std::uint32_t> starts_;     ///< [clusters + 1], and the end of noise
  DeviceBuffer<std::uint64_t> labels_of_;  ///< [clusters], and the key of noise
  DeviceBuffer<double> found_;
  std::uint64_t taken_ = 0;
  double* totals_ = nullptr;
  StreamDrain drain_{stream_};  // waits before the memory above is freed
};

}  // namespace

Catalog make_catalog(const DeviceCatalogInput& input, const CatalogDevice& gpu, const CancelToken& cancel) {
  require_lengths(input, input.points.size());
  check_metric(input.metric, input.points.dims());
  require_not_elsewhere(input.labels.data(), "the labels", gpu.device);
  require_not_elsewhere(input.core.data(), "the entries of the mask of core points", gpu.device);
  require_not_elsewhere(input.weights.data(), "the weights", gpu.device);
  for (const NamedColumn& column : input.columns) {
    require_not_elsewhere(column.values.data(), "the values of " + column.name, gpu.device);
  }
  cancel.check();
  return DeviceCataloguer(input, gpu, cancel).make();
}

}  // namespace epsflow::gpu

#include <epsflow/gpu/parts/gpu_part.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/gpu/base/device.hpp>
#include <epsflow/gpu/base/retained_block.hpp>
#include <epsflow/gpu/base/upload.hpp>
#include <epsflow/gpu/grid/device_points.hpp>

namespace epsflow::gpu {
namespace {

const GpuPeerBuffer& gpu_peer_buffer(const std::unique_ptr<PeerBuffer>& buffer) {
  return dynamic_cast<const GpuPeerBuffer&>(*buffer);
}

}  // namespace

GpuPart::GpuPart(PointsView rows, GpuPartResources home)
    : resources_(std::move(home)),
      rows_(narrow<std::uint32_t>(rows.size())),
      dims_(static_cast<std::uint32_t>(rows.dims())),
      precision_(rows.precision()),
      data_(*resources_.memory, stream_.get(), rows.bytes()) {
  stream_.synchronize();  // the memory is there
  upload(data_.data(), rows.data(), rows.bytes(),
         {resources_.device, resources_.pinned, resources_.threads, resources_.devices});
}

std::optional<PointsCopy> GpuPart::copy_all(std::span<const std::unique_ptr<DevicePart>> parts) const {
  const DeviceScope scope(resources_.device);
  std::uint64_t rows = 0, bytes = 0;
  for (const auto& part : parts) {
    const auto& from = dynamic_cast<const GpuPart&>(*part);
    const int device = from.resources_.device;
    if (device != resources_.device && !from.resources_.memory->reachable_from(resources_.device)) return std::nullopt;
    rows += from.rows_;
    bytes += from.data_.bytes();
  }
  const auto block = std::make_shared<RetainedBlock>(resources_.memory, bytes);
  const Stream stream;
  std::byte* to = block->data();
  for (const auto& part : parts) {
    const auto& from = dynamic_cast<const GpuPart&>(*part);
    check(cudaMemcpyAsync(to, from.data_.data(), from.data_.bytes(), cudaMemcpyDefault, stream.get()));
    to += from.data_.bytes();
  }
  stream.synchronize();
  return PointsCopy{block, view_of(block->data(), rows)};
}

GpuPart::RowCounts GpuPart::cut(std::span<const SpaceCut> cuts, double reach) {
  const DeviceScope scope(resources_.device);
  std::copy(cuts.begin(), cuts.end(), cuts_.cuts);
  cuts_.count = static_cast<std::uint32_t>(cuts.size());
  const std::size_t parts = cuts.size() + 1;
  const std::uint64_t blocks = cut_blocks(rows_);
  part_of_row_ = {*resources_.memory, stream_.get(), rows_};
  starts_ = {*resources_.memory, stream_.get(), parts * blocks};
  const DeviceBuffer<unsigned long long> ghosts(*resources_.memory, stream_.get(), 2 * parts);
  check(cudaMemsetAsync(ghosts.data(), 0, ghosts.bytes(), stream_.get()));
  launch_cut({data_.data(), rows_, dims_, precision_}, cuts_, reach,
             {part_of_row_.data(), starts_.data(), ghosts.data()}, stream_.get());
  launch_starts(starts_.data(), starts_.size(), {*resources_.memory, stream_.get()});
  RowCounts counts;
  first_of_part_.assign(parts + 1, rows_);
  if (blocks > 0) {
    std::vector<std::uint32_t> firsts(parts);
    check(cudaMemcpy2DAsync(firsts.data(), sizeof(std::uint32_t), starts_.data(), blocks * sizeof(std::uint32_t),
                            sizeof(std::uint32_t), parts, cudaMemcpyDeviceToHost, stream_.get()));
    stream_.synchronize();
    std::copy(firsts.begin(), firsts.end(), first_of_part_.begin());
  }
  const std::vector<unsigned long long> found = read_values(ghosts.data(), ghosts.size(), stream_.get());
  for (std::size_t p = 0; p < parts; ++p) {
    counts.owned.push_back(static_cast<std::uint32_t>(first_of_part_[p + 1] - first_of_part_[p]));
    counts.ghosts.push_back(narrow<std::uint32_t>(found[p]));
    counts.send_list.push_back(found[parts + p]);
  }
  return counts;
}

std::vector<std::byte> GpuPart::make_buffer(const BufferNeeds& needs) {
  if (needs.owned + needs.ghosts > kMostGpuPoints) {
    throw DeviceError("a part has " + format_count(needs.owned + needs.ghosts, "point") +
                      ", ghosts included, and a GPU can index " + format_count(kMostGpuPoints) +
                      ": use more GPUs, or EngineOptions::backend = BackendChoice::cpu");
  }
  const DeviceScope scope(resources_.device);
  part_ = needs.part;
  own_ = narrow<std::uint32_t>(needs.owned);
  most_sent_ = needs.most_sent;
  const PeerBufferShape shape(checked_multiply(needs.owned + needs.ghosts, row_bytes(), "points of a part"), rows_,
                              needs.labels, needs.core);
  PeerBufferKey key;
  key.process = process_number();
  key.mark = next_mark();
  key.device = resources_.device;
  key.memory = resources_.memory.get();
  key.shape = shape;
  key.open = needs.by_processes;
  std::copy(first_of_part_.begin(), first_of_part_.end(), key.first_of_part.begin());
  if (needs.by_processes) {
    open_block_ = OpenMemory(*resources_.memory, shape.bytes());
    key.block = open_block_.data();
    key.handle = open_block_.handle();
    check(cudaMemcpyAsync(shape.mark(key.block), &key.mark, sizeof(key.mark), cudaMemcpyDefault, stream_.get()));
  } else {
    block_ = {*resources_.memory, stream_.get(), shape.bytes()};
    key.block = block_.data();
  }
  buffer_ = shape.in(key.block);
  stream_.synchronize();  // other GPUs write to it on their own streams
  const auto bytes = std::as_bytes(std::span(&key, 1));
  return {bytes.begin(), bytes.end()};
}

std::unique_ptr<PeerBuffer> GpuPart::open_buffer(std::span<const std::byte> key) const {
  const DeviceScope scope(resources_.device);
  PeerBufferKey known;
  if (key.size() != sizeof(known)) return nullptr;
  std::memcpy(&known, key.data(), sizeof(known));
  return GpuPeerBuffer::open(known, resources_.device);
}

void GpuPart::copy(void* to, const GpuPeerBuffer& buffer, const void* from, std::uint64_t bytes) const {
  if (bytes == 0) return;
  if (const std::optional<int> device = buffer.device()) {
    check(cudaMemcpyPeerAsync(to, *device, from, resources_.device, bytes, stream_.get()));
  } else {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_.get()));
  }
}

void GpuPart::send_rows(PeerBuffers buffers, std::span<const std::uint64_t> firsts) {
  const DeviceScope scope(resources_.device);
  const StreamDrain drain(stream_);  // waits, even after an error, before memory of others is freed
  const std::uint64_t first = first_of_part_[part_], last = first_of_part_[part_ + 1];
  DeviceBuffer<std::byte> packed(*resources_.memory, stream_.get(), data_.bytes() - (last - first) * row_bytes());
  launch_pack({data_.data(), rows_, dims_, precision_}, row_order(),
              {packed.data(), buffer_.points + firsts[part_] * row_bytes(), static_cast<std::uint32_t>(first),
               static_cast<std::uint32_t>(last)},
              stream_.get());
  data_ = {};
  std::uint64_t at = 0;
  for (std::size_t p = 0; p < buffers.size(); ++p) {
    if (p == part_) continue;
    const GpuPeerBuffer& buffer = gpu_peer_buffer(buffers[p]);
    const std::uint64_t bytes = (first_of_part_[p + 1] - first_of_part_[p]) * row_bytes();
    copy(buffer.arrays().points + firsts[p] * row_bytes(), buffer, packed.data() + at, bytes);
    at += bytes;
  }
  packed = {};
  stream_.synchronize();
}

GpuPart::SendLists GpuPart::make_send_lists(double inner, double outer) {
  const DeviceScope scope(resources_.device);
  const std::size_t parts = cuts_.count + 1;
  DeviceBuffer<std::uint64_t> keys(*resources_.memory, stream_.get(), most_sent_);
  const DeviceBuffer<unsigned long long> count(*resources_.memory, stream_.get(), 1);
  check(cudaMemsetAsync(count.data(), 0, count.bytes(), stream_.get()));
  launch_send_lists(owned(), cuts_, part_, inner, outer, keys.data(), keys.size(), count.data(), stream_.get());
  const std::uint64_t found = read_values(count.data(), 1, stream_.get()).front();
  send_list_ = {*resources_.memory, stream_.get(), found};
  launch_sort_send_lists(keys.data(), send_list_.data(), found, {*resources_.memory, stream_.get()});
  keys = {};
  const DeviceBuffer<std::uint64_t> begins(*resources_.memory, stream_.get(), 2 * parts + 1);
  launch_send_list_begins(send_list_.data(), found, begins.data(), static_cast<std::uint32_t>(begins.size()),
                          stream_.get());
  list_of_ = read_values(begins.data(), begins.size(), stream_.get());
  SendLists answer;
  answer.inner_begins.push_back(0);
  answer.outer_begins.push_back(0);
  for (std::size_t p = 0; p < parts; ++p) {
    answer.inner_begins.push_back(answer.inner_begins.back() + list_of_[2 * p + 1] - list_of_[2 * p]);
    answer.outer_begins.push_back(answer.outer_begins.back() + list_of_[2 * p + 2] - list_of_[2 * p + 1]);
  }
  const DeviceBuffer<std::uint32_t> inner_points(*resources_.memory, stream_.get(), answer.inner_begins.back());
  for (std::size_t p = 0; p < parts; ++p) {
    launch_points_of_send_list(send_list_.data() + list_of_[2 * p], list_of_[2 * p + 1] - list_of_[2 * p],
                               inner_points.data() + answer.inner_begins[p], stream_.get());
  }
  answer.inner = read_values(inner_points.data(), inner_points.size(), stream_.get(), resources_.pinned);
  return answer;
}

void GpuPart::send_ghosts(PeerBuffers buffers, std::span<const std::uint64_t> inner_offsets,
                          std::span<const std::uint64_t> outer_offsets) {
  const DeviceScope scope(resources_.device);
  const StreamDrain drain(stream_);  // waits, even after an error, before memory of others is freed
  DeviceBuffer<std::byte> packed(*resources_.memory, stream_.get(), send_list_.size() * row_bytes());
  launch_pack_ghosts(owned(), send_list_.data(), send_list_.size(), packed.data(), stream_.get());
  send_list_ = {};
  for (std::size_t p = 0; p < buffers.size(); ++p) {
    const GpuPeerBuffer& buffer = gpu_peer_buffer(buffers[p]);
    for (const std::size_t outer : {0, 1}) {
      const std::size_t list = 2 * p + outer;
      copy(buffer.arrays().points + (outer == 0 ? inner_offsets : outer_offsets)[p] * row_bytes(), buffer,
           packed.data() + list_of_[list] * row_bytes(), (list_of_[list + 1] - list_of_[list]) * row_bytes());
    }
  }
  packed = {};
  stream_.synchronize();
}

DevicePointsView GpuPart::points(std::uint64_t size) const { return view_of(buffer_.points, size, stream_.get()); }

DevicePointsView GpuPart::view_of(const std::byte* data, std::uint64_t size, cudaStream_t stream) const {
  const DeviceStream writer{resources_.device, stream};
  if (precision_ == Precision::float32) return {reinterpret_cast<const float*>(data), size, dims_, writer};
  return {reinterpret_cast<const double*>(data), size, dims_, writer};
}

void GpuPart::rows_of(std::uint32_t part, std::span<const std::uint32_t> points, std::uint32_t first_point,
                      std::uint32_t first_row, std::uint32_t* rows) const {
  if (points.empty()) return;
  const DeviceScope scope(resources_.device);
  const Stream stream;
  const DeviceBuffer<std::uint32_t> found = copy_of(points, *resources_.memory, stream.get());
  launch_find_rows(row_order(), {part, first_point, first_row}, found.data(), narrow<std::uint32_t>(points.size()),
                   stream.get());
  read_values(found.data(), found.size(), rows, stream.get(), resources_.pinned);
}

void GpuPart::send_back(PeerBuffers buffers, std::span<const std::uint64_t> begins, const OfPoints& found,
                        std::span<const std::int32_t> numbers) {
  const DeviceScope scope(resources_.device);
  const StreamDrain drain(stream_);  // waits, even after an error, before memory of others is freed
  if (found.labels != nullptr && !numbers.empty()) {
    const DeviceBuffer<std::int32_t> table = copy_of(numbers, *resources_.memory, stream_.get());
    launch_renumber(found.labels, own_, table.data(), stream_.get());
  }
  for (std::size_t g = 0; g < buffers.size(); ++g) {
    const GpuPeerBuffer& buffer = gpu_peer_buffer(buffers[g]);
    const std::uint64_t first = buffer.first_of_part(part_), size = begins[g + 1] - begins[g];
    if (found.labels != nullptr) {
      copy(buffer.arrays().labels + first, buffer, found.labels + begins[g], size * sizeof(std::int32_t));
    }
    if (found.core != nullptr) copy(buffer.arrays().core + first, buffer, found.core + begins[g], size);
  }
  stream_.synchronize();
}

void GpuPart::take_back(std::int32_t* labels, std::uint8_t* core) {
  const DeviceScope scope(resources_.device);
  const auto take = [&]<class T>(const T* by_part, T* to) {
    const DeviceBuffer<T> by_row(*resources_.memory, stream_.get(), rows_);
    launch_unpack(by_part, row_order(), by_row.data(), stream_.get());
    check(cudaMemcpyAsync(to, by_row.data(), by_row.bytes(), cudaMemcpyDeviceToHost, stream_.get()));
  };
  if (labels != nullptr) take(buffer_.labels, labels);
  if (core != nullptr) take(buffer_.core, core);
  stream_.synchronize();
}

std::vector<std::int32_t> GpuPart::read(const std::int32_t* labels, std::size_t count) {
  const DeviceScope scope(resources_.device);
  return read_values(labels, count, stream_.get());
}

}  // namespace epsflow::gpu

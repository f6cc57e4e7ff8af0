#include <epsflow/io/read/hdf5/hdf5_columns.hpp>

#include <zlib.h>
#include <algorithm>
#include <array>
#include <utility>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow::io {
namespace {

struct Shape {
  std::uint64_t type_bytes = 0;
  std::array<hsize_t, 2> extents{0, 1};
  std::array<hsize_t, 2> chunk{1, 1};
};

[[noreturn]] void throw_damaged(const Hdf5Dataset& dataset, const Source& source, const std::string& why) {
  throw source.error("damaged: the data set {} {}; fetch the file again", show_text(dataset.path), why);
}

Shape shape_of(const Hdf5Dataset& dataset, hid_t layout, const Source& source) {
  Shape shape;
  const TypeHandle type = check(TypeHandle(H5Dget_type(dataset.id.get())), source, "reading the type");
  const SpaceHandle space = check(SpaceHandle(H5Dget_space(dataset.id.get())), source, "reading the shape");
  shape.type_bytes = H5Tget_size(type.get());
  check(H5Sget_simple_extent_dims(space.get(), shape.extents.data(), nullptr), source, "reading the shape");
  if (H5Pget_layout(layout) != H5D_CHUNKED) return shape;
  if (H5Pget_chunk(layout, 2, shape.chunk.data()) != dataset.axes || shape.chunk[0] == 0 || shape.chunk[1] == 0) {
    throw_damaged(dataset, source, "has chunks of another shape than its own");
  }
  return shape;
}

/// Returns the number of bytes that a deflated block unpacks to; stops counting past `most`.
std::uint64_t unpacked_size(std::span<unsigned char> packed, std::uint64_t most) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw ResourceError("no memory to unpack a chunk");
  std::array<unsigned char, 16384> scratch{};
  std::uint64_t size = 0;
  stream.next_in = packed.data();
  stream.avail_in = static_cast<uInt>(packed.size());
  for (int code = Z_OK; code == Z_OK && size <= most;) {
    stream.next_out = scratch.data();
    stream.avail_out = scratch.size();
    code = inflate(&stream, Z_NO_FLUSH);
    size += scratch.size() - stream.avail_out;
  }
  inflateEnd(&stream);
  return size;
}

struct Filter {
  H5Z_filter_t number = 0;
  std::string name = {};  ///< as in the file; may be empty
};

std::vector<Filter> filters_of(hid_t layout) {
  std::vector<Filter> filters;
  const int count = H5Pget_nfilters(layout);
  for (unsigned i = 0; i < static_cast<unsigned>(std::max(count, 0)); ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    unsigned configuration = 0;
    std::array<char, 256> name{};
    const H5Z_filter_t number =
        H5Pget_filter2(layout, i, &flags, &values, nullptr, name.size() - 1, name.data(), &configuration);
    filters.push_back({number, name.data()});
  }
  return filters;
}

/// Returns the name of a filter: a well-known number's own name, else the name in the file. Source:
/// github.com/HDFGroup/hdf5_plugins, docs/RegisteredFilterPlugins.md.
std::string describe(const Filter& filter) {
  constexpr std::array<std::pair<H5Z_filter_t, const char*>, 10> kKnown{{{H5Z_FILTER_SZIP, "szip"},
                                                                         {307, "bzip2"},
                                                                         {32000, "lzf"},
                                                                         {32001, "blosc"},
                                                                         {32004, "lz4"},
                                                                         {32008, "bitshuffle"},
                                                                         {32013, "zfp"},
                                                                         {32015, "zstd"},
                                                                         {32017, "sz"},
                                                                         {32026, "blosc2"}}};
  for (const auto& [known, name] : kKnown) {
    if (known == filter.number) return fmt::format("{}, number {}", name, filter.number);
  }
  return fmt::format("{}number {}", filter.name.empty() ? "" : show_text(filter.name) + ", ", filter.number);
}

/// Returns a list of the filters of a data set that the library lacks.
std::string lacked_filters(const Hdf5Dataset& dataset) {
  const ListHandle layout(H5Dget_create_plist(dataset.id.get()));
  std::string lacked;
  for (const Filter& filter : layout.valid() ? filters_of(layout.get()) : std::vector<Filter>()) {
    if (filter.number < 0 || H5Zfilter_avail(filter.number) > 0) continue;
    lacked += (lacked.empty() ? "" : "; ") + describe(filter);
  }
  H5Eclear2(H5E_DEFAULT);
  return lacked;
}

/// Checks the size of the first chunk, as a sample of all; the library does not check any.
void require_chunk_size(const Hdf5Dataset& dataset, const Shape& shape, hid_t layout, const Source& source) {
  bool is_deflated = false;
  bool has_checksum = false;
  bool has_others = false;
  for (const Filter& filter : filters_of(layout)) {
    is_deflated |= filter.number == H5Z_FILTER_DEFLATE;
    has_checksum |= filter.number == H5Z_FILTER_FLETCHER32;
    has_others |= filter.number != H5Z_FILTER_DEFLATE && filter.number != H5Z_FILTER_FLETCHER32 &&
                  filter.number != H5Z_FILTER_SHUFFLE;
  }
  const std::array<hsize_t, 2> origin{0, 0};
  hsize_t stored = 0;
  if (has_others || H5Dget_chunk_storage_size(dataset.id.get(), origin.data(), &stored) < 0 || stored == 0) {
    H5Eclear2(H5E_DEFAULT);  // The chunk may never have been written.
    return;
  }
  const std::uint64_t expected =
      checked_multiply(checked_multiply(shape.chunk[0], shape.chunk[1], "chunk"), shape.type_bytes, "chunk");
  std::uint64_t found = stored;
  if (is_deflated) {
    if (stored > std::numeric_limits<uInt>::max()) throw_damaged(dataset, source, "has a chunk over 4 GiB");
    Buffer<unsigned char> packed(stored);
    std::uint32_t left_out = 0;
    check(H5Dread_chunk(dataset.id.get(), H5P_DEFAULT, origin.data(), &left_out, packed.data()), source,
          "reading the first chunk");
    if (left_out != 0) return;
    const std::size_t sum = has_checksum && stored >= 4 ? 4 : 0;
    found = unpacked_size(packed.span().first(packed.size() - sum), expected);
    if (found == 0 || found == expected) return;  // Damage to the packed bytes is reported when the chunk is read.
  } else if (has_checksum) {
    found -= std::min<std::uint64_t>(found, 4);
  }
  if (found != expected) {
    throw_damaged(
        dataset, source,
        fmt::format("has chunks of {} where its shape tells of {}", format_bytes(found), format_bytes(expected)));
  }
}

}  // namespace

std::uint64_t rows_per_block(const Hdf5Dataset& dataset, std::uint64_t row_bytes) {
  constexpr std::uint64_t kBlockBytes = std::uint64_t{8} << 20;
  const std::uint64_t rows = std::max<std::uint64_t>(1, kBlockBytes / std::max<std::uint64_t>(1, row_bytes));
  std::array<hsize_t, 2> chunk{1, 1};
  const ListHandle layout(H5Dget_create_plist(dataset.id.get()));
  if (layout.valid() && H5Pget_layout(layout.get()) == H5D_CHUNKED) H5Pget_chunk(layout.get(), 2, chunk.data());
  const std::uint64_t step = std::max<std::uint64_t>(1, chunk[0]);
  return (rows + step - 1) / step * step;
}

void require_written(const Hdf5Dataset& dataset, const Source& source) {
  if (dataset.rows == 0) return;
  const ListHandle layout = check(ListHandle(H5Dget_create_plist(dataset.id.get())), source, "reading the layout");
  const H5D_layout_t kind = H5Pget_layout(layout.get());
  if (kind == H5D_VIRTUAL || H5Pget_external_count(layout.get()) > 0) return;
  const Shape shape = shape_of(dataset, layout.get(), source);
  H5D_fill_value_t fill = H5D_FILL_VALUE_UNDEFINED;
  H5Pfill_value_defined(layout.get(), &fill);
  std::uint64_t expected = 0;
  std::uint64_t found = 0;
  if (kind == H5D_CHUNKED) {
    const auto along = [&](std::size_t axis) {
      return (shape.extents[axis] + shape.chunk[axis] - 1) / shape.chunk[axis];
    };
    hsize_t chunks = 0;
    const SpaceHandle space = check(SpaceHandle(H5Dget_space(dataset.id.get())), source, "reading the shape");
    check(H5Dget_num_chunks(dataset.id.get(), space.get(), &chunks), source, "counting the chunks");
    expected = checked_multiply(along(0), along(1), "chunks");
    found = chunks;
    require_chunk_size(dataset, shape, layout.get(), source);
  } else {
    expected =
        checked_multiply(checked_multiply(shape.extents[0], shape.extents[1], "values"), shape.type_bytes, "bytes");
    found = H5Dget_storage_size(dataset.id.get());
  }
  if (found == expected) return;
  if (found > expected || (kind != H5D_CHUNKED && found > 0)) {
    throw_damaged(dataset, source,
                  fmt::format("stores {} {} where its shape tells of {}", format_count(found),
                              kind == H5D_CHUNKED ? "chunks" : "bytes", format_count(expected)));
  }
  if (fill == H5D_FILL_VALUE_USER_DEFINED) return;
  throw source.error(
      "{} of {} {} of the data set {} were never written, and no fill value says what stands for them; write the file "
      "again",
      format_count(expected - found), format_count(expected), kind == H5D_CHUNKED ? "chunks" : "bytes",
      show_text(dataset.path));
}

void throw_unread(const Hdf5Dataset& dataset, const Source& source, std::string_view doing) {
  const std::string reason = take_error_text();
  // For virtual data sets, only the reason names the lacked filter.
  std::string lacked = lacked_filters(dataset);
  if (lacked.empty() && reason.find(kLackedFilter) != std::string::npos) lacked = reason;
  if (lacked.empty()) throw_hdf5(source, doing, reason);
  throw source.error(
      "the data set {} is packed with a filter that this build's HDF5 lacks: {}; unpack the file with h5repack -f NONE "
      "where the filter is known, set HDF5_PLUGIN_PATH to the folder of its plugin, or read the file in Python with "
      "h5py, which has lzf, and has others with the package hdf5plugin",
      show_text(dataset.path), lacked);
}

}  // namespace epsflow::io

#include <epsflow/io/hdf5_reader.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <hdf5.h>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/io/hdf5_handle.hpp>

namespace epsflow::io {
namespace {

[[noreturn]] void throw_hdf5(const Source& source, std::string_view doing) {
  throw InputError(fmt::format("{}: {} failed: {}; the file may be truncated or damaged, fetch it again", source.name,
                               doing, take_error_text()));
}

void check(herr_t status, const Source& source, std::string_view doing) {
  if (status < 0) throw_hdf5(source, doing);
}

template <class H>
H check(H handle, const Source& source, std::string_view doing) {
  if (!handle.valid()) throw_hdf5(source, doing);
  return handle;
}

enum class Kind : std::uint8_t { other, numbers, table };

struct Member {
  bool is_number = false;
  bool is_float32 = false;
  std::string type;  ///< for errors
};

/// What is known of a data set before it is read.
struct Dataset {
  Kind kind = Kind::other;
  std::string why_not;  ///< for Kind::other
  std::uint64_t rows = 0;
  ColumnList available;
  std::vector<Member> members;  ///< of a table
  bool is_float32 = false;      ///< of plain numbers
};

bool is_number(H5T_class_t type) noexcept { return type == H5T_INTEGER || type == H5T_FLOAT; }

std::string_view class_name(H5T_class_t type) noexcept {
  switch (type) {
    case H5T_STRING:
      return "text";
    case H5T_ENUM:
      return "values of an enumeration";
    case H5T_ARRAY:
      return "arrays";
    case H5T_COMPOUND:
      return "nested records";
    case H5T_VLEN:
      return "lists of variable length";
    case H5T_REFERENCE:
      return "references";
    default:
      return "values of a type that is no number";
  }
}

struct FreeHdf5 {
  void operator()(void* p) const noexcept { H5free_memory(p); }
};

void describe_members(hid_t type, Dataset& dataset, const Source& source) {
  const int count = H5Tget_nmembers(type);
  check(count, source, "counting the members of the table");
  dataset.available.count = static_cast<std::size_t>(count);
  for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
    const std::unique_ptr<char, FreeHdf5> name(H5Tget_member_name(type, i));
    const TypeHandle member = check(TypeHandle(H5Tget_member_type(type, i)), source, "reading a member's type");
    if (name == nullptr) throw_hdf5(source, "reading a member's name");
    const H5T_class_t member_class = H5Tget_class(member.get());
    dataset.available.names.emplace_back(name.get());
    dataset.members.push_back({.is_number = is_number(member_class),
                               .is_float32 = member_class == H5T_FLOAT && H5Tget_size(member.get()) == sizeof(float),
                               .type = std::string(class_name(member_class))});
  }
}

Dataset describe_dataset(hid_t id, const Source& source) {
  const TypeHandle type = check(TypeHandle(H5Dget_type(id)), source, "reading the type of a data set");
  const SpaceHandle space = check(SpaceHandle(H5Dget_space(id)), source, "reading the shape of a data set");
  const H5T_class_t type_class = H5Tget_class(type.get());
  const int axes = H5Sget_simple_extent_ndims(space.get());
  check(axes, source, "reading the shape of a data set");
  Dataset dataset;
  if (H5Sget_simple_extent_type(space.get()) != H5S_SIMPLE || axes < 1 || axes > 2) {
    dataset.why_not = fmt::format("has {} axes; points need one or two", axes);
    return dataset;
  }
  std::array<hsize_t, 2> sizes{0, 1};
  check(H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr), source, "reading the shape of a data set");
  dataset.rows = sizes[0];
  if (is_number(type_class)) {
    dataset.kind = Kind::numbers;
    // No list of columns is made of a width that no points can have.
    if (sizes[1] > std::uint64_t{1} << 20) {
      dataset.kind = Kind::other;
      dataset.why_not = fmt::format("has {} columns; points have at most {} dimensions", sizes[1], kMaxDims);
    }
    dataset.available.count = static_cast<std::size_t>(sizes[1]);
    dataset.is_float32 = type_class == H5T_FLOAT && H5Tget_size(type.get()) == sizeof(float);
  } else if (type_class == H5T_COMPOUND && axes == 1) {
    dataset.kind = Kind::table;
    describe_members(type.get(), dataset, source);
  } else if (type_class == H5T_COMPOUND) {
    dataset.why_not = "is a table of two axes; points need one";
  } else {
    dataset.why_not = fmt::format("holds {}, not numbers", class_name(type_class));
  }
  return dataset;
}

/// Whether points can be made of the data set with the columns that are asked for.
bool is_suitable(const Dataset& dataset, const Source& source) {
  if (dataset.kind == Kind::other) return false;
  std::vector<std::size_t> selected;
  try {
    selected = select_columns(source, dataset.available);
  } catch (const InputError&) {
    return false;
  }
  return dataset.kind == Kind::numbers ||
         std::all_of(selected.begin(), selected.end(), [&](std::size_t i) { return dataset.members[i].is_number; });
}

/// Collects the paths of all data sets below a group, along hard links, which cannot dangle.
class DatasetFinder {
 public:
  explicit DatasetFinder(const Source& source) : source_(source) {}

  std::vector<std::string> find(hid_t file) {
    visit(file, "", 0);
    return std::move(paths_);
  }

 private:
  // Hard links may form cycles; no archive nests this deep or holds this many.
  static constexpr int kDeepest = 16;
  static constexpr std::size_t kMost = 10000;

  void visit(hid_t group, const std::string& path, int depth) {
    H5G_info_t info{};
    check(H5Gget_info(group, &info), source_, fmt::format("listing the group '{}/'", path));
    for (hsize_t i = 0; i < info.nlinks && paths_.size() < kMost; ++i) {
      const std::string name = link_name(group, i);
      H5L_info_t link{};
      if (H5Lget_info(group, name.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD) continue;
      const ObjectHandle object(H5Oopen(group, name.c_str(), H5P_DEFAULT));
      if (!object.valid()) throw_hdf5(source_, fmt::format("opening '{}/{}'", path, name));
      const H5I_type_t type = H5Iget_type(object.get());
      if (type == H5I_DATASET) paths_.push_back(path + "/" + name);
      if (type == H5I_GROUP && depth < kDeepest) visit(object.get(), path + "/" + name, depth + 1);
    }
  }

  std::string link_name(hid_t group, hsize_t i) {
    const ssize_t length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, nullptr, 0, H5P_DEFAULT);
    if (length < 0) throw_hdf5(source_, "reading the name of a link");
    std::string name(static_cast<std::size_t>(length) + 1, '\0');
    H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT);
    name.pop_back();
    return name;
  }

  const Source& source_;
  std::vector<std::string> paths_;
};

std::string join(const std::vector<std::string>& paths) {
  constexpr std::size_t kShown = 100;
  std::string text;
  for (std::size_t i = 0; i < std::min(paths.size(), kShown); ++i) text += (i == 0 ? "" : ", ") + paths[i];
  if (paths.size() > kShown) text += fmt::format(" and {} more", paths.size() - kShown);
  return text.empty() ? "none" : text;
}

/// The path of the data set to read.
std::string select_dataset(hid_t file, const Source& source) {
  const std::string& wanted = source.options.table;
  if (!wanted.empty()) {
    const ObjectHandle object(H5Oopen(file, wanted.c_str(), H5P_DEFAULT));
    if (object.valid() && H5Iget_type(object.get()) == H5I_DATASET) return wanted;
    H5Eclear2(H5E_DEFAULT);
    throw InputError(fmt::format("{}: there is no data set {}; --table may choose from: {}", source.name,
                                 show_text(wanted), join(DatasetFinder(source).find(file))));
  }
  const std::vector<std::string> paths = DatasetFinder(source).find(file);
  // The only one there is gets to say what is wrong with it.
  if (paths.size() == 1) return paths[0];
  std::vector<std::string> suitable;
  for (const std::string& path : paths) {
    const DatasetHandle id = check(DatasetHandle(H5Dopen2(file, path.c_str(), H5P_DEFAULT)), source, "opening " + path);
    if (is_suitable(describe_dataset(id.get(), source), source)) suitable.push_back(path);
  }
  if (suitable.size() == 1) return suitable[0];
  if (suitable.empty()) {
    throw InputError(fmt::format(
        "{}: no data set holds {}; choose one with --table from: {}", source.name,
        source.options.columns.empty() ? "nothing but numbers in one or two axes" : "the columns asked for, as numbers",
        join(paths)));
  }
  throw InputError(fmt::format("{}: several data sets could be the points; choose one with --table from: {}",
                               source.name, join(suitable)));
}

hid_t native_type(Precision precision) noexcept {
  return precision == Precision::float32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

std::byte* bytes_of_points(Points& points) {
  return points.precision() == Precision::float32 ? std::as_writable_bytes(points.values<float>()).data()
                                                  : std::as_writable_bytes(points.values<double>()).data();
}

/// A compound type in memory that is a row of the points: the library puts the members where they belong.
TypeHandle row_type(const Dataset& dataset, std::span<const std::size_t> selected, Precision precision,
                    const Source& source) {
  const std::size_t size = bytes_of(precision);
  TypeHandle type = check(TypeHandle(H5Tcreate(H5T_COMPOUND, size * selected.size())), source, "making a row type");
  for (std::size_t k = 0; k < selected.size(); ++k) {
    check(H5Tinsert(type.get(), dataset.available.names[selected[k]].c_str(), k * size, native_type(precision)), source,
          "making a row type");
  }
  return type;
}

/// Rows to read at once: whole chunks, so that none is unpacked twice, and at least a few MiB.
std::uint64_t block_rows(hid_t dataset, std::uint64_t row_bytes) {
  constexpr std::uint64_t kBlockBytes = std::uint64_t{8} << 20;
  const std::uint64_t rows = std::max<std::uint64_t>(1, kBlockBytes / std::max<std::uint64_t>(1, row_bytes));
  std::array<hsize_t, 2> chunk{1, 1};
  const ListHandle layout(H5Dget_create_plist(dataset));
  if (layout.valid() && H5Pget_layout(layout.get()) == H5D_CHUNKED) H5Pget_chunk(layout.get(), 2, chunk.data());
  const std::uint64_t step = std::max<std::uint64_t>(1, chunk[0]);
  return (rows + step - 1) / step * step;
}

/// Some columns of a matrix: blocks of whole rows, of which the columns are picked.
template <class T>
void read_matrix_columns(hid_t id, const Dataset& dataset, std::span<const std::size_t> selected, Points& points,
                         const Source& source) {
  const std::size_t width = dataset.available.count;
  const std::uint64_t block = std::min<std::uint64_t>(block_rows(id, width * sizeof(T)), points.size());
  Buffer<T> rows(checked_multiply(block, width, "values of a block"));
  const SpaceHandle space = check(SpaceHandle(H5Dget_space(id)), source, "reading the shape of the data set");
  const std::span<T> values = points.values<T>();
  for (std::uint64_t first = 0; first < points.size(); first += block) {
    const std::uint64_t count = std::min<std::uint64_t>(block, points.size() - first);
    const std::array<hsize_t, 2> start{first, 0};
    const std::array<hsize_t, 2> extent{count, width};
    const SpaceHandle memory =
        check(SpaceHandle(H5Screate_simple(2, extent.data(), nullptr)), source, "making a shape");
    check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr), source,
          "selecting rows");
    check(H5Dread(id, native_type(points.precision()), memory.get(), space.get(), H5P_DEFAULT, rows.data()), source,
          fmt::format("reading rows from {} on", first));
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < selected.size(); ++k) {
        values[(first + i) * selected.size() + k] = rows[i * width + selected[k]];
      }
    }
  }
}

/// Reads all rows of the selected columns straight into the points where the library can put them there.
void read_dataset(hid_t id, const Dataset& dataset, std::span<const std::size_t> selected, Points& points,
                  const Source& source) {
  if (points.size() == 0) return;
  bool is_whole = selected.size() == dataset.available.count;
  for (std::size_t k = 0; k < selected.size(); ++k) is_whole = is_whole && selected[k] == k;
  if (dataset.kind == Kind::numbers && !is_whole) {
    if (points.precision() == Precision::float32) {
      read_matrix_columns<float>(id, dataset, selected, points, source);
    } else {
      read_matrix_columns<double>(id, dataset, selected, points, source);
    }
    return;
  }
  const TypeHandle type = dataset.kind == Kind::table
                              ? row_type(dataset, selected, points.precision(), source)
                              : check(TypeHandle(H5Tcopy(native_type(points.precision()))), source, "copying a type");
  constexpr hid_t kWhole = 0;  // H5S_ALL, whose macro is an old-style cast
  check(H5Dread(id, type.get(), kWhole, kWhole, H5P_DEFAULT, bytes_of_points(points)), source, "reading the data set");
}

Points read_open_file(const std::filesystem::path& path, const Source& source) {
  const FileHandle file =
      check(FileHandle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)), source, "opening the HDF5 file");
  const std::string name = select_dataset(file.get(), source);
  const DatasetHandle id =
      check(DatasetHandle(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT)), source, "opening the data set " + name);
  const Dataset dataset = describe_dataset(id.get(), source);
  if (dataset.kind == Kind::other) {
    throw InputError(fmt::format("{}: the data set {} {}; choose another with --table", source.name, show_text(name),
                                 dataset.why_not));
  }
  const std::vector<std::size_t> selected = select_columns(source, dataset.available);
  bool single = dataset.kind == Kind::table || dataset.is_float32;
  if (dataset.kind == Kind::table) {
    for (const std::size_t i : selected) {
      if (!dataset.members[i].is_number) throw_not_numeric(source, dataset.available, i, dataset.members[i].type);
      single = single && dataset.members[i].is_float32;
    }
  }
  Points points = make_points(source, dataset.rows, selected.size(), single ? Precision::float32 : Precision::float64);
  points.column_names = selected_names(dataset.available, selected);
  points.column_numbers = selected;
  read_dataset(id.get(), dataset, selected, points, source);
  apply_nan_policy(points, source);
  return points;
}

}  // namespace

Points read_hdf5(const std::filesystem::path& file, const Source& source) {
  const Hdf5Session session;
  return read_open_file(file, source);
}

}  // namespace epsflow::io

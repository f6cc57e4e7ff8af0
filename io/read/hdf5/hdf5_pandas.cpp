#include <epsflow/io/read/hdf5/hdf5_pandas.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>
#include <epsflow/io/read/hdf5/pickle_strings.hpp>

namespace epsflow::io {
namespace {

std::string pandas_type(const Hdf5File& file, const std::string& group) {
  return read_text(file.open_group(group).get(), "pandas_type");
}

/// The items of an axis: texts of fixed length, or whole numbers. Empty for any other.
std::vector<std::string> read_items(const Hdf5File& file, const std::string& path) {
  constexpr hssize_t kMost = hssize_t{1} << 20;
  if (file.kind_of(path) != Hdf5File::Object::dataset) return {};
  const Source& source = file.source();
  const ObjectHandle id = file.open_dataset(path);
  const TypeHandle type = check(TypeHandle(H5Dget_type(id.get())), source, "reading the type of " + path);
  const SpaceHandle space = check(SpaceHandle(H5Dget_space(id.get())), source, "reading the shape of " + path);
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  if (count < 1 || count > kMost || H5Sget_simple_extent_ndims(space.get()) != 1) return {};
  std::vector<std::string> items;
  constexpr hid_t kWhole = 0;  // H5S_ALL, whose macro is an old-style cast
  if (is_sound_number(type.get()) && H5Tget_class(type.get()) == H5T_INTEGER) {
    std::vector<long long> numbers(static_cast<std::size_t>(count));
    check(H5Dread(id.get(), H5T_NATIVE_LLONG, kWhole, kWhole, H5P_DEFAULT, numbers.data()), source, "reading " + path);
    for (const long long number : numbers) items.push_back(std::to_string(number));
  } else if (H5Tget_class(type.get()) == H5T_STRING && H5Tis_variable_str(type.get()) == 0) {
    const std::size_t size = H5Tget_size(type.get());
    if (size > (std::size_t{1} << 16)) return {};
    std::string text(size * static_cast<std::size_t>(count), '\0');
    check(H5Dread(id.get(), type.get(), kWhole, kWhole, H5P_DEFAULT, text.data()), source, "reading " + path);
    for (std::size_t i = 0; i < text.size(); i += size) {
      items.emplace_back(text, i, std::min(size, std::min(text.find('\0', i), text.size()) - i));
    }
  }
  return items;
}

/// The name of value i of a data set or member, where the items say it.
std::string value_name(const std::vector<std::string>& items, std::uint64_t count, std::uint64_t i,
                       const std::string& fallback) {
  return items.size() == count ? items[static_cast<std::size_t>(i)] : fmt::format("{}[{}]", fallback, i);
}

/// Puts the columns into the order of the names, where these are the names of the columns.
void sort_columns(Hdf5Frame& frame, const std::vector<std::string>& order) {
  std::vector<std::size_t> places;
  for (const std::string& name : order) {
    const auto found = std::find(frame.available.names.begin(), frame.available.names.end(), name);
    if (found == frame.available.names.end()) return;
    places.push_back(static_cast<std::size_t>(found - frame.available.names.begin()));
  }
  std::vector<std::size_t> sorted = places;
  std::sort(sorted.begin(), sorted.end());
  if (places.size() != frame.columns.size() || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return;
  std::vector<Hdf5Frame::Column> columns;
  std::vector<std::string> names;
  for (const std::size_t place : places) {
    columns.push_back(frame.columns[place]);
    names.push_back(std::move(frame.available.names[place]));
  }
  frame.columns = std::move(columns);
  frame.available.names = std::move(names);
}

/// "fixed": a matrix per type of number, with the names of its columns beside it.
void add_blocks(const Hdf5File& file, const std::string& group, Hdf5Frame& frame) {
  for (std::size_t block = 0;; ++block) {
    const std::string path = fmt::format("{}/block{}_values", group, block);
    if (file.kind_of(path) != Hdf5File::Object::dataset) break;
    frame.datasets.push_back(describe_hdf5_dataset(file, path));
    Hdf5Dataset& dataset = frame.datasets.back();
    const std::vector<std::string> items = read_items(file, fmt::format("{}/block{}_items", group, block));
    if (!dataset.why_not.empty()) {
      // Texts are pickled; they may be there as long as they are not chosen.
      dataset.members.assign(1, {.elements = items.size(), .type = dataset.why_not});
      dataset.why_not.clear();
      dataset.rows = frame.datasets[0].rows;
    }
    if (dataset.rows != frame.datasets[0].rows) {
      throw InputError(fmt::format("{}: damaged: {} has {} rows, but the block before it {}; write the file again",
                                   file.source().name, show_text(path), dataset.rows, frame.datasets[0].rows));
    }
    const std::uint64_t count = dataset.members[0].elements;
    for (std::uint64_t i = 0; i < count; ++i) {
      add_column(frame, {.dataset = block, .first_element = i},
                 value_name(items, count, i, fmt::format("block{}_values", block)));
    }
  }
  sort_columns(frame, read_items(file, group + "/axis0"));
}

/// "table": a table whose members hold several columns each, with their pickled names as attributes.
void add_members(const Hdf5File& file, const std::string& group, Hdf5Frame& frame) {
  frame.datasets.push_back(describe_hdf5_dataset(file, group + "/table"));
  const Hdf5Dataset& dataset = frame.datasets[0];
  for (std::size_t i = 0; i < dataset.members.size(); ++i) {
    const Hdf5Member& member = dataset.members[i];
    if (member.name == "index") continue;
    if (!member.name.starts_with("values_block_")) {
      add_column(frame, {.member = i, .elements = member.elements}, member.name);
      continue;
    }
    const auto items = read_pickled_strings(read_text(dataset.id.get(), (member.name + "_kind").c_str()))
                           .value_or(std::vector<std::string>());
    const std::uint64_t count = member.is_number ? member.elements : std::max<std::uint64_t>(items.size(), 1);
    for (std::uint64_t k = 0; k < count; ++k) {
      add_column(frame, {.member = i, .first_element = k}, value_name(items, count, k, member.name));
    }
  }
  // [(1, [names in their order])]
  std::vector<std::string> order = read_pickled_strings(read_text(file.open_group(group).get(), "non_index_axes"))
                                       .value_or(std::vector<std::string>());
  if (!order.empty()) order.erase(order.begin());
  sort_columns(frame, order);
}

}  // namespace

bool is_pandas_frame(const Hdf5File& file, const std::string& group) {
  const std::string type = pandas_type(file, group);
  return type == "frame" || type == "frame_table";
}

Hdf5Frame frame_of_pandas(const Hdf5File& file, const std::string& group) {
  Hdf5Frame frame;
  frame.kind = "HDF5 data frame " + group;
  if (pandas_type(file, group) == "frame") {
    add_blocks(file, group, frame);
  } else {
    add_members(file, group, frame);
  }
  return frame;
}

}  // namespace epsflow::io

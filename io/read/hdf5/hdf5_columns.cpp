#include <epsflow/io/read/hdf5/hdf5_columns.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/element_columns.hpp>

namespace epsflow::io {
namespace {

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

Hdf5Member describe_number(hid_t type) {
  const H5T_class_t type_class = H5Tget_class(type);
  return {.is_number = is_sound_number(type),
          .is_float32 = type_class == H5T_FLOAT && H5Tget_size(type) == sizeof(float),
          .is_wide_integer = type_class == H5T_INTEGER && H5Tget_precision(type) > 53,
          .is_unsigned = type_class == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE,
          .type = std::string(class_name(type_class))};
}

Hdf5Member describe_member(hid_t table, unsigned number, const Source& source) {
  const std::unique_ptr<char, FreeHdf5> name(H5Tget_member_name(table, number));
  if (name == nullptr) throw_hdf5(source, "reading a member's name");
  const TypeHandle type = check(TypeHandle(H5Tget_member_type(table, number)), source, "reading a member's type");
  const std::size_t offset = H5Tget_member_offset(table, number);
  if (offset > H5Tget_size(table) || H5Tget_size(type.get()) > H5Tget_size(table) - offset) {
    throw source.error("damaged: the member {} lies outside of its table's rows; fetch the file again",
                       show_text(name.get()));
  }
  Hdf5Member member;
  if (H5Tget_class(type.get()) == H5T_ARRAY) {
    const TypeHandle base = check(TypeHandle(H5Tget_super(type.get())), source, "reading an array's type");
    const int axes = H5Tget_array_ndims(type.get());
    check(axes, source, "reading an array's type");
    member = describe_number(base.get());
    if (member.is_number) {
      member.extents.resize(static_cast<std::size_t>(axes));
      check(H5Tget_array_dims2(type.get(), member.extents.data()), source, "reading an array's type");
      for (const hsize_t extent : member.extents) member.elements = checked_multiply(member.elements, extent, "array");
    } else {
      member.type = "arrays of " + member.type;
    }
  } else {
    member = describe_number(type.get());
  }
  member.name = name.get();
  return member;
}

/// Applies netCDF's _Unsigned. Classic netCDF lacks unsigned integers, except bytes, and signed bytes; this attribute
/// declares that signed integers hold unsigned values, or unsigned bytes signed ones.
void describe_sign(Hdf5Dataset& dataset, hid_t type, const Source& source) {
  Hdf5Member& values = dataset.members[0];
  const std::string said = to_lower(trim(read_text(dataset.id.get(), "_Unsigned", true)));
  // The values are converted in place, in 8 bytes each.
  if (said != (values.is_unsigned ? "false" : "true") || H5Tget_class(type) != H5T_INTEGER || H5Tget_size(type) > 8) {
    return;
  }
  values.is_unsigned = !values.is_unsigned;
  dataset.netcdf_type.emplace(check(TypeHandle(H5Tcopy(type)), source, "copying a type"));
  check(H5Tset_sign(dataset.netcdf_type->get(), values.is_unsigned ? H5T_SGN_NONE : H5T_SGN_2), source,
        "applying _Unsigned");
}

/// Applies netCDF's conventions: the sign of integers, the values that mark missing ones, scale and offset.
void describe_packing(Hdf5Dataset& dataset, hid_t type, const Source& source) {
  describe_sign(dataset, type, source);
  const Hdf5Member& values = dataset.members[0];
  // These attributes have the sign of the stored type.
  const double turn = dataset.netcdf_type ? std::ldexp(1.0, static_cast<int>(H5Tget_precision(type))) : 0;
  for (const char* attribute : {"_FillValue", "missing_value"}) {
    for (double value : read_numbers(dataset.id.get(), attribute)) {
      if (values.is_unsigned && value < 0) value += turn;
      if (!values.is_unsigned && value >= turn / 2) value -= turn;
      dataset.missing.push_back(values.is_float32 ? static_cast<double>(static_cast<float>(value)) : value);
    }
  }
  if (const auto scale = read_numbers(dataset.id.get(), "scale_factor"); scale.size() == 1) dataset.scale = scale[0];
  if (const auto offset = read_numbers(dataset.id.get(), "add_offset"); offset.size() == 1) dataset.offset = offset[0];
}

/// True for an axis without values of its own, which only serves netCDF's bookkeeping.
bool is_bare_dimension(hid_t id) {
  return read_text(id, "CLASS") == "DIMENSION_SCALE" &&
         read_text(id, "NAME").starts_with("This is a netCDF dimension but not a netCDF variable");
}

/// The layout of a row in memory: which members are read, and at which slots their values begin.
struct ReadPlan {
  std::vector<std::size_t> members = {};       ///< members of the data set, in the order in which they are read
  std::vector<std::uint64_t> first_slot = {};  ///< first slot of each member
  std::uint64_t slots = 0;
};

/// Returns the type of a row in memory: numbers of one native type, in consecutive slots.
TypeHandle memory_type(const Hdf5Dataset& dataset, const ReadPlan& plan, hid_t number, const Source& source) {
  if (!dataset.is_table) return check(TypeHandle(H5Tcopy(number)), source, "copying a type");
  const std::size_t size = H5Tget_size(number);
  TypeHandle row =
      check(TypeHandle(H5Tcreate(H5T_COMPOUND, narrow<std::size_t>(plan.slots) * size)), source, "making a row type");
  for (std::size_t i = 0; i < plan.members.size(); ++i) {
    const Hdf5Member& member = dataset.members[plan.members[i]];
    const TypeHandle type =
        member.extents.empty() ? check(TypeHandle(H5Tcopy(number)), source, "copying a type")
                               : check(TypeHandle(H5Tarray_create2(number, static_cast<unsigned>(member.extents.size()),
                                                                   member.extents.data())),
                                       source, "making an array type");
    check(H5Tinsert(row.get(), member.name.c_str(), narrow<std::size_t>(plan.first_slot[i]) * size, type.get()), source,
          "making a row type");
  }
  return row;
}

/// Copies the values of one column from the rows just read.
template <class T>
void gather(const Hdf5Dataset& dataset, std::span<const T> rows, std::uint64_t slots, std::uint64_t slot,
            std::span<T> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = rows[i * slots + slot];
  for (const double missing : dataset.missing) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (rows[i * slots + slot] == static_cast<T>(missing)) to[i] = std::numeric_limits<T>::quiet_NaN();
    }
  }
}

template <class T>
void apply_scale(const Hdf5Dataset& dataset, std::span<T> to) {
  if (!dataset.is_scaled()) return;
  for (T& value : to) value = static_cast<T>(static_cast<double>(value) * dataset.scale + dataset.offset);
}

/// A chosen column and the coordinate that it becomes.
struct Target {
  const Hdf5Column* column = nullptr;
  std::uint64_t element = 0;
  std::size_t coordinate = 0;
  std::string label = {};  ///< the name of the column in errors
};

ReadPlan plan_of(const Hdf5Dataset& dataset, std::span<const Target> targets) {
  ReadPlan plan;
  for (const Target& target : targets) {
    const std::size_t member = target.column->member;
    if (std::find(plan.members.begin(), plan.members.end(), member) != plan.members.end()) continue;
    plan.members.push_back(member);
    plan.first_slot.push_back(plan.slots);
    plan.slots += dataset.members[member].elements;
  }
  return plan;
}

/// Throws InputError for an integer that float64 rounds, among the values of a column from row `first` on.
template <class Integer>
void require_exact_integers(const Hdf5Dataset& dataset, const Target& target, std::uint64_t first,
                            std::span<const double> values, const Source& source) {
  const ReadPlan plan = plan_of(dataset, std::span(&target, 1));
  const TypeHandle type = memory_type(dataset, plan, hdf5_type<Integer>().memory, source);
  Buffer<Integer> rows(checked_multiply(values.size(), plan.slots, "values of a block"));
  read_rows(dataset, type.get(), first, values.size(), rows.data(), source);
  const std::uint64_t slot = target.column->first_element + target.element;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Integer value = rows[i * plan.slots + slot];
    if (!may_be_rounded(values[i]) || is_exact(value)) continue;
    throw_rounded(source, fmt::format("row {}", first + i), target.label, std::to_string(value));
  }
}

/// As require_exact_integers(), but reads the file again only if a value may be rounded. Missing values are NaN here.
template <class T>
void require_exact(const Hdf5Dataset& dataset, const Target& target, std::uint64_t first, std::span<const T> values,
                   const Source& source) {
  if constexpr (std::is_same_v<T, double>) {
    const Hdf5Member& member = dataset.members[target.column->member];
    if (!member.is_wide_integer || std::none_of(values.begin(), values.end(), may_be_rounded)) return;
    member.is_unsigned ? require_exact_integers<std::uint64_t>(dataset, target, first, values, source)
                       : require_exact_integers<std::int64_t>(dataset, target, first, values, source);
  }
}

/// True if the rows of the data set are rows of the points.
bool is_point_layout(const Hdf5Dataset& dataset, std::span<const Target> targets, std::size_t dims) {
  if (dataset.is_table || dataset.is_scaled() || !dataset.missing.empty()) return false;
  if (targets.size() != dims || dataset.members[0].elements != dims) return false;
  for (std::size_t k = 0; k < dims; ++k) {
    if (targets[k].coordinate != k || targets[k].column->first_element + targets[k].element != k) return false;
  }
  return true;
}

template <class T>
void put_constant(const Hdf5Dataset& dataset, std::span<const Target> targets, const RowRange& rows,
                  ValueSink& points) {
  constexpr std::uint64_t kBlock = std::uint64_t{1} << 16;
  const std::vector<T> values(std::min(kBlock, rows.count), static_cast<T>(*dataset.constant));
  for (const Target& target : targets) {
    for (std::uint64_t first = rows.first; first < rows.end(); first += kBlock) {
      points.put_coordinate(first, target.coordinate,
                            std::span<const T>(values).first(std::min(kBlock, rows.end() - first)));
    }
  }
}

template <class T>
void read_dataset(const Hdf5Dataset& dataset, std::span<const Target> targets, std::size_t dims, ValueSink& points,
                  const Source& source) {
  const RowRange wanted = share_of(source.options, dataset.rows);
  if (wanted.count == 0) return;
  if (dataset.constant) return put_constant<T>(dataset, targets, wanted, points);
  const ReadPlan plan = plan_of(dataset, targets);
  const TypeHandle type = memory_type(dataset, plan, hdf5_type<T>().memory, source);
  const std::uint64_t block = std::min<std::uint64_t>(
      rows_per_block(dataset, checked_multiply(plan.slots, sizeof(T), "bytes of a row")), dataset.rows);
  const bool is_whole = is_point_layout(dataset, targets, dims);
  Buffer<T> buffer(checked_multiply(block, plan.slots, "values of a block"));
  Buffer<T> column(block);
  // Blocks begin at chunk boundaries.
  for (std::uint64_t first = wanted.first / block * block; first < wanted.end(); first += block) {
    const std::uint64_t count = std::min<std::uint64_t>(block, wanted.end() - first);
    const std::span<const T> rows = buffer.span().first(count * plan.slots);
    read_rows(dataset, type.get(), first, count, buffer.data(), source);
    const bool is_suspect = dataset.members[0].is_wide_integer && std::any_of(rows.begin(), rows.end(), may_be_rounded);
    if (is_whole && !is_suspect) {
      points.put_rows(first, rows);
      continue;
    }
    for (const Target& target : targets) {
      const auto member = std::find(plan.members.begin(), plan.members.end(), target.column->member);
      const std::uint64_t slot = plan.first_slot[static_cast<std::size_t>(member - plan.members.begin())] +
                                 target.column->first_element + target.element;
      const std::span<T> values = column.span().first(count);
      gather<T>(dataset, rows, plan.slots, slot, values);
      require_exact<T>(dataset, target, first, values, source);
      apply_scale(dataset, values);
      points.put_coordinate(first, target.coordinate, std::span<const T>(values));
    }
  }
}

std::vector<ElementChoice> choose_columns(const Hdf5Columns& all, const Source& source) {
  if (all.is_chosen) {
    std::vector<ElementChoice> chosen;
    for (std::size_t i = 0; i < all.columns.size(); ++i) chosen.push_back({i, 0, all.available.names[i]});
    return chosen;
  }
  if (!all.standard.empty() && source.options.columns.empty()) {
    ReadOptions options = source.options;
    options.columns = all.standard;
    return choose_columns(all, {.name = source.name, .options = options, .memory_taken = source.memory_taken});
  }
  return select_elements(source, all.available, [&](std::size_t column) { return all.columns[column].elements; });
}

/// Returns the sides of the box along the coordinates, 0 for a coordinate outside of the box; empty if none is in it.
std::vector<double> box_of_columns(const Hdf5Columns& all, std::span<const ElementChoice> chosen,
                                   const Source& source) {
  if (all.box.empty()) return {};
  std::vector<double> box;
  for (const ElementChoice& choice : chosen.first(chosen.size() - (source.options.weight.empty() ? 0 : 1))) {
    const auto at = std::find(all.standard.begin(), all.standard.end(), all.available.names[choice.column]);
    box.push_back(at == all.standard.end() ? 0 : all.box[static_cast<std::size_t>(at - all.standard.begin())]);
  }
  return std::all_of(box.begin(), box.end(), [](double side) { return side == 0; }) ? std::vector<double>() : box;
}

const Hdf5Member& member_of(const Hdf5Columns& all, const Hdf5Column& column) {
  return all.datasets[column.dataset].members[column.member];
}

}  // namespace

void read_rows(const Hdf5Dataset& dataset, hid_t type, std::uint64_t first, std::uint64_t count, void* rows,
               const Source& source) {
  const SpaceHandle space = check(SpaceHandle(H5Dget_space(dataset.id.get())), source, "reading the shape");
  const std::array<hsize_t, 2> start{first, 0};
  const std::array<hsize_t, 2> extent{count, dataset.is_table ? 1 : dataset.members[0].elements};
  const SpaceHandle memory =
      check(SpaceHandle(H5Screate_simple(dataset.axes, extent.data(), nullptr)), source, "making a shape");
  check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr), source,
        "selecting rows");
  const TypeHandle stored = check(TypeHandle(H5Dget_type(dataset.id.get())), source, "reading the type");
  const hid_t read = dataset.netcdf_type ? stored.get() : type;
  if (H5Dread(dataset.id.get(), read, memory.get(), space.get(), H5P_DEFAULT, rows) < 0) {
    throw_unread(dataset, source, fmt::format("reading {} from row {} on", dataset.path, first));
  }
  if (!dataset.netcdf_type) return;
  check(H5Tconvert(dataset.netcdf_type->get(), type, narrow<std::size_t>(extent[0] * extent[1]), rows, nullptr,
                   H5P_DEFAULT),
        source, "converting values");
}

Hdf5Dataset describe_hdf5_dataset(const Hdf5File& file, const std::string& path) {
  const Source& source = file.source();
  Hdf5Dataset dataset{.path = path, .id = file.open_dataset(path)};
  const TypeHandle type = check(TypeHandle(H5Dget_type(dataset.id.get())), source, "reading the type of a data set");
  const SpaceHandle space = check(SpaceHandle(H5Dget_space(dataset.id.get())), source, "reading a shape");
  dataset.axes = H5Sget_simple_extent_ndims(space.get());
  check(dataset.axes, source, "reading the shape of a data set");
  if (H5Sget_simple_extent_type(space.get()) != H5S_SIMPLE || dataset.axes < 1 || dataset.axes > 2) {
    dataset.why_not = fmt::format("has {} axes; points need one or two", dataset.axes);
    return dataset;
  }
  std::array<hsize_t, 2> extents{0, 1};
  check(H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr), source, "reading the shape of a data set");
  dataset.rows = extents[0];
  const H5T_class_t type_class = H5Tget_class(type.get());
  dataset.is_table = type_class == H5T_COMPOUND;
  if (dataset.is_table) {
    if (dataset.axes != 1) dataset.why_not = "is a table of two axes; points need one";
    const int count = H5Tget_nmembers(type.get());
    check(count, source, "counting the members of the table");
    for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
      dataset.members.push_back(describe_member(type.get(), i, source));
    }
    return dataset;
  }
  dataset.members.push_back(describe_number(type.get()));
  dataset.members[0].elements = extents[1];
  if (!dataset.members[0].is_number) {
    dataset.why_not = fmt::format("holds {}, not numbers", dataset.members[0].type);
    // A list of columns is not made if the width exceeds the limit for points.
  } else if (extents[1] > std::uint64_t{1} << 20) {
    dataset.why_not = fmt::format("has {}; points have at most {}", format_count(extents[1], "column"),
                                  format_count(kMaxDims, "dimension"));
  } else if (is_bare_dimension(dataset.id.get())) {
    dataset.why_not = "is a dimension of netCDF without values";
  }
  describe_packing(dataset, type.get(), source);
  return dataset;
}

void add_column(Hdf5Columns& all, const Hdf5Column& column, std::string name) {
  all.columns.push_back(column);
  all.available.names.push_back(std::move(name));
  all.available.count = all.columns.size();
}

Hdf5Columns columns_of_dataset(const Hdf5File& file, const std::string& path) {
  Hdf5Columns all;
  all.kind = "HDF5 data set " + path;
  all.datasets.push_back(describe_hdf5_dataset(file, path));
  const Hdf5Dataset& dataset = all.datasets[0];
  if (dataset.is_table) {
    for (std::size_t i = 0; i < dataset.members.size(); ++i) {
      add_column(all, {.member = i, .elements = dataset.members[i].elements}, dataset.members[i].name);
    }
  } else if (dataset.why_not.empty()) {
    all.available.count = narrow<std::size_t>(dataset.members[0].elements);
    for (std::size_t i = 0; i < all.available.count; ++i) all.columns.push_back({.first_element = i});
  }
  return all;
}

bool is_suitable(const Hdf5Columns& all, const Source& source) {
  const auto can_be_points = [](const Hdf5Dataset& dataset) { return dataset.why_not.empty(); };
  if (!std::all_of(all.datasets.begin(), all.datasets.end(), can_be_points)) return false;
  try {
    const std::vector<ElementChoice> chosen = choose_columns(all, source);
    return std::all_of(chosen.begin(), chosen.end(), [&](const ElementChoice& choice) {
      return member_of(all, all.columns[choice.column]).is_number;
    });
  } catch (const InputError&) {
    return false;
  }
}

void read_columns(const Hdf5Columns& all, const Hdf5File& file, std::uint64_t memory_taken, ValueSink& points) {
  const Source& source = file.source();
  for (const Hdf5Dataset& dataset : all.datasets) {
    if (dataset.why_not.empty()) continue;
    throw source.error("the data set {} {}; choose another with ReadOptions::table", show_text(dataset.path),
                       dataset.why_not);
  }
  std::string wide;
  if (all.datasets.size() == 1 && !all.datasets[0].is_table) {
    wide = describe_width(source, all.datasets[0].rows, all.columns.size());
  }
  std::vector<ElementChoice> chosen = choose_columns(all, source);
  std::vector<std::vector<Target>> targets(all.datasets.size());
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const Hdf5Column& column = all.columns[chosen[k].column];
    const Hdf5Member& member = member_of(all, column);
    if (!member.is_number) throw_not_numeric(source, all.available, chosen[k].column, member.type);
    chosen[k].is_float32 = member.is_float32 && !all.datasets[column.dataset].is_scaled();
    targets[column.dataset].push_back({&column, chosen[k].element, k, chosen[k].label()});
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!targets[i].empty() && !all.datasets[i].constant) require_written(all.datasets[i], source);
  }
  const Precision precision = precision_of(chosen);
  const bool has_masses = std::ranges::find(all.available.names, kMassColumn) != all.available.names.end();
  points.begin({.rows = all.datasets.empty() ? 0 : all.datasets[0].rows,
                .columns = chosen,
                .kind = all.kind + wide,
                .memory_taken = memory_taken,
                .box = box_of_columns(all, chosen, source),
                .has_masses = !all.standard.empty() && has_masses,
                .pieces = all.pieces});
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].empty()) continue;
    with_type(precision, [&](auto zero) {
      read_dataset<decltype(zero)>(all.datasets[i], targets[i], chosen.size(), points, source);
    });
  }
}

}  // namespace epsflow::io

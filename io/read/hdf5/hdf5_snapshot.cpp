#include <epsflow/io/read/hdf5/hdf5_snapshot.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <epsflow/core/format.hpp>

namespace epsflow::io {
namespace {

using Object = Hdf5File::Object;

constexpr std::size_t kLeastTypes = 6;  // SWIFT has 7
constexpr std::array<std::string_view, 3> kAxes{"x", "y", "z"};

std::string group_of(std::size_t type) { return fmt::format("/PartType{}", type); }

/// A number for each type of particle; 0 where the header has none.
double of_type(const std::vector<double>& numbers, std::size_t type) {
  return type < numbers.size() ? numbers[type] : 0;
}

/// The same as a count, whatever a damaged file says.
std::uint64_t count_of(const std::vector<double>& numbers, std::size_t type) {
  const double count = of_type(numbers, type);
  return count > 0 ? static_cast<std::uint64_t>(std::min(count, kMostExact)) : 0;
}

/// "gas, dark-matter": what the file or others of its snapshot have.
std::string types_of(const std::vector<double>& numbers) {
  std::string types;
  for (std::size_t type = 0; type < numbers.size(); ++type) {
    if (count_of(numbers, type) == 0) continue;
    types += fmt::format("{}{}", types.empty() ? "" : ", ", word_of(static_cast<Particles>(type)));
  }
  return types.empty() ? "none" : types;
}

/// What is one number for all particles.
Hdf5Dataset same_for_all(std::string path, std::uint64_t rows, double value) {
  Hdf5Dataset dataset{
      .path = std::move(path), .id = ObjectHandle(H5I_INVALID_HID), .axes = 1, .rows = rows, .constant = value};
  // Without rows it does not make float64 of the float32 of other files.
  dataset.members.push_back({.is_number = true, .is_float32 = rows == 0});
  return dataset;
}

void add_dataset(Hdf5Columns& all, Hdf5Dataset dataset, const std::string& name) {
  const std::size_t number = all.datasets.size();
  const std::uint64_t elements = dataset.members[0].elements;
  const bool is_velocity = name == "Velocities";
  if ((name == "Coordinates" || is_velocity) && elements == kAxes.size()) {
    for (std::size_t k = 0; k < kAxes.size(); ++k) {
      add_column(all, {.dataset = number, .first_element = k}, (is_velocity ? "v" : "") + std::string(kAxes[k]));
    }
  } else {
    add_column(all, {.dataset = number, .elements = elements}, name);
  }
  all.datasets.push_back(std::move(dataset));
}

void add_particles(Hdf5Columns& all, const Hdf5File& file, const std::string& group, std::uint64_t rows) {
  const Source& source = file.source();
  const std::string path = group + "/Coordinates";
  if (file.kind_of(path) != Object::dataset) throw source.error("a snapshot whose {} has no Coordinates", group);
  Hdf5Dataset positions = describe_hdf5_dataset(file, path);
  if (positions.why_not.empty() && (positions.is_table || positions.members[0].elements != kAxes.size())) {
    positions.why_not = "is no matrix of three columns";
  }
  if (!positions.why_not.empty()) throw source.error("a snapshot whose {} {}", path, positions.why_not);
  if (positions.rows != rows) {
    throw source.error("damaged: Header/NumPart_ThisFile tells of {}, but {} has {}; fetch the file again",
                       format_count(rows, "particle"), path, format_count(positions.rows, "row"));
  }
  add_dataset(all, std::move(positions), "Coordinates");
  for (const std::string& name : file.list(group)) {
    if (name == "Coordinates" || file.kind_of(group + "/" + name) != Object::dataset) continue;
    Hdf5Dataset dataset = describe_hdf5_dataset(file, group + "/" + name);
    if (!dataset.why_not.empty() || dataset.is_table || dataset.rows != rows) continue;
    add_dataset(all, std::move(dataset), name);
  }
}

/// The sides of the box; empty where it is not periodic.
std::vector<double> box_of(const Hdf5File& file, hid_t header) {
  std::vector<double> box = read_numbers(header, "BoxSize");
  if (box.size() == 1) box.resize(kAxes.size(), box[0]);
  if (box.size() != kAxes.size() || !std::ranges::all_of(box, [](double side) { return side > 0; })) return {};
  if (file.kind_of("/Parameters") != Object::group) return box;
  const std::string periodic = read_text(file.open_group("/Parameters").get(), "InitialConditions:periodic");
  return periodic == "0" ? std::vector<double>() : box;
}

}  // namespace

bool is_snapshot(const Hdf5File& file) {
  if (file.kind_of("/Header") != Object::group) return false;
  const ObjectHandle header = file.open_group("/Header");
  if (read_numbers(header.get(), "NumPart_ThisFile").size() < kLeastTypes) return false;
  const std::vector<double> total = read_numbers(header.get(), "NumPart_Total");
  return std::ranges::any_of(total, [](double n) { return n > 0; }) || [&] {
    for (std::size_t type = 0; type <= kLeastTypes; ++type) {
      if (file.kind_of(group_of(type)) == Object::group) return true;
    }
    return false;
  }();
}

Hdf5Columns columns_of_snapshot(const Hdf5File& file) {
  const Source& source = file.source();
  const ObjectHandle header = file.open_group("/Header");
  const std::vector<double> here = read_numbers(header.get(), "NumPart_ThisFile");
  const std::vector<double> total = read_numbers(header.get(), "NumPart_Total");
  const auto type = static_cast<std::size_t>(source.options.particles);
  const std::string_view word = word_of(source.options.particles);
  Hdf5Columns all;
  all.kind = fmt::format("{}snapshot, {} ({})", read_text(header.get(), "Code") == "SWIFT" ? "SWIFT " : "", word,
                         group_of(type).substr(1));
  all.standard = {kAxes.begin(), kAxes.end()};
  all.box = box_of(file, header.get());
  all.pieces = std::max<std::uint64_t>(1, count_of(read_numbers(header.get(), "NumFilesPerSnapshot"), 0));
  const std::uint64_t rows = count_of(here, type);
  if (rows == 0 && count_of(total, type) == 0) {
    throw source.error("a snapshot without particles of {}; ReadOptions::particles may choose from: {}",
                       word.size() == 1 ? "the type " + std::string(word) : std::string(word),
                       types_of(total.empty() ? here : total));
  }
  if (rows > 0) {
    add_particles(all, file, group_of(type), rows);
  } else {
    for (const char* name : {"x", "y", "z", "vx", "vy", "vz", "Masses"}) {
      add_dataset(all, same_for_all(group_of(type), 0, 0), name);
    }
  }
  const double mass = of_type(read_numbers(header.get(), "MassTable"), type);
  if (mass > 0 && std::ranges::find(all.available.names, kMassColumn) == all.available.names.end()) {
    add_dataset(all, same_for_all("/Header", rows, mass), std::string(kMassColumn));
  }
  return all;
}

}  // namespace epsflow::io

#include <epsflow/io/read/hdf5/hdf5_columns.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <epsflow/core/format.hpp>

namespace epsflow::io {
namespace {

constexpr std::size_t kLeastTypes = 6;
constexpr std::size_t kMostTypes = 7;  // SWIFT's
constexpr std::array<std::string_view, 3> kAxes{"x", "y", "z"};

std::string group_of(std::size_t type) { return fmt::format("/PartType{}", type); }

/// Returns the number for a type of particle; 0 if the header has none.
double of_type(const std::vector<double>& numbers, std::size_t type) {
  return type < numbers.size() ? numbers[type] : 0;
}

/// Returns the number for a type as a count. `attribute` is the attribute of the header that holds the numbers.
std::uint64_t count_of(const Source& source, const char* attribute, const std::vector<double>& numbers,
                       std::size_t type) {
  const double count = of_type(numbers, type);
  if (count >= 0 && count <= kMostExact && std::floor(count) == count) return static_cast<std::uint64_t>(count);
  throw source.error("damaged: Header/{} has {}, which is no count; fetch the file again", attribute, count);
}

/// Returns the number of particles of each type in all files of the snapshot.
std::vector<double> totals_of(hid_t header) {
  std::vector<double> total = read_numbers(header, "NumPart_Total");
  const std::vector<double> high = read_numbers(header, "NumPart_Total_HighWord");
  for (std::size_t type = 0; type < total.size(); ++type) total[type] += of_type(high, type) * 0x1p32;
  return total;
}

/// Returns the types of which there are particles, such as "gas, dark-matter".
std::string types_of(const std::vector<double>& numbers) {
  std::string types;
  for (std::size_t type = 0; type < std::min(numbers.size(), kMostTypes); ++type) {
    if (!(numbers[type] > 0)) continue;
    types += fmt::format("{}{}", types.empty() ? "" : ", ", word_of(static_cast<Particles>(type)));
  }
  return types.empty() ? "none" : types;
}

/// Returns a data set with the same value for all particles.
Hdf5Dataset same_for_all(std::string path, std::uint64_t rows, double value) {
  Hdf5Dataset dataset{
      .path = std::move(path), .id = ObjectHandle(H5I_INVALID_HID), .axes = 1, .rows = rows, .constant = value};
  // Without rows, it must not turn float32 points of other files into float64.
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

/// Throws InputError if the header states another number of particles than there are.
void require_rows(const Source& source, const Hdf5Dataset& positions, std::uint64_t rows) {
  if (positions.rows == rows) return;
  throw source.error("damaged: Header/NumPart_ThisFile tells of {}, but {} has {}; fetch the file again",
                     format_count(rows, "particle"), positions.path, format_count(positions.rows, "row"));
}

void add_particles(Hdf5Columns& all, const Hdf5File& file, const std::string& group, std::uint64_t rows) {
  const Source& source = file.source();
  const std::string path = group + "/Coordinates";
  if (file.kind_of(path) != Hdf5Object::dataset) throw source.error("a snapshot whose {} has no Coordinates", group);
  Hdf5Dataset positions = describe_hdf5_dataset(file, path);
  if (positions.why_not.empty() && (positions.is_table || positions.members[0].elements != kAxes.size())) {
    positions.why_not = "is no matrix of three columns";
  }
  if (!positions.why_not.empty()) throw source.error("a snapshot whose {} {}", path, positions.why_not);
  require_rows(source, positions, rows);
  add_dataset(all, std::move(positions), "Coordinates");
  for (const std::string& name : file.list(group)) {
    if (name == "Coordinates" || file.kind_of(group + "/" + name) != Hdf5Object::dataset) continue;
    Hdf5Dataset dataset = describe_hdf5_dataset(file, group + "/" + name);
    if (!dataset.why_not.empty() || dataset.is_table || dataset.rows != rows) continue;
    add_dataset(all, std::move(dataset), name);
  }
}

/// Adds columns without rows, for a file without particles of the type. Other files of its snapshot may have them; only
/// those determine which columns exist.
void add_no_particles(Hdf5Columns& all, const Hdf5File& file, const std::string& group) {
  const Source& source = file.source();
  const std::string path = group + "/Coordinates";
  if (file.kind_of(path) == Hdf5Object::dataset) require_rows(source, describe_hdf5_dataset(file, path), 0);
  std::vector<std::string> names{"x", "y", "z", "vx", "vy", "vz", std::string(kMassColumn)};
  std::vector<std::string> wanted = source.options.columns;
  wanted.push_back(source.options.weight);
  for (const std::string& name : wanted) {
    const bool is_name = !name.empty() && name[0] != '-' && (name[0] < '0' || name[0] > '9');
    if (is_name && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  for (const std::string& name : names) add_dataset(all, same_for_all(group, 0, 0), name);
}

/// Returns the sides of the box; empty if it is not periodic.
std::vector<double> box_of(const Hdf5File& file, hid_t header) {
  std::vector<double> box = read_numbers(header, "BoxSize");
  for (const double side : box) {
    if (std::isfinite(side)) continue;
    throw file.source().error("damaged: Header/BoxSize is {}; fetch the file again", side);
  }
  if (box.size() == 1) box.resize(kAxes.size(), box[0]);
  if (box.size() != kAxes.size() || !std::ranges::all_of(box, [](double side) { return side > 0; })) return {};
  if (file.kind_of("/Parameters") != Hdf5Object::group) return box;
  const std::string periodic = read_text(file.open_object("/Parameters").get(), "InitialConditions:periodic");
  return periodic == "0" ? std::vector<double>() : box;
}

}  // namespace

bool is_snapshot(const Hdf5File& file) {
  if (file.kind_of("/Header") != Hdf5Object::group) return false;
  const ObjectHandle header = file.open_object("/Header");
  if (read_numbers(header.get(), "NumPart_ThisFile").size() < kLeastTypes) return false;
  const std::vector<double> total = totals_of(header.get());
  return std::ranges::any_of(total, [](double n) { return n > 0; }) || [&] {
    for (std::size_t type = 0; type < kMostTypes; ++type) {
      if (file.kind_of(group_of(type)) == Hdf5Object::group) return true;
    }
    return false;
  }();
}

Hdf5Columns columns_of_snapshot(const Hdf5File& file) {
  const Source& source = file.source();
  const ObjectHandle header = file.open_object("/Header");
  const std::vector<double> here = read_numbers(header.get(), "NumPart_ThisFile");
  const std::vector<double> total = totals_of(header.get());
  const auto type = static_cast<std::size_t>(source.options.particles);
  const std::string_view word = word_of(source.options.particles);
  Hdf5Columns all;
  all.kind = fmt::format("{}snapshot, {} ({})", read_text(header.get(), "Code") == "SWIFT" ? "SWIFT " : "", word,
                         group_of(type).substr(1));
  all.standard = {kAxes.begin(), kAxes.end()};
  all.box = box_of(file, header.get());
  all.pieces = std::max<std::uint64_t>(
      1, count_of(source, "NumFilesPerSnapshot", read_numbers(header.get(), "NumFilesPerSnapshot"), 0));
  const std::uint64_t rows = count_of(source, "NumPart_ThisFile", here, type);
  const std::uint64_t in_all = count_of(source, "NumPart_Total", total, type);
  if (rows > 0) {
    add_particles(all, file, group_of(type), rows);
  } else {
    add_no_particles(all, file, group_of(type));
  }
  if (rows == 0 && in_all == 0) {
    throw source.error("a snapshot without particles of {}; ReadOptions::particles may choose from: {}",
                       word.size() == 1 ? "the type " + std::string(word) : std::string(word),
                       types_of(total.empty() ? here : total));
  }
  const double mass = of_type(read_numbers(header.get(), "MassTable"), type);
  if (mass > 0 && std::ranges::find(all.available.names, kMassColumn) == all.available.names.end()) {
    add_dataset(all, same_for_all("/Header", rows, mass), std::string(kMassColumn));
  }
  return all;
}

}  // namespace epsflow::io

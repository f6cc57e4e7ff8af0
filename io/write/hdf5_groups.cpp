#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/io/write/hdf5_output.hpp>
#include <epsflow/io/write/table_writers.hpp>

namespace epsflow::io {
namespace {

constexpr int kTypes = 7;             // of particles
constexpr double kCgsVelocity = 1e5;  // km/s: units of time follow from it

/// An attribute of one axis, as SWIFT has even single numbers.
template <class T>
void add_list(const Hdf5Output& out, hid_t object, const char* name, std::vector<T> values, hid_t memory_type,
              hid_t file_type) {
  const hsize_t count = values.size();
  const SpaceHandle space(out.check(H5Screate_simple(1, &count, nullptr)));
  const AttributeHandle attribute(
      out.check(H5Acreate2(object, name, file_type, space.get(), H5P_DEFAULT, H5P_DEFAULT)));
  out.check(H5Awrite(attribute.get(), memory_type, values.data()));
}

void add_reals(const Hdf5Output& out, hid_t object, const char* name, std::vector<double> values) {
  add_list(out, object, name, std::move(values), H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE);
}

void add_integers(const Hdf5Output& out, hid_t object, const char* name, std::vector<std::int64_t> values) {
  add_list(out, object, name, std::move(values), H5T_NATIVE_INT64, H5T_STD_I64LE);
}

ObjectHandle make_group(const Hdf5Output& out, const char* name) {
  return ObjectHandle(out.check(H5Gcreate2(out.file(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
}

void write_header(const Hdf5Output& out, const SwiftGroups& groups) {
  const ObjectHandle header = make_group(out, "Header");
  const hid_t id = header.get();
  const auto count = static_cast<std::int64_t>(groups.sizes.size());
  add_reals(out, id, "BoxSize", {groups.box.begin(), groups.box.end()});
  add_integers(out, id, "Dimension", {3});
  add_reals(out, id, "Redshift", {0});
  add_reals(out, id, "Scale-factor", {1});
  add_reals(out, id, "Time", {0});
  add_integers(out, id, "NumFilesPerSnapshot", {1});
  add_integers(out, id, "ThisFile", {0});
  add_integers(out, id, "Virtual", {0});
  add_reals(out, id, "MassTable", std::vector<double>(kTypes));
  for (const char* name : {"NumPart_ThisFile", "NumPart_Total", "NumPart_Total_HighWord"}) {
    add_integers(out, id, name, std::vector<std::int64_t>(kTypes));
  }
  add_integers(out, id, "NumGroups_Total", {count});
  add_integers(out, id, "NumGroups_ThisFile", {count});
  for (const auto& [name, text] :
       {std::pair("Code", "epsflow"), std::pair("RunName", "epsflow"), std::pair("System", ""),
        std::pair("OutputType", "FOF"), std::pair("SelectOutput", "Default"),
        std::pair("SnapshotDate", "00:00:00 1970-01-01 UTC")}) {
    out.attribute(id, name, std::string(text));
  }
}

void write_units(const Hdf5Output& out, const SwiftGroups& groups) {
  for (const char* name : {"Units", "InternalCodeUnits"}) {
    const ObjectHandle units = make_group(out, name);
    add_reals(out, units.get(), "Unit mass in cgs (U_M)", {groups.mass_unit});
    add_reals(out, units.get(), "Unit length in cgs (U_L)", {groups.length_unit});
    add_reals(out, units.get(), "Unit time in cgs (U_t)", {groups.length_unit / kCgsVelocity});
    add_reals(out, units.get(), "Unit current in cgs (U_I)", {1});
    add_reals(out, units.get(), "Unit temperature in cgs (U_T)", {1});
  }
  add_integers(out, make_group(out, "Cosmology").get(), "Cosmological run", {0});
  (void)make_group(out, "Code");
  (void)make_group(out, "Parameters");
}

/// mass, length: exponents of a field's units.
void describe_field(const Hdf5Output& out, hid_t field, const SwiftGroups& groups, int mass, int length,
                    const char* description) {
  const auto exponent = [&](const char* name, int power) {
    add_list(out, field, name, std::vector<float>{static_cast<float>(power)}, H5T_NATIVE_FLOAT, H5T_IEEE_F32LE);
  };
  exponent("U_M exponent", mass);
  exponent("U_L exponent", length);
  for (const char* name : {"U_t exponent", "U_I exponent", "U_T exponent", "h-scale exponent"}) exponent(name, 0);
  exponent("a-scale exponent", length);
  const double factor = (mass != 0 ? groups.mass_unit : 1) * (length != 0 ? groups.length_unit : 1);
  add_reals(out, field, "Conversion factor to CGS (not including cosmological corrections)", {factor});
  add_reals(out, field, "Conversion factor to physical CGS (including cosmological corrections)", {factor});
  out.attribute(field, "Description", std::string(description));
  out.attribute(field, "Lossy compression filter", std::string("None"));
}

void write_fields(const Hdf5Output& out, const SwiftGroups& groups) {
  const hsize_t count = groups.sizes.size();
  (void)make_group(out, "Groups");
  const auto integers = [&](const char* name, std::span<const std::int64_t> values, const char* description) {
    const DatasetHandle set = out.write(name, values, H5T_NATIVE_INT64, H5T_STD_I64LE);
    describe_field(out, set.get(), groups, 0, 0, description);
  };
  const DatasetHandle masses = out.write("Groups/Masses", groups.masses, H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE);
  describe_field(out, masses.get(), groups, 1, 0, "FOF group masses");
  const std::array<hsize_t, 2> shape{count, 3};
  const SpaceHandle space(out.check(H5Screate_simple(2, shape.data(), nullptr)));
  const DatasetHandle centres(out.check(H5Dcreate2(out.file(), "Groups/Centres", H5T_IEEE_F64LE, space.get(),
                                                   H5P_DEFAULT, out.layout().get(), H5P_DEFAULT)));
  if (count > 0) {
    out.check(H5Dwrite(centres.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, groups.centres.data()));
  }
  describe_field(out, centres.get(), groups, 0, 1, "FOF group centres of mass");
  std::vector<std::int64_t> numbers(count);
  for (std::size_t g = 0; g < count; ++g) numbers[g] = static_cast<std::int64_t>(g) + 1;
  integers("Groups/GroupIDs", numbers, "FOF group IDs");
  integers("Groups/Sizes", groups.sizes, "FOF group length (number of particles)");
}

}  // namespace

void write_swift_groups(const std::filesystem::path& target, const SwiftGroups& groups, Overwrite overwrite) {
  if (groups.masses.size() != groups.sizes.size() || groups.centres.size() != 3 * groups.sizes.size()) {
    throw UsageError("SWIFT's catalogue has a mass, three coordinates of the centre and a size for each group");
  }
  write_atomically(target, overwrite, [&](const std::filesystem::path& temporary) {
    const Hdf5Session session;
    Hdf5Output out(temporary, target);
    write_header(out, groups);
    write_units(out, groups);
    write_fields(out, groups);
    out.close();
  });
}

}  // namespace epsflow::io

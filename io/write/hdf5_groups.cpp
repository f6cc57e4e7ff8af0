#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/io/write/hdf5_output.hpp>
#include <epsflow/io/write/hdf5_writer.hpp>

namespace epsflow::io {
namespace {

constexpr int kTypes = 7;             // types of particles
constexpr double kCgsVelocity = 1e5;  // km/s; the units of time follow from it

using Reals = std::vector<double>;
using Integers = std::vector<std::int64_t>;  // SWIFT stores single numbers as lists, too

ObjectHandle make_group(const Hdf5Output& out, const char* name) {
  return ObjectHandle(out.check(H5Gcreate2(out.file(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
}

void write_header(const Hdf5Output& out, const SwiftGroups& groups) {
  const ObjectHandle header = make_group(out, "Header");
  const hid_t id = header.get();
  const auto count = static_cast<std::int64_t>(groups.sizes.size());
  out.attribute(id, "BoxSize", Reals{groups.box.begin(), groups.box.end()});
  out.attribute(id, "Dimension", Integers{3});
  out.attribute(id, "Redshift", Reals{0});
  out.attribute(id, "Scale-factor", Reals{1});
  out.attribute(id, "Time", Reals{0});
  out.attribute(id, "NumFilesPerSnapshot", Integers{1});
  out.attribute(id, "ThisFile", Integers{0});
  out.attribute(id, "Virtual", Integers{0});
  out.attribute(id, "MassTable", Reals(kTypes));
  for (const char* name : {"NumPart_ThisFile", "NumPart_Total", "NumPart_Total_HighWord"}) {
    out.attribute(id, name, Integers(kTypes));
  }
  out.attribute(id, "NumGroups_Total", Integers{count});
  out.attribute(id, "NumGroups_ThisFile", Integers{count});
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
    out.attribute(units.get(), "Unit mass in cgs (U_M)", Reals{groups.mass_unit});
    out.attribute(units.get(), "Unit length in cgs (U_L)", Reals{groups.length_unit});
    out.attribute(units.get(), "Unit time in cgs (U_t)", Reals{groups.length_unit / kCgsVelocity});
    out.attribute(units.get(), "Unit current in cgs (U_I)", Reals{1});
    out.attribute(units.get(), "Unit temperature in cgs (U_T)", Reals{1});
  }
  out.attribute(make_group(out, "Cosmology").get(), "Cosmological run", Integers{0});
  (void)make_group(out, "Code");
  (void)make_group(out, "Parameters");
}

/// Writes a field with its units: masses, lengths or plain numbers.
template <class T>
void write_field(const Hdf5Output& out, const SwiftGroups& groups, const std::string& name, std::span<const T> values,
                 const std::string& description) {
  const bool mass = name == "Masses";
  const bool length = name == "Centres";
  const DatasetHandle set = out.write(("Groups/" + name).c_str(), values, length ? 3 : 0);
  const hid_t field = set.get();
  const auto exponent = [&](const char* unit, bool has) {
    out.attribute(field, unit, std::vector<float>{has ? 1.0F : 0.0F});
  };
  exponent("U_M exponent", mass);
  exponent("U_L exponent", length);
  for (const char* unit : {"U_t exponent", "U_I exponent", "U_T exponent", "h-scale exponent"}) exponent(unit, false);
  exponent("a-scale exponent", length);
  const double factor = mass ? groups.mass_unit : length ? groups.length_unit : 1;
  out.attribute(field, "Conversion factor to CGS (not including cosmological corrections)", Reals{factor});
  out.attribute(field, "Conversion factor to physical CGS (including cosmological corrections)", Reals{factor});
  out.attribute(field, "Description", description);
  out.attribute(field, "Lossy compression filter", std::string("None"));
}

void write_fields(const Hdf5Output& out, const SwiftGroups& groups) {
  (void)make_group(out, "Groups");
  Integers numbers(groups.sizes.size());
  std::iota(numbers.begin(), numbers.end(), 1);
  write_field(out, groups, "Masses", groups.masses, "FOF group masses");
  write_field(out, groups, "Centres", groups.centres, "FOF group centres of mass");
  write_field<std::int64_t>(out, groups, "GroupIDs", numbers, "FOF group IDs");
  write_field(out, groups, "Sizes", groups.sizes, "FOF group length (number of particles)");
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

#include <epsflow/io/read/readers.hpp>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <hdf5.h>

#include <epsflow/io/read_points.hpp>

#include "io/hdf5_samples.hpp"
#include "io/io_test.hpp"
#include "io/shares.hpp"

namespace epsflow::io::test {
namespace {

/// Positions of gas and dark matter, written as by Gadget-4: the header has one mass for all dark matter.
struct Sample {
  Values gas = {};
  Values dark = {1, 2, 3, 4, 5, 6};
  Values box = {10};
  Values in_all = {};  ///< header's counts in all files; empty: the counts in this file
  Values high = {};    ///< high words of the counts in all files
  Values said = {};    ///< wrong header counts of this file; empty: the correct ones
  double files = 1;
};

/// more: writes what else the file has.
void write(const std::filesystem::path& file, const Sample& sample, hid_t type = H5T_IEEE_F32LE,
           void (*more)(Hdf5Writer&) = nullptr) {
  Hdf5Writer out(file);
  if (more != nullptr) more(out);
  const auto n = [](const Values& positions) { return static_cast<double>(positions.size() / 3); };
  const Values here{n(sample.gas), n(sample.dark), 0, 0, 0, 0};
  out.group("/Header");
  out.numbers("/Header", "NumPart_ThisFile", sample.said.empty() ? here : sample.said);
  out.numbers("/Header", "NumPart_Total", sample.in_all.empty() ? here : sample.in_all);
  if (!sample.high.empty()) out.numbers("/Header", "NumPart_Total_HighWord", sample.high);
  out.numbers("/Header", "MassTable", {0, 0.5, 0, 0, 0, 0});
  out.numbers("/Header", "BoxSize", sample.box);
  out.number("/Header", "NumFilesPerSnapshot", H5T_STD_I32LE, sample.files);
  for (const auto& [group, positions] : {std::pair("/PartType0", &sample.gas), std::pair("/PartType1", &sample.dark)}) {
    const hsize_t rows = positions->size() / 3;
    if (rows == 0) continue;
    const std::string path(group);
    Values velocities;
    Values ids;
    for (const double x : *positions) velocities.push_back(-x);
    for (std::size_t i = 0; i < rows; ++i) ids.push_back(static_cast<double>(i) + 7);
    out.matrix((path + "/Coordinates").c_str(), type, {rows, 3}, *positions, rows > 1);
    out.matrix((path + "/Velocities").c_str(), type, {rows, 3}, velocities);
    out.matrix((path + "/ParticleIDs").c_str(), H5T_STD_U64LE, {rows}, ids);
    if (path == "/PartType0") out.matrix("/PartType0/Masses", type, {rows}, Values(rows, 0.25));
  }
}

TEST_CASE("snapshot: dark matter is read, with the box and the columns of its particles") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "snapshot.hdf5";
  write(file, {.gas = {9, 8, 7}});
  const FilePoints points = read_points(file);
  CHECK(values_of(points) == Values{1, 2, 3, 4, 5, 6});
  CHECK(points.precision() == Precision::float32);
  CHECK(points.column_names == Names{"x", "y", "z"});
  CHECK(points.box == Values{10, 10, 10});
  CHECK(points.has_masses);
  CHECK(points.inputs[0].kind == "snapshot, dark-matter (PartType1)");
  CHECK(points.inputs[0].pieces == 1);
  const FilePoints gas = read_points(file, {.weight = "Masses", .particles = Particles::gas});
  CHECK(values_of(gas) == Values{9, 8, 7});
  CHECK(gas.weights == Values{0.25});
  CHECK(gas.precision() == Precision::float32);
  CHECK(gas.box == Values{10, 10, 10});
}

TEST_CASE("snapshot: masses of the header, other columns, a projection, and paths as in any file") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "snapshot.hdf5";
  write(file, {.box = {10, 20, 30}});
  const FilePoints weighted = read_points(file, {.weight = "Masses"});
  CHECK(weighted.weights == Values{0.5, 0.5});
  CHECK(values_of(weighted) == Values{1, 2, 3, 4, 5, 6});
  CHECK(values_of(read_points(file, {.columns = {"vx", "ParticleIDs"}})) == Values{-1, 7, -4, 8});
  CHECK(read_points(file, {.columns = {"vx", "ParticleIDs"}}).box.empty());
  const FilePoints flat = read_points(file, {.columns = {"z", "vx", "x"}});
  CHECK(values_of(flat) == Values{3, -1, 1, 6, -4, 4});
  CHECK(flat.box == Values{30, 0, 10});
  const FilePoints named = read_points(file, {.table = "/PartType1/Coordinates"});
  CHECK(values_of(named) == Values{1, 2, 3, 4, 5, 6});
  CHECK(named.box.empty());
  CHECK(read_points(file, {.columns = {"/PartType1/ParticleIDs"}}).box.empty());
  CHECK(read_columns({file}, {}, {"Masses", "vz"}, weighted).values == std::vector<Values>{{0.5, 0.5}, {-3, -6}});
}

TEST_CASE("snapshot: several files, of which one has none of the particles, and shares") {
  const TempFolder folder;
  const Paths files{folder / "snap.0.hdf5", folder / "snap.1.hdf5", folder / "snap.2.hdf5"};
  const Values total{1, 3, 0, 0, 0, 0};
  write(files[0], {.in_all = total, .files = 3});
  write(files[1], {.gas = {1, 1, 1}, .dark = {}, .in_all = total, .files = 3});
  write(files[2], {.dark = {7, 8, 9}, .in_all = total, .files = 3});
  const FilePoints points = read_points(files, {.weight = "Masses"});
  CHECK(values_of(points) == Values{1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(points.weights == Values{0.5, 0.5, 0.5});
  CHECK(points.precision() == Precision::float32);
  CHECK(points.box == Values{10, 10, 10});
  CHECK(points.has_masses);
  CHECK(points.inputs[1].rows == 0);
  CHECK(points.inputs[1].pieces == 3);
  check_shares(files[0], {.weight = "Masses"});
  const FilePoints named = read_points(files, {.columns = {"x", "ParticleIDs"}, .weight = "vz"});
  CHECK(values_of(named) == Values{1, 7, 4, 8, 7, 7});
  CHECK(named.weights == Values{-3, -6, -9});
  check_mentions(refusal(files, {.columns = {"x", "Density"}}), {"Density"});
}

TEST_CASE("snapshot: more particles than 32 bits count, of which one file has none") {
  const TempFolder folder;
  const Values none(6, 0);
  write(folder / "a.hdf5", {.gas = {1, 1, 1}, .dark = {}, .in_all = none, .high = {0, 1, 0, 0, 0, 0}});
  CHECK(read_points(folder / "a.hdf5").size() == 0);
}

TEST_CASE("snapshot: counts and boxes that cannot be") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "a.hdf5";
  const Values total{0, 2, 0, 0, 0, 0};
  const auto says = [&](const Sample& sample) {
    write(file, sample);
    return refusal(file);
  };
  check_mentions(says({.in_all = total, .said = {0, 0, 0, 0, 0, 0}}),
                 {"a.hdf5: damaged", "NumPart_ThisFile", "0 particles", "2 rows", "fetch the file again"});
  for (const double count : {-5.0, std::nan(""), 1.5, HUGE_VAL}) {
    CAPTURE(count);
    const Values counts{0, count, 0, 0, 0, 0};
    check_mentions(says({.in_all = total, .said = counts}), {"a.hdf5: damaged", "Header/NumPart_ThisFile", "no count"});
    check_mentions(says({.in_all = counts}), {"a.hdf5: damaged", "Header/NumPart_Total", "no count"});
    if (count != 1.5)
      check_mentions(says({.box = {10, 10, count < 0 ? -HUGE_VAL : count}}), {"a.hdf5: damaged", "Header/BoxSize"});
  }
  check_mentions(says({.files = -1}), {"a.hdf5: damaged", "Header/NumFilesPerSnapshot", "no count"});
  Values many(20, 0);
  many[9] = 1;
  check_mentions(says({.dark = {}, .in_all = many}), {"choose from: none"});
}

TEST_CASE("snapshot: no box where it is open, and a SWIFT file that says so") {
  const TempFolder folder;
  write(folder / "open.hdf5", {.box = {0}});
  CHECK(read_points(folder / "open.hdf5").box.empty());
  write(folder / "swift.hdf5", {}, H5T_IEEE_F64LE, [](Hdf5Writer& out) {
    out.group("/Parameters");
    out.text("/Parameters", "InitialConditions:periodic", "0");
  });
  const FilePoints points = read_points(folder / "swift.hdf5");
  CHECK(points.box.empty());
  CHECK(points.precision() == Precision::float64);
}

TEST_CASE("snapshot: what cannot be read is said") {
  const TempFolder folder;
  write(folder / "a.hdf5", {});
  write(folder / "b.hdf5", {.box = {11}});
  check_mentions(refusal(folder / "a.hdf5", {.particles = Particles::stars}),
                 {"a.hdf5", "stars", "ReadOptions::particles", "dark-matter"});
  check_mentions(refusal(folder / "a.hdf5", {.columns = {"Density"}}), {"Density", "x, y, z", "ParticleIDs", "Masses"});
  check_mentions(refusal({folder / "a.hdf5", folder / "b.hdf5"}), {"b.hdf5", "a.hdf5", "different boxes"});
  check_mentions(
      refusal<UsageError>(folder / "a.hdf5", {.table = "/PartType1/Coordinates", .particles = Particles::gas}),
      {"/PartType1/Coordinates", "ReadOptions::particles"});
  Hdf5Writer(folder / "plain.h5").matrix("/points", H5T_IEEE_F64LE, {1, 2}, {1, 2});
  check_mentions(refusal<UsageError>(folder / "plain.h5", {.particles = Particles::gas}),
                 {"/points", "no snapshot", "ReadOptions::particles"});
  {
    Hdf5Writer out(folder / "short.hdf5");
    out.group("/Header");
    out.numbers("/Header", "NumPart_ThisFile", {0, 3, 0, 0, 0, 0});
    out.matrix("/PartType1/Coordinates", H5T_IEEE_F64LE, {2, 3}, {1, 2, 3, 4, 5, 6});
    out.matrix("/PartType4/Masses", H5T_IEEE_F64LE, {2}, {1, 2});
  }
  check_mentions(refusal(folder / "short.hdf5"), {"short.hdf5", "3 particles", "2 rows", "NumPart_ThisFile"});
  {
    Hdf5Writer out(folder / "flat.hdf5");
    out.group("/Header");
    out.numbers("/Header", "NumPart_ThisFile", {0, 2, 0, 0, 1, 0});
    out.matrix("/PartType1/Coordinates", H5T_IEEE_F64LE, {2, 2}, {1, 2, 3, 4});
    out.matrix("/PartType4/Masses", H5T_IEEE_F64LE, {1}, {1});
  }
  check_mentions(refusal(folder / "flat.hdf5"), {"Coordinates", "three columns"});
  check_mentions(refusal(folder / "flat.hdf5", {.particles = Particles::stars}), {"/PartType4", "no Coordinates"});
}

}  // namespace
}  // namespace epsflow::io::test

// Binary files lose their end or have a bit flipped. text_damage_test.cpp tests text.
#include <string>
#include <vector>

#include "io/damage_checks.hpp"

#include <epsflow/io/write/hdf5_writer.hpp>
#include <epsflow/io/write_labels.hpp>

namespace epsflow::io::test {
namespace {

std::vector<DamageSample> samples() {
  const TempFolder folder;
  Values values(900);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.25 * static_cast<double>(i * 7919 % 1000) + 1;
  VariantResult result{{0.5, 2}, std::vector<std::int32_t>(700), {}, 0.1};
  for (std::size_t i = 0; i < result.labels.size(); ++i) result.labels[i] = static_cast<std::int32_t>(i % 13) - 1;
  std::string raw;
  for (const double value : values) raw += bytes_of_value(value);
  write_points(folder / "points.npy", PointsView(values, 3), {}, Overwrite::refuse);
  std::vector<DamageSample> list{{"points.npy", bytes_of_file(folder / "points.npy")},
                                 {"points.f64", raw, {.raw = {.dims = 3}}, false}};
  for (const auto& [format, name] : {std::pair{"FITS", "labels.fits"}, {"HDF5", "labels.h5"}}) {
    if (!has_format(format)) continue;
    write_labels(folder / name, result, Overwrite::refuse);
    list.push_back({name, bytes_of_file(folder / name)});
  }
  return list;
}

}  // namespace

TEST_CASE("damage: a truncated binary file is an error, or all of its points are there") { check_truncated(samples()); }

TEST_CASE("damage: a flipped bit in a binary file is an error, or leaves the number of rows") {
  check_flipped(samples(), 1000, 5);
}

}  // namespace epsflow::io::test

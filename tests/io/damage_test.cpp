// Binary files lose their end or have a bit flipped. A reader must throw an error, or return points that look correct.
// text_damage_test.cpp tests text.
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "io/io_test.hpp"
#include "support/damage.hpp"

#include <epsflow/io/read_points.hpp>
#include <epsflow/io/write/hdf5_writer.hpp>
#include <epsflow/io/write_labels.hpp>

namespace epsflow::io::test {
namespace {

using epsflow::test::flip_bits;
using epsflow::test::truncate_everywhere;
using Values = std::vector<double>;

struct Sample {
  std::string name;  ///< name of the file that is damaged
  std::function<void(const std::filesystem::path&)> write;
  ReadOptions options = {};
  bool says_its_size = true;  ///< false for raw files: any number of whole rows is valid
};

std::vector<Sample> samples() {
  Values values(900);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.25 * static_cast<double>(i * 7919 % 1000) + 1;
  VariantResult result{{0.5, 2}, std::vector<std::int32_t>(700), {}, 0.1};
  for (std::size_t i = 0; i < result.labels.size(); ++i) result.labels[i] = static_cast<std::int32_t>(i % 13) - 1;
  const auto write_matrix = [values](const std::filesystem::path& file) {
    write_points(file, PointsView(values, 3), {}, Overwrite::replace);
  };
  const auto write_column = [result](const std::filesystem::path& file) {
    write_labels(file, result, Overwrite::replace);
  };
  const auto write_raw = [values](const std::filesystem::path& file) {
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(8 * values.size()));
  };
  std::vector<Sample> list{{"points.npy", write_matrix}, {"points.f64", write_raw, {.raw = {.dims = 3}}, false}};
  if (has_format("FITS")) list.push_back({"labels.fits", write_column});
  if (has_format("HDF5")) list.push_back({"labels.h5", write_column});
  return list;
}

/// Returns a function that reads damaged bytes through a file with the sample's name.
auto reader_of(const Sample& sample, const TempFolder& folder) {
  return [&sample, &folder](const std::string& bytes) {
    return read_points(folder.write("damaged_" + sample.name, bytes), sample.options);
  };
}

}  // namespace

TEST_CASE("damage: a truncated binary file is an error, or all of its points are there") {
  const TempFolder folder;
  for (const Sample& sample : samples()) {
    CAPTURE(sample.name);
    const std::filesystem::path file = folder / sample.name;
    sample.write(file);
    const std::string bytes = bytes_of_file(file);
    const Values all = values_of(read_points(file, sample.options));
    const auto is_right = [&](const FilePoints& points, const std::string& cut) {
      const Values values = values_of(points);
      if (sample.says_its_size) return values == all;
      return values.size() * sizeof(double) == cut.size() && std::equal(values.begin(), values.end(), all.begin());
    };
    truncate_everywhere(bytes, reader_of(sample, folder), is_right);
  }
}

TEST_CASE("damage: a flipped bit in a binary file is an error, or leaves the number of rows") {
  const TempFolder folder;
  for (const Sample& sample : samples()) {
    CAPTURE(sample.name);
    const std::filesystem::path file = folder / sample.name;
    sample.write(file);
    const std::string bytes = bytes_of_file(file);
    const FilePoints whole = read_points(file, sample.options);
    const auto keeps_rows = [&](const FilePoints& points, const std::string&) { return points.size() == whole.size(); };
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      flip_bits(bytes, reader_of(sample, folder), keeps_rows, 1000, seed);
    }
  }
}

}  // namespace epsflow::io::test

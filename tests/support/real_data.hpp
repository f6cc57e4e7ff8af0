// Finds the folder of real data and reads its two plain formats for the tests of the core. These tests do not link the
// readers of epsflow, which have tests of their own.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"

namespace epsflow::test {

/// Returns the folder, or nothing after a warning that the test is skipped.
inline std::optional<std::filesystem::path> real_data() {
  const char* folder = std::getenv("EPSFLOW_TEST_DATA");
#ifdef EPSFLOW_TEST_DATA_DEFAULT
  if (folder == nullptr) folder = EPSFLOW_TEST_DATA_DEFAULT;
#endif
  if (folder != nullptr && std::filesystem::is_directory(folder)) return folder;
  WARN("skipped: no folder of real data; set EPSFLOW_TEST_DATA");
  return std::nullopt;
}

/// Returns the values of a version 1 NPY file in C order. Its descr must match T.
template <class T>
std::vector<T> load_npy(const std::filesystem::path& file, std::string_view descr) {
  std::ifstream in(file, std::ios::binary);
  unsigned char head[10] = {};
  in.read(reinterpret_cast<char*>(head), sizeof head);
  const std::size_t length = head[8] + std::size_t{256} * head[9];
  std::string header(length, '\0');
  in.read(header.data(), static_cast<std::streamsize>(length));
  if (!in || std::memcmp(head, "\x93NUMPY\x01", 7) != 0 ||
      header.find("'" + std::string(descr) + "'") == std::string::npos ||
      header.find("'fortran_order': False") == std::string::npos) {
    throw std::runtime_error(file.string() + " is no plain NPY file of " + std::string(descr));
  }
  std::vector<T> values((std::filesystem::file_size(file) - sizeof head - length) / sizeof(T));
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  if (!in) throw std::runtime_error(file.string() + " ends early");
  return values;
}

/// Returns numbers that are separated by commas and line ends.
inline std::vector<double> load_numbers(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<double> values;
  for (double value = 0; in >> value;) {
    values.push_back(value);
    if (in.peek() == ',') in.ignore();
  }
  return values;
}

/// Returns the cells of a plain CSV file, row by row, without the header.
inline std::vector<std::vector<std::string>> load_csv(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::stringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

/// A row of golden.csv: a search, and the pairs that scikit-learn finds.
struct Golden {
  std::string file;
  double eps = 0;
  std::size_t rows = 0;
  std::size_t dims = 0;
  std::uint64_t pairs = 0;
};

inline std::vector<Golden> load_golden(const std::filesystem::path& folder) {
  std::vector<Golden> all;
  for (const std::vector<std::string>& cell : load_csv(folder / "golden.csv")) {
    if (cell.size() < 13) continue;
    all.push_back({cell[0], std::stod(cell[3]), std::stoull(cell[5]), std::stoull(cell[7]), std::stoull(cell[8])});
  }
  return all;
}

}  // namespace epsflow::test

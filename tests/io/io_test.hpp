// The tests of io/ share these helpers: temporary folders, sample files and error texts.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/real_data.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/io/formats.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read_points.hpp>

namespace epsflow::io::test {

using epsflow::test::check_error;
using epsflow::test::check_mentions;
using epsflow::test::error_of;
using epsflow::test::real_data;
using Values = std::vector<double>;
using Names = std::vector<std::string>;
using Paths = std::vector<std::filesystem::path>;

/// Makes a new folder and removes it with all its contents at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "epsflow_io_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path file = path_ / name;
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file;
  }

 private:
  std::filesystem::path path_;
};

inline std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

inline std::string bytes_of_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Writes a file into a named pipe in a new process. A fork() in a threaded process may hang in a sanitizer's lock.
inline void feed_pipe(const std::filesystem::path& file, const std::filesystem::path& pipe) {
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  REQUIRE(std::system(("cat '" + file.string() + "' > '" + pipe.string() + "' &").c_str()) == 0);
}

/// Returns true if this build reads and writes the format.
inline bool has_format(std::string_view name) {
  for (const FormatInfo& format : formats()) {
    if (format.name == name) return format.usable;
  }
  return false;
}

inline Values values_of(const Points& points) {
  return points.view().visit([](auto values) { return Values(values.begin(), values.end()); });
}

/// Returns the text of the E with which read_points() refuses a file.
template <class E = InputError>
std::string refusal(const std::filesystem::path& file, const ReadOptions& options = {}) {
  return error_of<E>([&] { static_cast<void>(read_points(file, options)); });
}

template <class E = InputError>
std::string refusal(const Paths& files, const ReadOptions& options = {}) {
  return error_of<E>([&] { static_cast<void>(read_points(files, options)); });
}

/// Checks that there are `rows` points, and that row i has the coordinates row_of(i).
template <class F>
void check_rows(const Points& points, std::size_t rows, F&& row_of) {
  Values expected;
  for (std::size_t i = 0; i < rows; ++i) {
    for (const double x : row_of(i)) expected.push_back(x);
  }
  CHECK(points.size() == rows);
  CHECK((values_of(points) == expected));  // not printed, as it may be long
}

/// Returns labels 0, noise, 2, 3, … and a mask of every second point.
inline VariantResult result_of(const Points& points) {
  VariantResult result{.variant = {0.5, 3}, .labels = Labels(points.size()), .summary = {}};
  for (std::size_t i = 0; i < points.size(); ++i) {
    result.labels[i] = i == 1 ? kNoise : static_cast<std::int32_t>(i);
    result.core.push_back(static_cast<std::uint8_t>(i % 2));
  }
  return result;
}

/// Returns the bytes of a value in memory order.
template <class T>
std::string bytes_of_value(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

/// Returns the text as a gzip file of one member.
inline std::string gzip(std::string_view text) {
  z_stream state{};
  REQUIRE(deflateInit2(&state, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&state, text.size()) + 32, '\0');
  std::string copy(text);
  state.next_in = reinterpret_cast<Bytef*>(copy.data());
  state.avail_in = static_cast<uInt>(copy.size());
  state.next_out = reinterpret_cast<Bytef*>(packed.data());
  state.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&state, Z_FINISH) == Z_STREAM_END);
  packed.resize(state.total_out);
  deflateEnd(&state);
  return packed;
}

}  // namespace epsflow::io::test

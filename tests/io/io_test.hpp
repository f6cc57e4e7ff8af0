// Shared by the tests of io/: files in a folder of their own, and errors as text.
#pragma once

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "support/catch.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/io/source.hpp>

namespace epsflow::io::test {

/// A fresh folder, removed at the end with all that is in it.
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

/// The text of the error that f throws, which must be of type E and of no type derived from it.
template <class E, class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const E& error) {
    CHECK(typeid(error) == typeid(E));
    return error.what();
  } catch (const std::exception& error) {
    FAIL("another exception: " << error.what());
  }
  FAIL("no exception");
  return {};
}

/// Checks that an error's text holds every part: the culprit and the remedy.
inline void check_mentions(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    INFO("text: " << text << "\nlacks: " << part);
    CHECK(text.find(part) != std::string::npos);
  }
}

inline std::vector<double> values_of(const Points& points) {
  return points.view().visit([](auto values) { return std::vector<double>(values.begin(), values.end()); });
}

/// The bytes of a value as they lie in memory.
template <class T>
std::string bytes_of_value(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

/// The folder of real data, or nothing after a visible note that the test is skipped.
inline std::optional<std::filesystem::path> test_data() {
  const char* folder = std::getenv("EPSFLOW_TEST_DATA");
#ifdef EPSFLOW_TEST_DATA_DEFAULT
  if (folder == nullptr) folder = EPSFLOW_TEST_DATA_DEFAULT;
#endif
  if (folder != nullptr && std::filesystem::is_directory(folder)) return folder;
  WARN("skipped: no folder of real data; set EPSFLOW_TEST_DATA");
  return std::nullopt;
}

}  // namespace epsflow::io::test

#include <algorithm>
#include <string>
#include <string_view>

#include "io/io_test.hpp"

#include <epsflow/io/formats.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/write_labels.hpp>

namespace epsflow::io::test {
namespace {

/// Returns the build option that enables a format.
std::string option_of(std::string_view format) {
  const bool needs_arrow = format == "Parquet" || format == "Arrow";
  return "EPSFLOW_WITH_" + (needs_arrow ? "PARQUET" : std::string(format)) + "=ON";
}

}  // namespace

TEST_CASE("formats: each has a name of its own, and says what is behind it") {
  const std::vector<FormatInfo> all = formats();
  for (const FormatInfo& format : all) {
    CAPTURE(format.name);
    CHECK(std::count_if(all.begin(), all.end(), [&](const FormatInfo& f) { return f.name == format.name; }) == 1);
    if (format.usable) {
      CHECK_NOTHROW(require_format(format.name));
    } else {
      check_error<UsageError>({std::string(format.name), option_of(format.name)}, [&] { require_format(format.name); });
    }
  }
  for (const char* name : {"text", "NPY", "raw"}) CHECK(has_format(name));
}

TEST_CASE("formats: a file of a format that is left out is refused by the build's option, read or written") {
  const TempFolder folder;
  for (const auto& [format, name] : {std::pair{"FITS", "a.fits"}, {"HDF5", "a.h5"}, {"Parquet", "a.parquet"}}) {
    CAPTURE(format);
    const std::filesystem::path file = folder / name;
    const VariantResult result{{0.5, 2}, {0, 0, -1}, {1, 1, 2, 0, 2}, 0.1};
    if (has_format(format)) {
      write_labels(file, result, Overwrite::refuse);
      CHECK(values_of(read_points(file)) == Values{0, 0, -1});
    } else {
      check_error<UsageError>({format, option_of(format)}, [&] { write_labels(file, result, Overwrite::refuse); });
      folder.write(name, "anything");
      check_mentions(refusal<UsageError>(file), {name, format, option_of(format), "as CSV"});
    }
  }
}

}  // namespace epsflow::io::test

// Text loses its end or has a bit flipped. The reader must throw an error or return the points of the remaining text.
#include <epsflow/io/read/text/text_reader.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "io/io_test.hpp"
#include "support/damage.hpp"

namespace epsflow::io {
namespace {

using epsflow::test::flip_bits;
using epsflow::test::truncate_everywhere;
using test::gzip;
using test::values_of;
using Values = std::vector<double>;

struct Sample {
  std::string name;
  std::string text;
  ReadOptions options;
  std::uint64_t lines_before = 0;  // header lines
};

std::vector<Sample> samples() {
  std::vector<Sample> list{{"comma, header", "id,lat,lon\n", {}, 1},
                           {"blanks", "", {}, 0},
                           {"semicolon, decimal commas, CRLF", "lat;lon\r\n", {.text = {.decimal = ','}}, 1},
                           {"bars", "| lat | lon |\n|-----|-----|\n", {}, 2},
                           {"several blocks", "", {.columns = {"1", "0"}, .memory = 1 << 21}, 0}};
  for (int i = 1; i <= 400; ++i) {
    const std::string n = std::to_string(i);
    const std::string k = std::to_string(i * 7919 % 1000);
    list[0].text += n + ",-" + n + ".25," + k + "e-2\n";
    list[1].text += "  " + n + " \t" + k + ".5\n";
    list[2].text += "-" + n + ",125;" + k + ",5\r\n";
    list[3].text += "| " + n + ".5 | " + k + " |\n";
  }
  for (int i = 1; i <= 9000; ++i) list[4].text += std::to_string(i) + ".5," + std::to_string(i * 7919 % 1000) + "\n";
  return list;
}

FilePoints read(const std::string& bytes, const ReadOptions& options) {
  return read_text(*stream_of(bytes, "damaged.csv"), {.name = "damaged.csv", .options = options});
}

// Counts the lines that are rows, without the reader.
std::uint64_t count_rows(const std::string& text, std::uint64_t lines_before) {
  std::istringstream stream(text);
  std::uint64_t rows = 0;
  for (std::string line; std::getline(stream, line);) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    rows += first != std::string::npos && line[first] != '#' ? 1U : 0U;
  }
  return rows - std::min(rows, lines_before);
}

TEST_CASE("text damage: what is left of a truncated file is read whole, its last line as it stands") {
  for (const Sample& sample : samples()) {
    CAPTURE(sample.name);
    const Values all = values_of(read(sample.text, sample.options));
    const auto is_right = [&](const FilePoints& points, const std::string& cut) {
      const Values values = values_of(points);
      // All rows except the last are certain: text does not show how the last row continued.
      const std::size_t sure = (points.size() - 1) * points.dims();
      return points.inputs[0].rows == count_rows(cut, sample.lines_before) &&
             std::equal(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(sure), all.begin());
    };
    const std::size_t accepted = truncate_everywhere(
        sample.text, [&](const std::string& bytes) { return read(bytes, sample.options); }, is_right);
    CHECK(accepted > 0);
  }
}

TEST_CASE("text damage: a flipped bit is an error, or spoils the row that it stands in") {
  for (const Sample& sample : samples()) {
    CAPTURE(sample.name);
    const FilePoints whole = read(sample.text, sample.options);
    const Values all = values_of(whole);
    const auto is_right = [&](const FilePoints& points, const std::string& damaged) {
      // A quote may join rows. A bit in the first lines may turn a row into a header, or the header into a row.
      if (damaged.find('"') != std::string::npos) return true;
      const std::uint64_t rows = points.inputs[0].rows;
      const bool first_row_changed = damaged.substr(0, 40) != sample.text.substr(0, 40);
      if (first_row_changed) return rows + 1 >= count_rows(damaged, sample.lines_before);
      if (rows != count_rows(damaged, sample.lines_before)) return false;
      if (points.dims() != whole.dims() || points.size() != whole.size()) return points.size() + 1 == whole.size();
      const Values values = values_of(points);
      std::size_t changed = 0;
      for (std::size_t i = 0; i < all.size(); ++i) changed += values[i] != all[i] ? 1U : 0U;
      return changed <= whole.dims();
    };
    flip_bits(
        sample.text, [&](const std::string& bytes) { return read(bytes, sample.options); }, is_right);
  }
}

TEST_CASE("text damage: a gzip file that is cut off or changed is an error, or gives the same points") {
  for (const Sample& sample : samples()) {
    CAPTURE(sample.name);
    const Values all = values_of(read(sample.text, sample.options));
    const std::string packed = gzip(sample.text);
    const auto read_sample = [&](const std::string& bytes) { return read(bytes, sample.options); };
    const auto same = [&](const FilePoints& points, const std::string&) { return values_of(points) == all; };
    CHECK(truncate_everywhere(packed, read_sample, same) == 0);
    flip_bits(packed, read_sample, same, 100);
  }
}

}  // namespace
}  // namespace epsflow::io

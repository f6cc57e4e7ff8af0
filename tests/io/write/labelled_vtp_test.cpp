#include <epsflow/io/write/labelled_vtp.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "io/io_test.hpp"

#include <epsflow/io/labelled_copy.hpp>
#include <epsflow/io/read_points.hpp>

namespace epsflow::io::test {
namespace {

/// Reads arrays of a VTP file at the offsets that its XML gives.
class Polydata {
 public:
  explicit Polydata(const std::filesystem::path& file) : text_(bytes_of_file(file)) {}

  [[nodiscard]] bool says(const std::string& part) const { return text_.find(part) != std::string::npos; }

  template <class T>
  [[nodiscard]] std::vector<T> array(const std::string& type, const std::string& name) const {
    const std::size_t element = text_.find("<DataArray type=\"" + type + "\" Name=\"" + name + "\"");
    REQUIRE(element != std::string::npos);
    const std::size_t offset = std::stoul(text_.substr(text_.find("offset=\"", element) + 8));
    const std::size_t begin = text_.find("<AppendedData encoding=\"raw\">\n_") + 31 + offset;
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text_.data() + begin, sizeof bytes);
    REQUIRE(begin + sizeof bytes + bytes < text_.size());
    std::vector<T> values(bytes / sizeof(T));
    std::memcpy(values.data(), text_.data() + begin + sizeof bytes, bytes);
    return values;
  }

 private:
  std::string text_;
};

Polydata copied(const TempFolder& folder, const FilePoints& points, const std::filesystem::path& in,
                const ReadOptions& options, bool core) {
  const LabelledCopy labelled({in}, options, points, OutputFormat::vtp, core);
  labelled.write(folder / "out.vtp", result_of(points), Overwrite::replace);
  return Polydata(folder / "out.vtp");
}

}  // namespace

TEST_CASE("labelled vtp: up to three coordinates, a vertex for each point, and its label") {
  const TempFolder folder;
  for (const auto& [text, expected] : {std::pair{"0.1\n2\n-3\n", std::vector<double>{0.1, 0, 0, 2, 0, 0, -3, 0, 0}},
                                       {"0.1,1\n2,3\n-3,4\n", {0.1, 1, 0, 2, 3, 0, -3, 4, 0}},
                                       {"0.1,1,5\n2,3,6\n-3,4,7\n", {0.1, 1, 5, 2, 3, 6, -3, 4, 7}}}) {
    const auto in = folder.write("in.csv", text);
    const ReadOptions options;
    const Polydata data = copied(folder, read_points(in, options), in, options, true);
    CHECK(data.says("NumberOfPoints=\"3\" NumberOfVerts=\"3\""));
    CHECK(data.array<double>("Float64", "Points") == expected);
    CHECK(data.array<std::int64_t>("Int64", "connectivity") == std::vector<std::int64_t>{0, 1, 2});
    CHECK(data.array<std::int64_t>("Int64", "offsets") == std::vector<std::int64_t>{1, 2, 3});
    CHECK(data.array<std::int32_t>("Int32", "label") == std::vector<std::int32_t>{0, -1, 2});
    CHECK(data.array<std::uint8_t>("UInt8", "core") == std::vector<std::uint8_t>{0, 1, 0});
    CHECK_FALSE(data.says("Name=\"row\""));
  }
}

TEST_CASE("labelled vtp: float32 stays, rows are told, and blocks follow each other") {
  const TempFolder folder;
  FilePoints points(300'000, 2, Precision::float32);
  std::vector<float> expected;
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < points.size(); ++i) {
    points.values<float>()[2 * i] = static_cast<float>(i);
    points.values<float>()[2 * i + 1] = 0.1F;
    expected.insert(expected.end(), {static_cast<float>(i), 0.1F, 0});
    numbers.push_back(static_cast<std::int64_t>(i + 1));
  }
  points.inputs = {{.name = "a", .kind = "", .rows = points.size() + 1, .dropped = {0}}};
  const VariantResult result = result_of(points);
  const Metric metric;
  write_vtp(folder / "o", folder / "o", {points, result, metric, false});
  const Polydata data(folder / "o");
  CHECK(data.array<float>("Float32", "Points") == expected);
  CHECK(data.array<std::int64_t>("Int64", "row") == numbers);
  CHECK(data.array<std::int32_t>("Int32", "label").back() == 299'999);
  CHECK_FALSE(data.says("Name=\"core\""));
}

TEST_CASE("labelled vtp: more than three coordinates are refused") {
  const TempFolder folder;
  const auto in = folder.write("in.csv", "1,2,3,4\n");
  check_mentions(error_of<UsageError>([&] { (void)copied(folder, read_points(in), in, {}, false); }),
                 {"three", "4", "ReadOptions::columns", ".csv"});
}

}  // namespace epsflow::io::test

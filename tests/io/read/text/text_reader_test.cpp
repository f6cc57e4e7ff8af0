#include <epsflow/io/read/text/text_reader.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "io/io_test.hpp"

namespace epsflow::io {
namespace {

using test::check_mentions;
using test::check_rows;
using test::error_of;
using test::Names;
using test::Values;
using test::values_of;
using Header = TextLayout::Header;

FilePoints read(std::string_view text, const ReadOptions& options = {}) {
  return read_text(*stream_of(text, "stars.csv"), {.name = "stars.csv", .options = options});
}

template <class E = InputError>
std::string refusal(std::string_view text, const ReadOptions& options = {}) {
  return error_of<E>([&] { read(text, options); });
}

TEST_CASE("text: every delimiter, with and without a header") {
  const char delimiter = GENERATE(',', '\t', ';', ' ');
  const bool header = GENERATE(true, false);
  CAPTURE(delimiter, header);
  const std::string d(1, delimiter);
  const std::string text =
      (header ? "x" + d + "y" + d + "z\n" : "") + "1" + d + "2.5" + d + "-3\n4e1" + d + "-0.5" + d + "6\n";
  const FilePoints points = read(text);
  CHECK(points.size() == 2);
  CHECK(points.dims() == 3);
  CHECK(points.precision() == Precision::float64);
  CHECK(values_of(points) == Values{1, 2.5, -3, 40, -0.5, 6});
  CHECK(points.column_names == (header ? Names{"x", "y", "z"} : Names{}));
  CHECK(points.dropped_rows() == 0);
}

TEST_CASE("text: runs of blanks and tabs are one delimiter, and none at the ends of a line") {
  CHECK(values_of(read("  x   y\n  1 \t  2  \n3   4\r\n\t5  6")) == Values{1, 2, 3, 4, 5, 6});
}

TEST_CASE("text: the second row determines what the delimiter is") {
  CHECK(values_of(read("time (s, UTC);lat\n1;2\n3;4\n")) == Values{1, 2, 3, 4});
  CHECK(values_of(read("a, b\tc\n1\t2\n")) == Values{1, 2});
}

TEST_CASE("text: line ends, byte order mark, blank lines, comments") {
  const Values expected{1, 2, 3, 4};
  CHECK(values_of(read("1,2\n3,4")) == expected);
  CHECK(values_of(read("1,2\r\n3,4\r\n")) == expected);
  CHECK(values_of(read("1,2\r\n3,4\r")) == expected);
  CHECK(values_of(read("\xEF\xBB\xBF"
                       "1,2\n3,4\n")) == expected);
  CHECK(values_of(read("\n\n1,2\n  \n\r\n3,4\n\n\n")) == expected);
  CHECK(values_of(read("# made by hand\n1,2\n  # in between\n3,4\n# end")) == expected);
  const FilePoints named = read("\xEF\xBB\xBF# note\n\nlat,lon\n1,2\n3,4\n");
  CHECK(named.column_names == Names{"lat", "lon"});
  CHECK(values_of(named) == expected);
}

TEST_CASE("text: a comment directly before the first row names the columns when it has a word for each") {
  const Names names{"x", "y"};
  for (const char* text : {"#x,y\n1,2\n", "# x y\n1,2\n", "# x y\n1 2\n", "## x\ty\n1\t2\n", "a\n\n# x, y\n1,2\n"}) {
    CAPTURE(text);
    const TextLayout layout{.skip_rows = text[0] == 'a' ? 1U : 0U};
    const FilePoints points = read(text, {.text = layout});
    CHECK(points.column_names == names);
    CHECK(values_of(points) == Values{1, 2});
    CHECK(points.inputs[0].kind.find("names from the comment in line ") != std::string::npos);
  }
  for (const char* text : {"# x y z\n1,2\n", "# x 2\n1,2\n", "# x y\n\n1,2\n", "#\n1,2\n", "# x,\n1,2\n"}) {
    CAPTURE(text);
    CHECK(read(text).column_names.empty());
  }
  CHECK(read("# u v\nx,y\n1,2\n").column_names == names);  // a header comes before a comment
  CHECK(read("# x y\n0,1\n2,3\n").size() == 2);            // 0,1 is a point if a comment has the names
  CHECK(read("# x y\n1,2\n", {.text = {.header = Header::no}}).column_names.empty());
}

TEST_CASE("text: nan, inf and empty fields do not make a header") {
  const FilePoints points = read("nan,inf\n,1\n2,3\n", {.on_nan = NanPolicy::drop});
  CHECK(points.column_names.empty());
  CHECK(values_of(points) == Values{2, 3});
  CHECK(points.dropped_rows() == 2);
}

TEST_CASE("text: integers that float64 would round are refused, where their column is used") {
  for (const char* number : {"9007199254740993", "-9007199254740993", "+009007199254740993", "\"9007199254740993\"",
                             "18446744073709551615", "123456789012345678901234567890"}) {
    CAPTURE(number);
    const std::string text = "id,x\n1,2\n" + std::string(number) + ",3\n";
    check_mentions(refusal(text),
                   {"stars.csv: line 3 (row 1), column 'id' is", "2^53", "offset", "ReadOptions::columns"});
    CHECK(values_of(read(text, {.columns = {"x"}})) == Values{2, 3});
  }
  // A number with a fraction or an exponent was a float64 before it was written.
  CHECK(values_of(read(
            "9007199254740992\n-9007199254740994\n9007199254740993.0\n9007199254740993e0\n1180591620717411303424\n",
            {.text = {.header = Header::no}})) == Values{0x1p53, -0x1p53 - 2, 0x1p53, 0x1p53, 0x1p70});
}

TEST_CASE("text: quotes") {
  const FilePoints points = read(
      "\"the \"\"x\"\", in m\",\"y\n(two lines)\",name\n\"1.5\", \"2\" ,\"a,b\"\n3,4,\"c\nd\"\"\"\n5,\"6\",plain\n",
      {.columns = {"the \"x\", in m", "y\n(two lines)"}});
  CHECK(values_of(points) == Values{1.5, 2, 3, 4, 5, 6});
  const std::string text = refusal("a,b\n\"1\n2\",3\n4,x\n", {.columns = {"b"}});
  check_mentions(text, {"line 4", "row 1", "'b'", "'x'"});  // a line break in quotes counts as a line, not as a row
  CHECK(values_of(read("'a' 5\" b\n1 2 3\n", {.columns = {"b"}})) == Values{3});  // quotes within a field are plain
}

TEST_CASE("text: a quote that is never closed") {
  check_mentions(refusal("a,b\n1,2\n3,\"4\n5,6\n"), {"stars.csv", "line 3", "row 1", "quote", "close"});
  check_mentions(refusal("\"a,b\n1,2\n"), {"line 1", "quote"});
  check_mentions(refusal("a,b\n\"1,2\n3,4\n", {.columns = {"b"}}), {"line 2", "quote"});
}

TEST_CASE("text: columns in the order asked for") {
  const FilePoints points = read("site,lat,lon,h\nDGAR,1,2,3\nBRAZ,4,5,6\n", {.columns = {"3", "lat"}});
  CHECK(values_of(points) == Values{3, 1, 6, 4});
  CHECK(points.column_names == Names{"h", "lat"});
  CHECK(values_of(read("7,8\n", {.columns = {"1"}})) == Values{8});
}

TEST_CASE("text: NaN, infinity and every mark of nothing under both policies") {
  const std::string bad = GENERATE("nan", "NaN", "-nan", "inf", "-Infinity", "1e999", "", "  ", "\"\"", "NA", "N/A",
                                   "n/a", "#N/A", "<NA>", "null", "NULL", "None", "-", "--", "---", "?", "\" NA \"");
  CAPTURE(bad);
  const std::string text = "# note\nlat,lon\n1,2\n3," + bad + "\n5,6\n";
  check_mentions(refusal(text), {"stars.csv", "line 4", "row 1", "'lon'", "NanPolicy::drop"});
  const FilePoints kept = read(text, {.on_nan = NanPolicy::drop});
  CHECK(values_of(kept) == Values{1, 2, 5, 6});
  CHECK(kept.dropped_rows() == 1);
}

TEST_CASE("text: the value that is no number is named") {
  constexpr std::string_view kText = "lat,lon\n1,2\n3,abc\n";
  check_mentions(refusal(kText),
                 {"stars.csv", "line 3", "row 1", "'lon'", "'abc'", "ReadOptions::columns", "lat, lon"});
  check_mentions(refusal(kText, {.on_nan = NanPolicy::drop}), {"line 3", "'abc'"});
  check_mentions(refusal("1,2\n3,\x01" + std::string(500, 'x') + "\n"), {"column 1", "'\\x01xxx", "…'"});
  check_mentions(refusal("1,2\n3,nan\n"), {"column 1", "'nan'"});
  check_mentions(refusal("1,2\n3,\n"), {"column 1", "empty"});
}

TEST_CASE("text: unused columns may hold anything") {
  const FilePoints points = read("a,b,c\nx,1,\n\"q,\",2,nan\n,3,--\n", {.columns = {"b"}});
  CHECK(values_of(points) == Values{1, 2, 3});
}

TEST_CASE("text: blanks and a plus sign around numbers") {
  CHECK(values_of(read("a,b\n +1 ,\t2\t\n 3,+4\r\n")) == Values{1, 2, 3, 4});
}

TEST_CASE("text: ragged rows") {
  const auto on_nan = GENERATE(NanPolicy::error, NanPolicy::drop);
  const ReadOptions options{.on_nan = on_nan};
  check_mentions(refusal("a,b,c\n1,2,3\n4,5\n", options),
                 {"stars.csv", "line 3", "row 1", "2 fields", "3 are expected"});
  check_mentions(refusal("1,2\n\n1,2,3,4\n", options), {"line 3", "row 1", "4 fields", "2 are expected"});
  check_mentions(refusal("1 2\n3\n", options), {"line 2", "1 field,", "2 are expected"});
  check_mentions(refusal("1 2\n3 4 5 \n", options), {"line 2", "3 fields", "2 are expected"});
  check_mentions(refusal("a,b,c\n1", {.columns = {"a"}, .on_nan = on_nan}), {"line 2", "1 field,", "3"});
}

TEST_CASE("text: nothing to read") {
  check_mentions(refusal(""), {"stars.csv", "empty"});
  check_mentions(refusal("\n \n# only this\n"), {"stars.csv", "empty", "comments"});
  check_mentions(refusal("\xEF\xBB\xBF"), {"stars.csv", "empty"});
  for (const char* text : {"x,y\n", "x,y", "x,NA\n# nothing else\n"}) {
    check_mentions(refusal(text), {"stars.csv", "line 1", "'x'", "no row follows"});
  }
  const FilePoints header_only = read("x,y\n", {.text = {.header = Header::yes}});
  CHECK(header_only.size() == 0);
  CHECK(header_only.dims() == 2);
  CHECK(header_only.column_names == Names{"x", "y"});
}

TEST_CASE("text: UTF-16 is named as such") {
  check_mentions(refusal(std::string_view("\xFF\xFE"
                                          "1\0,\0",
                                          6)),
                 {"UTF-16", "UTF-8"});
}

TEST_CASE("text: the memory budget counts points, not lines") {
  const std::string text = "# c\n# c\nx,y\n\n1,2\n# c\n3,4\n\n\n";
  CHECK(read(text, {.memory = 32}).size() == 2);
  check_mentions(refusal<ResourceError>(text, {.memory = 31}),
                 {"stars.csv", "2 rows", "32 bytes", "31 bytes", "ReadOptions::memory"});
  CHECK(read("x,y,n\n\"1\",2,a\n3,4,\"\nb\"\n", {.columns = {"x", "y"}, .memory = 32}).size() == 2);
  check_mentions(refusal<ResourceError>("x,y,n\n\"1\",2,a\n3,4,\"\nb\"\n", {.columns = {"x", "y"}, .memory = 31}),
                 {"32 bytes", "ReadOptions::memory"});
}

TEST_CASE("text: more columns than a point may have dimensions") {
  std::string text = "0";
  for (int i = 0; i < 4096; ++i) text += ",0";
  check_mentions(refusal(text), {"4097 columns", "4096", "ReadOptions::columns"});
  CHECK(values_of(read(text, {.columns = {"4096"}})) == Values{0});
}

// Several threads read this text. The order of the rows, the counts and the position of an error must not change.
TEST_CASE("text: large files") {
  constexpr std::size_t kRows = 1200000;
  std::string text = "# head\nid,x,y\n";
  for (std::size_t i = 0; i < kRows; ++i) {
    text += std::to_string(i) + "," + std::to_string(i % 1000) + ".25,-" + std::to_string(i) + "e-2\n";
    if (i % 1000 == 999) text += "# mark\n\n";
  }
  const auto row_of = [](auto i) {
    return Values{static_cast<double>(i % 1000) + 0.25, -static_cast<double>(i) / 100};
  };
  SECTION("all rows") {
    check_rows(read(text, {.columns = {"x", "y"}}), kRows, row_of);
    check_rows(read(text, {.columns = {"x", "y"}, .memory = kRows * 16}), kRows, row_of);
    check_mentions(refusal<ResourceError>(text, {.columns = {"x", "y"}, .memory = kRows * 16 - 1}),
                   {"19,200,000 bytes", "19,199,999 bytes"});
  }
  SECTION("a fault near the end") {
    const std::size_t row = kRows - 10;
    const std::size_t at = text.find("\n" + std::to_string(row) + ",") + 1;
    text.replace(at, std::to_string(row).size(), "oops!!!");
    check_mentions(refusal(text), {"line " + std::to_string(row + 3 + 2 * (row / 1000)), "row " + std::to_string(row),
                                   "'id'", "'oops!!!'"});
    text.replace(text.find("oops!!!"), 7, "--");
    const FilePoints kept = read(text, {.on_nan = NanPolicy::drop});
    CHECK(kept.size() == kRows - 1);
    CHECK(kept.inputs[0].rows == kRows);
    CHECK(kept.inputs[0].dropped == std::vector<std::uint64_t>{row});
    CHECK(kept.dropped_rows() == 1);
    CHECK(kept.view().at(row - 1, 0) == static_cast<double>(row - 1));
    CHECK(kept.view().at(row, 0) == static_cast<double>(row + 1));
  }
  SECTION("with quotes") {
    text += "\"0\",\"0.25\",0\n";
    CHECK(read(text).size() == kRows + 1);
  }
}

TEST_CASE("text: many more rows than the first lines let expect") {
  constexpr std::size_t kRows = 3000000;
  std::string text;
  for (int i = 0; i < 200; ++i) text += std::string(100000, ' ') + "7\n";  // more than the first block
  for (std::size_t i = 0; i < kRows; ++i) text += std::to_string(i % 10) + "\n";
  const FilePoints points = read(text, {.text = {.header = TextLayout::Header::no}});
  check_rows(points, 200 + kRows, [](auto i) { return Values{i < 200 ? 7 : static_cast<double>((i - 200) % 10)}; });
}

}  // namespace
}  // namespace epsflow::io

// The first rows of a text are classified as header, units, rules or data. The tests check the resulting points.
#include <epsflow/io/read/text/text_table.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/io/read/text/text_reader.hpp>

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

std::string kind_of(std::string_view text, const ReadOptions& options = {}) {
  return read(text, options).inputs.at(0).kind;
}

TEST_CASE("text table: a row that holds a number is no header") {
  CHECK(values_of(read("STA1,1.0,2.0\nSTA2,3,4\n", {.columns = {"1", "2"}})) == Values{1, 2, 3, 4});
  CHECK(values_of(read("x 5\ny 6\n", {.columns = {"-1"}})) == Values{5, 6});
  for (const char* text : {"NA,2.0\n3,4\n", "1.0,null\n3,4\n", "--,3\n3,4\n", "?,inf\n3,4\n", "#N/A,1\n3,4\n"}) {
    CAPTURE(text);
    check_mentions(refusal(text), {"row 0", "NanPolicy::drop"});
    const FilePoints kept = read(text, {.on_nan = NanPolicy::drop});
    CHECK(values_of(kept) == Values{3, 4});
    CHECK(kept.inputs[0].dropped == std::vector<std::uint64_t>{0});
  }
  check_mentions(refusal("STA1,1.0,2.0\nSTA2,3,4\n"), {"column 0", "'STA1' in line 1", "ReadOptions::columns"});
  check_mentions(refusal("a,0\n1,2\n"), {"line 1", "'a'", "Header::yes"});
}

TEST_CASE("text table: column numbers may be a header of pandas or a point") {
  for (const char* text : {"0,1\n5,6\n", ",0,1\n0,5,6\n", ",0\n0,5\n", "0 1 2\n3 4 5\n"}) {
    CAPTURE(text);
    check_mentions(refusal(text), {"line 1", "pandas", "Header::yes", "Header::no"});
  }
  CHECK(read("0,1\n5,6\n", {.text = {.header = Header::yes}}).column_names == Names{"0", "1"});
  CHECK(read("0,1\n5,6\n", {.text = {.header = Header::no}}).size() == 2);
  CHECK(values_of(read("0\n1\n")) == Values{0, 1});
  CHECK(values_of(read("0.0,1\n5,6\n")) == Values{0, 1, 5, 6});
  CHECK(values_of(read("1,2\n5,6\n")) == Values{1, 2, 5, 6});
}

TEST_CASE("text table: text without a number is a header only above numbers") {
  CHECK(read("site,lat\nA,1\nB,2\n", {.columns = {"lat"}}).size() == 2);
  CHECK(read("lat,NA\n1,NA\n2,3\n", {.columns = {"lat"}}).column_names == Names{"lat"});
  CHECK(values_of(read("NA,NA\n1,2\n", {.on_nan = NanPolicy::drop})) == Values{1, 2});
  for (const char* text : {"STA1,NA\nSTA2,1.0\n", "a,b\nc,d\n", "a,b\nNA,\n"}) {
    CAPTURE(text);
    check_mentions(refusal(text), {"line 1", "Header::yes", "Header::no"});
  }
  check_mentions(refusal("hello\n"), {"line 1", "'hello'", "no row follows"});
  CHECK(read("STA1,NA\nSTA2,1.0\n", {.columns = {"1"}, .on_nan = NanPolicy::drop, .text = {.header = Header::no}})
            .size() == 1);
}

TEST_CASE("text table: a row of units after the header") {
  const FilePoints points = read("name,ra,dec\n,deg,deg\nM1,1,2\nM2,3,4\n", {.columns = {"ra", "dec"}});
  CHECK(values_of(points) == Values{1, 2, 3, 4});
  CHECK(points.inputs[0].kind == "text, comma-separated, header in line 1, units in line 2");
  CHECK(points.inputs[0].rows == 2);
  CHECK(points.inputs[0].units == Names{"deg", "deg"});
  // Units follow the chosen columns in their order, without the weight column. They are empty if the text has none.
  const std::string_view text = "| m | ra | id | dec |\n| kg | h | - | \"d:m:s\" |\n| 1 | 2 | 3 | 4 |\n";
  CHECK(read(text, {.columns = {"dec", "id", "ra"}}).inputs[0].units == Names{"d:m:s", "", "h"});
  CHECK(read(text, {.weight = "m"}).inputs[0].units == Names{"h", "", "d:m:s"});
  CHECK(read("ra,dec\n1,2\n").inputs[0].units.empty());
  // A word is not a missing value if its column goes on with text or if no row follows.
  check_mentions(refusal("site,x\nA,NA\nB,1\n", {.columns = {"x"}}), {"line 2", "row 0"});
  check_mentions(refusal("x,y\ndeg,deg\n"), {"line 1", "Header::yes"});
  check_mentions(refusal("x,y\nbad,1\n2,3\n"), {"line 2 (row 0)", "'x'", "'bad'"});
  check_mentions(refusal("x,y\n1,2\ndeg,deg\n3,4\n"), {"line 3 (row 1)", "'deg'"});
}

TEST_CASE("text table: rules of dashes and units between the names and the rows") {
  const char d = GENERATE('\t', ';', ',', ' ');
  CAPTURE(d);
  const auto table = [&](std::string text) {
    std::replace(text.begin(), text.end(), ',', d);
    return text;
  };
  const ReadOptions positions{.columns = {"ra", "dec"}};
  const auto check = [&](const std::string& head, const std::string& kind, const Names& units) {
    CAPTURE(head);
    const FilePoints points = read(table("# note\n" + head + "M31,10.5,+41.25\nM42,83.75,-5.5\n"), positions);
    CHECK(values_of(points) == Values{10.5, 41.25, 83.75, -5.5});
    CHECK(points.inputs[0].rows == 2);
    CHECK(points.inputs[0].units == units);
    check_mentions(points.inputs[0].kind, {kind});
  };
  check("name,ra,dec\nid,deg,h\n----,-----,-----\n", "header in line 2, units in line 3, dashes in line 4",
        {"deg", "h"});
  check("name,ra,dec\n----,-----,-----\n", "header in line 2, dashes in line 3", {});
  check("name,ra,dec\n====,==,=====\n", "header in line 2, dashes in line 3", {});
  check("name,ra,dec\n-,--,-----\n", "header in line 2, dashes in line 3", {});
  check("name,ra,dec\n----------------\n", "header in line 2, dashes in line 3", {});
  check("name,ra,dec\n-------|------+-------\n", "header in line 2, dashes in line 3", {});
  check("====,==,===\nname,ra,dec\n====,==,===\n", "header in line 3, dashes in line 2, dashes in line 4", {});
  check("name,ra,dec\n---,deg,1\n\n# note\n----,-----,-----\n", "units in line 3, dashes in line 6", {"deg", ""});
  check("name,ra,dec\n====,===,===\n-,deg,h\n", "header in line 2, units in line 4, dashes in line 3", {"deg", "h"});
  if (d == ' ') return;
  check("name,ra,dec\n,deg,\n----,-----,-----\n", "header in line 2, units in line 3, dashes in line 4", {"deg", ""});
  check("name,ra,dec\n,,\n----,-----,-----\n", "header in line 2, units in line 3, dashes in line 4", {"", ""});
  check("name,ra,dec\n\"id\",\"deg\",\"h\"\n\"----\",\"-----\",\"-----\"\n", "units in line 3, dashes in line 4",
        {"deg", "h"});
}

TEST_CASE("text table: between blanks units stand above the dashes of their columns") {
  const std::string_view text =
      "name       ra       dec  mag\n"
      "          hms            mag\n"
      "----  -------  --------  ---\n"
      "M31   10.6847  +41.2690  3.4\n";
  CHECK(read(text, {.columns = {"ra", "dec", "mag"}}).inputs[0].units == Names{"hms", "", "mag"});
  CHECK(read(text, {.columns = {"dec"}}).inputs[0].units == Names{""});
  const std::string_view below =
      "name ra dec\n"
      "==== == ===\n"
      "        deg\n"
      "M31   1   2\n";
  CHECK(read(below, {.columns = {"ra", "dec"}}).inputs[0].units == Names{"", "deg"});
  // Without a rule for each column, the columns of the units are ambiguous.
  check_mentions(refusal("name ra dec\ndeg deg\n-----------\nM31 1 2\n", {.columns = {"ra"}}),
                 {"line 2 (row 0)", "'deg'"});
}

TEST_CASE("text table: a row of missing values is no rule, and a rule among the rows is refused") {
  for (const char* text : {"x,y\n-,-\n1,2\n", "x y\n--- ---\n1 2\n", "x;y\n--;---\n1;2\n", "x\n---\n1\n2\n"}) {
    CAPTURE(text);
    check_mentions(refusal(text), {"line 2 (row 0)", "NanPolicy::drop"});
    CHECK(read(text, {.on_nan = NanPolicy::drop}).inputs[0].dropped == std::vector<std::uint64_t>{0});
  }
  const std::string bars = "| a | b |\n|---|---|\n| 1 | 2 |\n|---|---|\n| --- | -- |\n+---+---+\n| 3 | 4 |\n";
  check_mentions(refusal(bars), {"line 4 (row 1)", "'---'"});
  const FilePoints kept = read(bars, {.on_nan = NanPolicy::drop});
  CHECK(values_of(kept) == Values{1, 2, 3, 4});
  CHECK(kept.inputs[0].dropped == std::vector<std::uint64_t>{1, 2});
  CHECK(kept.inputs[0].kind == "text, separated by bars, header in line 1, dashes in line 2");
  check_mentions(refusal("x,y\n1,2\n----,----\n3,4\n"), {"line 3 (row 1)", "'----'"});
  check_mentions(refusal("x,y\n1,2\n----,----\n3,4\n", {.text = {.header = Header::no}}), {"line 1", "'x'"});
  check_mentions(refusal("----,----\n1,2\n", {.text = {.header = Header::no}}), {"line 1", "'----'"});
  CHECK(read("x,y\ndeg,deg\n----,----\n", {.text = {.header = Header::yes}}).size() == 0);
}

TEST_CASE("text table: bars with units and dashes") {
  const FilePoints points = read("name|ra|dec\n|deg|\n----|------|---\nM31|1|2\n", {.columns = {"ra", "dec"}});
  CHECK(values_of(points) == Values{1, 2});
  CHECK(points.inputs[0].units == Names{"deg", ""});
  CHECK(points.inputs[0].kind == "text, separated by bars, header in line 1, units in line 2, dashes in line 3");
}

TEST_CASE("text table: what spreadsheets write for values that they do not have is missing, and begins no comment") {
  const std::string mark =
      GENERATE("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!", "#GETTING_DATA",
               "#ERROR!", "#N/A N/A", "#NV", "#WERT!", "#VALEUR!", "#¡VALOR!");
  const std::string d = GENERATE(",", ";", "\t", "|", " ");
  const bool quoted = GENERATE(false, true);
  if (d == " " && !quoted && mark.find(' ') != std::string::npos) return;
  const std::string m = quoted ? '"' + mark + '"' : mark;
  CAPTURE(m, d);
  const ReadOptions drop{.on_nan = NanPolicy::drop};
  const std::string rows =
      "1" + d + "2\n" + m + d + "3\n  4" + d + m + "\n" + m + d + m + "\n#3" + d + "4\n6" + d + "7\n";
  for (const std::string& text : {"x" + d + "y\n" + rows, rows}) {
    const FilePoints points = read(text, drop);
    CHECK(values_of(points) == Values{1, 2, 6, 7});
    CHECK(points.inputs[0].rows == 5);
    CHECK(points.inputs[0].dropped == std::vector<std::uint64_t>{1, 2, 3});
  }
  for (const std::string& first : {m + d + "3\n", m + d + m + "\n"}) {
    const FilePoints points = read(first + "1" + d + "2\n5" + d + "6\n", drop);
    CHECK(values_of(points) == Values{1, 2, 5, 6});
    CHECK(points.inputs[0].dropped == std::vector<std::uint64_t>{0});
  }
  // The missing values lie in unused columns, at either end of the row.
  const std::string beside = "a" + d + "x" + d + "b\n" + m + d + "1" + d + m + "\n2" + d + "3" + d + "4\n";
  CHECK(values_of(read(beside, {.columns = {"x"}})) == Values{1, 3});
  check_mentions(refusal("x" + d + "y\n" + m + d + "3\n1" + d + "2\n"), {"line 2 (row 0)", "'x'", mark});
  if (quoted || mark.find(' ') == std::string::npos) {
    CHECK(read("x\n1\n" + m + "\n2\n", drop).inputs[0].dropped == std::vector<std::uint64_t>{1});
  }
}

TEST_CASE("text table: comments that look like what spreadsheets write") {
  for (const char* comment :
       {"#3,4", "#NAMES, of columns", "#NUMBER", "#REF,1", "#NULL,2", "#VALUES: 5", "#NVSS,1", "##", "#"}) {
    CAPTURE(comment);
    const FilePoints points = read("x,y\n1,2\n" + std::string(comment) + "\n3,4\n");
    CHECK(values_of(points) == Values{1, 2, 3, 4});
    CHECK(points.inputs[0].rows == 2);
  }
  // Another comment mark does not turn these lines into text.
  CHECK(read("x,y\n%,\n1,2\n#REF!,3\n", {.on_nan = NanPolicy::drop, .text = {.comment = "%"}}).inputs[0].rows == 2);
}

TEST_CASE("text table: quoted text may go on in a line that begins like a comment") {
  const FilePoints points =
      read("id,note,x\n1,\"a\n#b\n\",2\n3,\"\n#N/A,5\n# \",4\n\"5\",\"#\n\n\",6\n", {.columns = {"id", "x"}});
  CHECK(values_of(points) == Values{1, 2, 3, 4, 5, 6});
  CHECK(points.inputs[0].rows == 3);
  std::string text = "id,note,x\n";
  for (int i = 0; i < 20000; ++i)
    text += std::to_string(i) + ",\"note\n# " + std::string(i % 90, 'x') + "\n#1,2\"," + "7\n";
  const FilePoints many = read(text, {.columns = {"id", "x"}, .memory = 1 << 21});
  check_rows(many, 20000, [](auto i) { return Values{double(i), 7}; });
}

TEST_CASE("text table: columns beside points may be times, and errors do not speak of coordinates") {
  const ReadOptions beside{.columns = {"t"}, .on_nan = NanPolicy::keep};
  CHECK(values_of(read("t,x\n1970-01-02,1\n5,2\n", beside)) == Values{86400, 5});
  const std::string text = refusal("t,x\nnight,1\nday,2\n", beside);
  check_mentions(text, {"line 2 (row 0)", "'t' is 'night', not a number or a time in ISO 8601",
                        "choose other columns with", "t, x"});
  CHECK(text.find("coordinates") == std::string::npos);
}

TEST_CASE("text table: what was taken for what is said") {
  CHECK(kind_of("1\n2\n") == "text, one column, no header");
  CHECK(kind_of("1 2\n") == "text, separated by blanks, no header");
  CHECK(kind_of("# c\nx;y\n1;2\n") == "text, semicolon-separated, header in line 2");
  CHECK(kind_of("1:2\n", {.text = {.delimiter = ':'}}) == "text, separated by ':', no header");
  CHECK(kind_of("1,5\t2\n", {.text = {.decimal = ','}}) == "text, tab-separated, decimal mark ',', no header");
}

TEST_CASE("text table: bars, with and without those at the ends, and rules between") {
  const Values expected{1, 2, 3, 4};
  for (const char* text :
       {"a|b\n1|2\n3|4\n", "| a | b |\n|---|:--|\n| 1 | 2 |\n| 3 | 4 |\n", " a | b\n---+---\n 1 | 2\n 3 | 4\n",
        "+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+\n| 3 | 4 |\n+---+---+\n"}) {
    CAPTURE(text);
    const FilePoints points = read(text);
    CHECK(values_of(points) == expected);
    CHECK(points.column_names == Names{"a", "b"});
  }
  check_mentions(refusal("| a | b |\n| 1 | 2 |\n| 3 | x |\n"), {"line 3 (row 1)", "'b'", "'x'"});
  std::string many = "| a | b |\n";
  for (int i = 0; i < 200; ++i) many += "| 1 | 2 |\n";
  CHECK(read(many).size() == 200);
  check_mentions(refusal(many + "9 | 3 | 4 |\n", {.columns = {"a"}}), {"line 202 (row 200)", "before the first bar"});
  check_mentions(refusal("a|b\n1|2\n-|-\n"), {"line 3 (row 1)", "'-'"});  // missing values, not a rule
}

TEST_CASE("text table: decimal commas") {
  const ReadOptions comma{.text = {.decimal = ','}};
  for (const char* text : {"1,5;2,25\n3;4\n", "1,5\t2,25\n3\t4\n", "1,5 2,25\n3 4\n"}) {
    CAPTURE(text);
    CHECK(values_of(read(text, comma)) == Values{1.5, 2.25, 3, 4});
    check_mentions(refusal(text), {"line 1", "'1,5'", "ReadOptions::text.decimal = ','"});
    check_mentions(refusal(text, {.on_nan = NanPolicy::drop}), {"'1,5'", "ReadOptions::text.decimal = ','"});
  }
  CHECK(values_of(read("1,5\n2,05\n", comma)) == Values{1.5, 2.05});
  check_mentions(refusal("1,5\n2,05\n"), {"line 2", "ReadOptions::text.decimal", "ReadOptions::text.delimiter"});
  check_mentions(refusal("depth\n1,5\n2,25\n"), {"line 2", "2 fields", "ReadOptions::text.decimal"});
  CHECK(values_of(read("7,08\n", {.text = {.delimiter = ','}})) == Values{7, 8});
  check_mentions(refusal("1.5;2,5\n", comma), {"'1.5'"});
}

TEST_CASE("text table: options that say how it is written") {
  CHECK(values_of(read("junk\nmore, junk\nx,y\n1,2\n", {.text = {.skip_rows = 2}})) == Values{1, 2});
  check_mentions(refusal("1\n2\n", {.text = {.skip_rows = 3}}), {"ReadOptions::text.skip_rows", "3", "2 lines"});
  CHECK(values_of(read("% note\n1 2\n%3 4\n", {.text = {.comment = "%"}})) == Values{1, 2});
  CHECK(values_of(read("// note\n1 2\n", {.text = {.comment = "//"}})) == Values{1, 2});
  check_mentions(refusal("#1,2\n", {.text = {.comment = ""}}), {"'#1'"});
  CHECK(values_of(read("1:2\n3:4\n", {.text = {.delimiter = ':'}})) == Values{1, 2, 3, 4});
  CHECK(values_of(read("1,2;3\n", {.columns = {"1"}, .text = {.delimiter = ';'}})) == Values{3});
  for (const TextLayout& layout :
       {TextLayout{.delimiter = ',', .decimal = ','}, TextLayout{.delimiter = '5'}, TextLayout{.delimiter = '"'},
        TextLayout{.decimal = 'e'}, TextLayout{.decimal = ' '}}) {
    check_mentions(refusal<UsageError>("1,2\n", {.text = layout}), {"ReadOptions::text.", "choose"});
  }
}

TEST_CASE("text table: JSON is named") {
  for (const char* text : {"[[1,2],[3,4]]", "\n {\"x\": [1]}\n"}) {
    check_mentions(refusal(text), {"stars.csv", "JSON", "CSV"});
  }
}

TEST_CASE("text table: the exponents of Fortran, and what is no mark of nothing") {
  check_mentions(refusal("x,y\n1,2\n3,none\n", {.on_nan = NanPolicy::drop}), {"line 3", "'none'"});
  CHECK(values_of(read("1D+05,1.5d-3\n-2.D0,.5D1\n")) == Values{1e5, 1.5e-3, -2, 5});
  CHECK(values_of(read("1,5D1;2\n", {.text = {.decimal = ','}})) == Values{15, 2});
  check_mentions(refusal("x,y\n1,D5\n"), {"'D5'"});
}

// Rows, comments and quotes cross the borders of blocks of 64 KiB.
TEST_CASE("text table: the points do not depend on the memory that reading may take") {
  std::string text = "id,x,y,note\r\n";
  std::uint64_t rows = 0;
  for (int i = 0; text.size() < 700000; ++i, ++rows) {
    text += std::to_string(i) + "," + std::to_string(i) + ".5," + (i % 100 == 7 ? "NA" : "-" + std::to_string(i)) + ",";
    text += i % 50 == 0 ? "\"two\nlines, " + std::string(static_cast<std::size_t>(i % 300), 'x') + "\"\r\n" : "plain\n";
    if (i % 400 == 0) text += "# between\n\n";
  }
  const ReadOptions wide{.columns = {"x", "y"}, .on_nan = NanPolicy::drop};
  ReadOptions narrow = wide;
  const FilePoints points = read(text, wide);
  CHECK(points.inputs[0].rows == rows);
  narrow.memory = points.view().bytes() + 8 * points.dropped_rows();
  const FilePoints same = read(text, narrow);
  CHECK(values_of(same) == values_of(points));
  CHECK(same.inputs[0].dropped == points.inputs[0].dropped);
  const std::string where = refusal(text + "1,2,oops,\n", wide);
  check_mentions(where, {"'oops'", "row " + std::to_string(rows)});
  CHECK(refusal(text + "1,2,oops,\n", narrow) == where);
  narrow.memory -= 1;
  check_mentions(refusal<ResourceError>(text, narrow), {"ReadOptions::memory"});
  check_mentions(refusal<ResourceError>("1," + std::string(300000, '1') + "\n", {.memory = 1000}),
                 {"line 1", "ReadOptions::memory"});
}

}  // namespace
}  // namespace epsflow::io

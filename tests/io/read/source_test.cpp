#include <epsflow/io/read/source.hpp>

#include <string>
#include <vector>

#include "io/io_test.hpp"

#include <epsflow/io/read/element_columns.hpp>

namespace epsflow::io {
namespace {

using test::check_mentions;
using test::error_of;
using Columns = std::vector<std::size_t>;

Columns select(const std::vector<std::string>& wanted, const ColumnList& available) {
  const ReadOptions options{.columns = wanted};
  Columns columns;
  for (const ElementChoice& choice : select_elements({.name = "stars.csv", .options = options}, available)) {
    columns.push_back(choice.column);
  }
  return columns;
}

TEST_CASE("columns: names, numbers, numbers from the end, ranges") {
  const ColumnList named{.count = 5, .names = {"x", " y ", "0-2", "-1", "4"}};
  CHECK(select({"y", " x "}, named) == Columns{1, 0});
  CHECK(select({"0-2", "-1"}, named) == Columns{2, 3});  // names come before ranges and numbers
  CHECK(select({"1-3"}, named) == Columns{1, 2, 3});
  CHECK(select({"0", "-2", "2 - 2"}, named) == Columns{0, 3, 2});
  const ColumnList numbered{.count = 5, .names = {}};
  CHECK(select({"0-2", "-1"}, numbered) == Columns{0, 1, 2, 4});
  CHECK(select({"-5"}, numbered) == Columns{0});
  CHECK(select({}, numbered) == Columns{0, 1, 2, 3, 4});
  for (const char* wanted : {"5", "-6", "3-1", "0-5", "a", "", "-", "1-", "1-x", "99999999999999999999"}) {
    CAPTURE(wanted);
    check_mentions(error_of<InputError>([&] { (void)select({wanted}, numbered); }),
                   {"stars.csv", std::string("'") + wanted + "'", "ReadOptions::columns", "0 to 4"});
  }
  check_mentions(error_of<UsageError>([&] { (void)select({"1-3", "2"}, numbered); }), {"column 2", "twice"});
  const ColumnList twice{.count = 3, .names = {"lat", "lon", "lat"}};
  check_mentions(error_of<InputError>([&] { (void)select({"Lon"}, twice); }), {"stars.csv", "'Lon'", "lat, lon, lat"});
  check_mentions(error_of<InputError>([&] { (void)select({"lat"}, twice); }),
                 {"0 and 2", "'lat'", "ReadOptions::columns"});
  check_mentions(error_of<UsageError>([&] {
                   (void)select({"lon", "1"}, twice);
                 }),
                 {"'lon'", "twice", "ReadOptions::columns"});
}

TEST_CASE("columns: a long list is cut") {
  ColumnList many{.count = 60, .names = {}};
  for (int i = 0; i < 60; ++i) many.names.push_back("c" + std::to_string(i));
  const std::string text = many.describe();
  CHECK(text.find("c39") != std::string::npos);
  CHECK(text.find("c40") == std::string::npos);
  check_mentions(text, {"and 20 more"});
}

TEST_CASE("show_text: nothing reaches a terminal that is no character") {
  CHECK(show_text("abc") == "'abc'");
  CHECK(show_text("a\x1b[31m\n\x7f") == "'a\\x1b[31m\\x0a\\x7f'");
  CHECK(show_text("L\xC3\xA4nge") == "'L\xC3\xA4nge'");
  CHECK(show_text("L\xE4nge") == "'L\\xe4nge'");
  CHECK(show_text("\xC2\x9B\x31m") == "'\\xc2\\x9b1m'");  // control character of two bytes
  // The text is cut between characters: after 59 bytes and a character of three bytes.
  CHECK(show_text(std::string(59, 'x') + "\xE2\x82\xAC" + "yz") == "'" + std::string(59, 'x') + "\xE2\x82\xAC…'");
}

}  // namespace
}  // namespace epsflow::io

#include <epsflow/io/read/arrow/pandas_index.hpp>

#include <set>
#include <string>

#include "support/catch.hpp"

namespace epsflow::io::test {
namespace {

using Names = std::set<std::string>;

/// Returns `levels` nested lists.
std::string nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

}  // namespace

TEST_CASE("pandas index: the names in index_columns") {
  CHECK(pandas_index(R"({"index_columns": ["id"]})") == Names{"id"});
  CHECK(
      pandas_index(R"({"columns": [{"name": "a"}, {"index_columns": ["a"]}], "index_columns": ["t", "L\u00e4nge"]})") ==
      Names{"t", "L\u00e4nge"});
  CHECK(pandas_index(R"({"index_columns": ["__index_level_0__", "id"], "attributes": {"a": NaN, "b": Infinity}})") ==
        Names{"__index_level_0__", "id"});
  CHECK(pandas_index(R"({"index_columns": [{"kind": "range", "name": "id", "start": 0, "stop": 3, "step": 1}]})") ==
        Names());
  CHECK(pandas_index(R"({"index_columns": []})") == Names());
}

TEST_CASE("pandas index: text that is damaged, or something else, says nothing of an index") {
  for (const char* const text : {"",
                                 " ",
                                 "null",
                                 "5",
                                 "\"index_columns\"",
                                 "{",
                                 "[",
                                 "[[\"x\"]]",
                                 "[{\"index_columns\": [\"x\"]}]",
                                 "NaN",
                                 "\xFF\xFE",
                                 R"({"index_columns")",
                                 R"({"index_columns": )",
                                 R"({"index_columns": ["x")",
                                 R"({"index_columns": "x"})",
                                 R"({"index_columns": 5})",
                                 R"({"index_columns": null})",
                                 R"({"index_columns": {"a": ["x"]}})",
                                 R"({"index_columns": [["x"], [[["x"]]], {"x": "x"}, 5, true, null]})",
                                 R"({"index": ["x"]})",
                                 R"({"a": {"index_columns": ["x"]}})",
                                 "{\"index_columns\": [\"\xFF\"]}",
                                 "{\"index_columns\": [\"x\", NaN]}"}) {
    CAPTURE(text);
    CHECK(pandas_index(text) == Names());
  }
  // The memory must not grow with the depth of the skipped values.
  constexpr std::size_t kDeep = 3000000;
  CHECK(pandas_index(std::string(kDeep, '[')) == Names());
  CHECK(pandas_index(R"({"columns": )" + nested(kDeep) + R"(, "index_columns": ["x"]})") == Names{"x"});
  CHECK(pandas_index(R"({"index_columns": ["x", )" + nested(kDeep) + "]}") == Names{"x"});
}

}  // namespace epsflow::io::test

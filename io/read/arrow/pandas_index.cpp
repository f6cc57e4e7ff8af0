#include <epsflow/io/read/arrow/pandas_index.hpp>

#include <tuple>

#include <nlohmann/json.hpp>

namespace epsflow::io {

std::set<std::string> pandas_index(std::string_view metadata) {
  using nlohmann::json;
  // Only the list is stored, so that text of any size and depth takes little memory. The list is taken as soon as it
  // ends, because pandas writes NaN among a frame's attributes as NaN, which is not valid JSON.
  bool is_index = false;
  json index;
  const auto keep = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth == 1 && event == json::parse_event_t::key) return is_index = parsed == "index_columns";
    if (depth == 1 && event == json::parse_event_t::array_end && is_index) index = parsed;
    return depth < 3;
  };
  std::ignore = json::parse(metadata, keep, /*allow_exceptions=*/false);
  std::set<std::string> names;
  for (const json& entry : index) {
    if (entry.is_string()) names.insert(entry.get<std::string>());
  }
  return names;
}

}  // namespace epsflow::io

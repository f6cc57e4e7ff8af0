// A table of named columns of equal length, which are not coordinates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace epsflow {

struct TableColumn {
  std::string name;
  std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>> values;
  std::string unit = {};  ///< empty: none, or not known

  [[nodiscard]] std::size_t size() const {
    return std::visit([](const auto& list) { return list.size(); }, values);
  }
};

using Table = std::vector<TableColumn>;

}  // namespace epsflow

#include <epsflow/catalog/catalog_table.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace epsflow {
namespace {

template <class T>
std::vector<std::int64_t> whole_numbers(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

std::string default_name(std::size_t k, std::size_t dims) {
  constexpr std::string_view kLetters = "xyz";
  if (dims <= kLetters.size()) return std::string(1, kLetters[k]);
  return "x" + std::to_string(k);
}

/// Returns column k of a matrix.
std::vector<double> column_of(const std::vector<double>& matrix, std::size_t k, std::size_t dims) {
  std::vector<double> column;
  column.reserve(matrix.size() / dims);
  for (std::size_t at = k; at < matrix.size(); at += dims) column.push_back(matrix[at]);
  return column;
}

}  // namespace

Table table_of(const Catalog& catalog, const Metric& metric, const CatalogNames& names) {
  Table table;
  const auto add = [&](std::string name, auto values, std::string unit = {}) {
    table.push_back({std::move(name), std::move(values), std::move(unit)});
  };
  if (catalog.has_slices && names.slices != nullptr) {
    std::visit(
        [&](const auto& values) {
          auto called = std::decay_t<decltype(values)>();
          called.reserve(catalog.count());
          for (const std::uint64_t slice : catalog.slice) called.push_back(values[slice]);
          add(names.slices->name, std::move(called), names.slices->unit);
        },
        names.slices->values);
  } else if (catalog.has_slices) {
    add("slice", whole_numbers(catalog.slice));
  }
  add("cluster", whole_numbers(catalog.cluster));
  add("size", whole_numbers(catalog.size));
  if (catalog.has_core) {
    add("core", whole_numbers(catalog.core));
    add("first_core", whole_numbers(catalog.first_core));
  }
  if (catalog.has_weights) add(std::string(names.weight) + "_total", catalog.weight);
  for (std::size_t k = 0; k < catalog.dims; ++k) {
    const std::string name = names.coordinates.empty() ? default_name(k, catalog.dims) : names.coordinates[k];
    const std::string unit = names.units.empty() ? std::string() : names.units[k];
    add(name + "_center", column_of(catalog.center, k, catalog.dims), unit);
    add(name + "_spread", column_of(catalog.spread, k, catalog.dims), unit);
    add(name + "_lower", column_of(catalog.lower, k, catalog.dims), unit);
    add(name + "_upper", column_of(catalog.upper, k, catalog.dims), unit);
  }
  add("radius", catalog.radius, std::string(eps_unit(metric)));
  for (const ColumnSummary& column : catalog.columns) {
    add(column.name + "_mean", column.mean);
    add(column.name + "_sum", column.sum);
    add(column.name + "_min", column.min);
    add(column.name + "_max", column.max);
  }
  const auto is_first = [&](const TableColumn& column) { return column.name == table.front().name; };
  if (catalog.has_slices && std::count_if(table.begin() + 1, table.end(), is_first) > 0) {
    table.front().name.insert(0, "slice_");
  }
  return table;
}

}  // namespace epsflow

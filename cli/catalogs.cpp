#include <epsflow/cli/catalogs.hpp>

#include <epsflow/catalog/catalog_table.hpp>
#include <epsflow/io/checksum.hpp>
#include <epsflow/io/results/results_names.hpp>
#include <epsflow/io/row_numbers.hpp>
#include <epsflow/io/write_table.hpp>

namespace epsflow::cli {

OptionSpec stats_option() {
  return text_option("stats", "A,B",
                     "with --catalog: columns of which each cluster has mean, sum, smallest and largest; they are no "
                     "coordinates unless --columns names them");
}

void require_catalog_of_stats(const Arguments& arguments) {
  if (!arguments.given("stats") || arguments.given("catalog")) return;
  throw UsageError("--stats is about the clusters of --catalog: give --catalog as well");
}

Cataloguing::Cataloguing(const Input& input, const io::FilePoints& points, const Slicing* slicing)
    : points_(points), metric_(input.metric), slicing_(slicing), names_(input.beside.velocity) {
  const auto ordered = [&](std::vector<double> values) {
    return slicing == nullptr ? values : slicing->in_order(std::span<const double>(values));
  };
  weights_ = ordered(points.weights);
  if (points.renumbered()) rows_ = io::row_numbers(points);
  velocities_ = names_.size();
  names_.insert(names_.end(), input.beside.stats.begin(), input.beside.stats.end());
  for (std::size_t k = 1; k < names_.size(); ++k) {
    const auto end = names_.begin() + static_cast<std::ptrdiff_t>(k);
    if (std::find(names_.begin(), end, names_[k]) == end) continue;
    throw usage_error("--{} names the column {} twice; give every column once", k < velocities_ ? "velocity" : "stats",
                      names_[k]);
  }
  if (names_.empty()) return;
  for (auto& column : input.read_beside(names_, points)) columns_.push_back(ordered(std::move(column)));
}

Catalog Cataloguing::catalog(const VariantResult& result) const {
  std::vector<NamedColumn> columns;
  for (std::size_t k = 0; k < names_.size(); ++k) columns.push_back({names_[k], columns_[k], k < velocities_});
  const bool moved = slicing_ != nullptr && !slicing_->rows().order.empty();
  std::vector<std::int32_t> labels;
  std::vector<std::uint8_t> core;
  if (moved) {
    labels = slicing_->in_order(std::span<const std::int32_t>(result.labels));
    core = slicing_->in_order(std::span<const std::uint8_t>(result.core));
  }
  Catalog made = epsflow::catalog({.points = slicing_ == nullptr ? points_.view() : slicing_->points(),
                                   .metric = metric_,
                                   .labels = moved ? labels : std::span<const std::int32_t>(result.labels),
                                   .core = moved ? core : std::span<const std::uint8_t>(result.core),
                                   .weights = weights_,
                                   .columns = columns,
                                   .slices = slicing_ == nullptr ? nullptr : &slicing_->slices()});
  for (std::uint64_t& id : made.first_core) {
    if (moved) id = slicing_->rows().row(id);
    if (!rows_.empty()) id = static_cast<std::uint64_t>(rows_[id]);
  }
  return made;
}

Table Cataloguing::table(const VariantResult& result) const {
  const std::vector<std::string>& units = points_.inputs.empty() ? Words() : points_.inputs.front().units;
  return table_of(
      catalog(result), metric_,
      {.coordinates = points_.column_names,
       .units = units.size() == points_.dims() ? std::span<const std::string>(units) : std::span<const std::string>(),
       .weight = points_.weight_column.empty() ? "weight" : points_.weight_column,
       .slices = slicing_ == nullptr ? nullptr : &slicing_->called()});
}

io::VariantWriter Cataloguing::writer(const std::string& extension, std::function<void(Table&)> add) const {
  io::Checksum sum;
  for (const std::vector<double>& column : columns_) sum.add(std::as_bytes(std::span(column)));
  std::string contents = fmt::format("{}; weights {}; columns {} (crc32:{})", fmt::join(points_.column_names, ","),
                                     points_.weight_column, fmt::join(names_, ","), io::format_checksum(sum.value()));
  const io::OutputFormat format = io::output_format("catalog" + extension, io::kTableFormats);
  return {
      .folder = io::kCatalogFolder,
      .extension = extension,
      .contents = std::move(contents),
      .write = [this, format, add = std::move(add)](const auto& file, const auto& target, const VariantResult& result) {
        Table made = table(result);
        if (add) add(made);
        io::write_table(file, target, format, made, {"catalog", result, metric_});
      }};
}

}  // namespace epsflow::cli

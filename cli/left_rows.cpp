#include <epsflow/cli/left_rows.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include <epsflow/cli/reading.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/io/checksum.hpp>
#include <epsflow/parts/shared_sweep.hpp>

namespace epsflow::cli {

std::optional<io::RowFile> rows_to_leave(const Arguments& arguments, const Sweep& sweep, const Metric& metric,
                                         RunSettings settings) {
  const Words& files = arguments.operands();
  if (files.size() != 1 || parts::may_move(metric)) return std::nullopt;
  const io::ReadOptions options = read_options(arguments);
  std::optional<io::RowFile> file = io::open_row_file(std::filesystem::path(files.front()), options);
  if (!file || file->rows.bytes() <= options.memory / 2) return std::nullopt;
  settle_backend(file->rows.size, file->rows.dims, metric, settings);
  const parts::SharingAnswer sharing = parts::choose_sharing(
      parts::PointRows(file->rows), sweep, parts::engines_on(settings.devices, settings.engine), settings.run);
  if (sharing.sharing != parts::Sharing::parts) return std::nullopt;
  if (!arguments.flag("quiet")) say_what_was_read(file->origin, file->rows.size, file->rows.dims);
  return file;
}

io::ResultsInput results_input(const io::RowFile& file) {
  constexpr std::size_t kRows = std::size_t{1} << 18;
  const PointsSource& rows = file.rows;
  std::vector<io::FileDigest> digests;
  for (std::size_t first = 0; first < rows.size; first += kRows) {
    const std::size_t last = std::min(rows.size, first + kRows);
    Points some(last - first, rows.dims, rows.precision);
    some.precision() == Precision::float32 ? rows.write(first, last, some.values<float>().data())
                                           : rows.write(first, last, some.values<double>().data());
    some.view().visit([&](auto values) {
      const auto bad = std::ranges::find_if_not(values, [](auto x) { return std::isfinite(x); });
      if (bad == values.end()) return;
      const auto at = static_cast<std::size_t>(bad - values.begin());
      throw InputError(fmt::format(
          "{}: row {}, column {} is {}; DBSCAN needs finite coordinates: drop such rows with ReadOptions::on_nan = "
          "NanPolicy::drop",
          file.origin.inputs.front().name, first + at / rows.dims, at % rows.dims, *bad));
    });
    digests.push_back(io::digest_of_coordinates(some));
  }
  return {.origin = file.origin,
          .points = rows.size,
          .dims = rows.dims,
          .precision = rows.precision,
          .checksum = io::checksum_of(rows.size, rows.dims, rows.precision, digests),
          .weights = {}};
}

}  // namespace epsflow::cli

#include <epsflow/cli/out_of_core_rows.hpp>

#include <algorithm>
#include <cmath>
#include <system_error>

#include <epsflow/io/checksum.hpp>

namespace epsflow::cli {

namespace {

/// Returns whether the points of a file may exceed the memory, so that counting them is worthwhile. A compressed file
/// may have many times as many bytes of points as bytes.
bool may_be_large(const std::filesystem::path& file, std::uint64_t memory) {
  constexpr std::uint64_t kMostPacked = 32;
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(file, unknown);
  return !unknown && bytes > memory / kMostPacked;
}

/// Returns the folder of the results, or the nearest existing folder above it.
std::filesystem::path first_that_exists(const std::filesystem::path& out) {
  std::filesystem::path folder = std::filesystem::absolute(out);
  while (!std::filesystem::is_directory(folder) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

}  // namespace

std::optional<OutOfCoreRows> rows_to_leave(Input& input, const Sweep& sweep, RunSettings settings) {
  if (input.files.size() != 1 || parts::may_move(input.metric)) return std::nullopt;
  const io::ReadOptions& options = input.options;
  const std::filesystem::path path(input.files.front());
  std::optional<io::RowFile> file = io::open_row_file(path, options);
  // A file that must be copied is read into memory if it fits.
  const std::uint64_t most = file ? options.memory / 2 : options.memory;
  if (!file && may_be_large(path, options.memory)) file = io::shape_of(path, options);
  // The box of a snapshot transforms points.
  if (!file || !file->origin.box.empty() || file->rows.bytes() <= most) return std::nullopt;
  const PointsSource& rows = file->rows;
  settings.resolve(rows.size, rows.dims, input.metric);
  const parts::SharingAnswer sharing = parts::choose_sharing(
      {rows, input.metric}, sweep, parts::engines_on(settings.devices, settings.engine), settings.run);
  if (sharing.sharing != parts::Sharing::parts) return std::nullopt;
  io::FilePoints none(0, rows.dims, rows.precision);
  static_cast<io::PointsOrigin&>(none) = file->origin;
  input.resolve(none);
  if (!input.messages.quiet) say_what_was_read(file->origin, rows.size, rows.dims);
  return OutOfCoreRows{.file = std::move(*file), .sharing = sharing};
}

io::RowFile keep_on_disk(const Input& input, OutOfCoreRows rows, const std::filesystem::path& out) {
  if (rows.file.rows.write) return std::move(rows.file);
  const std::filesystem::path folder = first_that_exists(out);
  input.messages.tell("its coordinates, {}, are copied to a file without a name in {}, as parts need rows in any order",
                      format_bytes(rows.file.rows.bytes()), folder.string());
  return io::copy_rows(input.files.front(), input.options, std::move(rows.file), folder, input.options.memory / 4);
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
      throw input_error(
          "{}: row {}, column {} is {}; clustering needs finite coordinates: drop such rows with ReadOptions::on_nan = "
          "NanPolicy::drop",
          file.origin.inputs.front().name, first + at / rows.dims, at % rows.dims, *bad);
    });
    digests.push_back(io::digest_of_coordinates(some));
  }
  return {.origin = file.origin,
          .points = rows.size,
          .dims = rows.dims,
          .precision = rows.precision,
          .checksum = io::checksum_of(rows.size, rows.dims, rows.precision, digests)};
}

}  // namespace epsflow::cli

#include <epsflow/io/read/format.hpp>

#include <algorithm>
#include <array>
#include <optional>

#include <epsflow/io/read/arrow/arrow_formats.hpp>
#include <epsflow/io/read/first_bytes.hpp>
#include <epsflow/io/read/fits/fits_format.hpp>
#include <epsflow/io/read/hdf5/hdf5_format.hpp>
#include <epsflow/io/read/numpy/npy_reader.hpp>
#include <epsflow/io/read/numpy/npz_format.hpp>
#include <epsflow/io/read/raw_reader.hpp>
#include <epsflow/io/read/text/text_reader.hpp>

namespace epsflow::io {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kNeedsArrow = "EPSFLOW_WITH_PARQUET=ON (libarrow and libparquet)";

/// Returns the first format that passes the test, or null.
template <class Test>
const Format* find_where(Test test) {
  const std::span<const Format* const> all = all_formats();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Format* format) { return test(*format); });
  return found == all.end() ? nullptr : *found;
}

bool is_utf16(std::string_view bytes) noexcept {
  return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
}

}  // namespace

const Format& text_format() {
  static const Format format{.name = "text", .takes = {ReadOption::text}, .reader = {.read = read_text}};
  return format;
}

const Format& npy_format() {
  static const Format format{.name = "NPY",
                             .extensions = {".npy"},
                             .magic = "\x93NUMPY",
                             .takes = {ReadOption::share},
                             .reader = {.read = read_npy}};
  return format;
}

const Format& raw_format() {
  static const Format format{
      .name = "raw",
      .extensions = {".raw", ".bin", ".f32", ".f64"},
      .takes = {ReadOption::raw, ReadOption::share},
      .reader = {.read = read_raw},
  };
  return format;
}

const Format& npz_format() {
  static const Format format{
      .name = "NPZ",
      .extensions = {".npz"},
      .begins = [](std::string_view bytes) { return first_zip_entry(bytes).ends_with(".npy"); },
      .takes = {ReadOption::table},
      .needs = "EPSFLOW_WITH_NPZ=ON (libzip)",
      .reader = npz_reader(),
  };
  return format;
}

const Format& fits_format() {
  static const Format format{
      .name = "FITS",
      .extensions = {".fits", ".fit", ".fts"},
      .magic = "SIMPLE  =",
      .takes = {ReadOption::table, ReadOption::share},
      .needs = "EPSFLOW_WITH_FITS=ON (cfitsio)",
      .must_begin = "SIMPLE",
      .otherwise = "not a FITS file: it does not begin with SIMPLE; name it by its kind",
      .reader = fits_reader(),
  };
  return format;
}

const Format& hdf5_format() {
  static const Format format{
      .name = "HDF5",
      .extensions = {".h5", ".hdf5", ".hdf"},
      .magic = "\x89HDF\r\n\x1a\n",
      .takes = {ReadOption::table, ReadOption::particles, ReadOption::external_storage, ReadOption::share},
      .needs = "EPSFLOW_WITH_HDF5=ON (libhdf5)",
      .reader = hdf5_reader(),
  };
  return format;
}

const Format& parquet_format() {
  static const Format format{
      .name = "Parquet",
      .extensions = {".parquet", ".parq", ".pq"},
      // PAR1,PAR2 may be names of columns.
      .begins = [](std::string_view bytes) { return bytes.starts_with("PAR1") && find_binary(bytes).has_value(); },
      .takes = {ReadOption::share},
      .needs = kNeedsArrow,
      .must_begin = "PAR1",
      .otherwise = "not a Parquet file: it does not begin with PAR1; name it by its kind",
      .reader = parquet_reader(),
  };
  return format;
}

const Format& arrow_format() {
  static const Format format{
      .name = "Arrow",
      .extensions = {".arrow", ".feather", ".ipc"},
      .magic = "ARROW1\0\0"sv,
      .takes = {ReadOption::share},
      .needs = kNeedsArrow,
      .must_begin = "ARROW1",
      .otherwise =
          "not an Arrow file: it does not begin with ARROW1; name it by its kind, or write an Arrow stream as a "
          "file, as pyarrow.ipc.new_file does",
      .reader = arrow_reader(),
  };
  return format;
}

std::span<const Format* const> all_formats() {
  static const std::array formats{
      &text_format(), &npy_format(),  &raw_format(),     &npz_format(),
      &fits_format(), &hdf5_format(), &parquet_format(), &arrow_format(),
  };
  return formats;
}

void throw_left_out(const Format& format) {
  throw UsageError(fmt::format("this build reads and writes no {}: build with {}", format.name, format.needs));
}

FileName parse_name(const std::filesystem::path& file) {
  FileName name{.extension = to_lower(file.extension().string())};
  if (name.extension == ".gz") name = {to_lower(file.stem().extension().string()), true};
  name.format = find_where([&](const Format& format) {
    return std::find(format.extensions.begin(), format.extensions.end(), name.extension) != format.extensions.end();
  });
  return name;
}

const Format& find_format(std::span<const char> first_bytes, const FileName& name, bool raw_is_expected,
                          const std::string& shown) {
  const std::string_view bytes(first_bytes.data(), first_bytes.size());
  const auto has_magic = [&](const Format& format) { return !format.magic.empty() && bytes.starts_with(format.magic); };
  if (const Format* const format = find_where(has_magic)) return *format;
  if (name.format == &raw_format()) return raw_format();
  const auto begins = [&](const Format& format) { return format.begins != nullptr && format.begins(bytes); };
  if (const Format* const format = find_where(begins)) return *format;
  const std::optional<std::size_t> binary = find_binary(bytes);
  if (const auto foreign = find_foreign(bytes, binary)) {
    throw InputError(fmt::format("{}: is {}, which is not read; {}", shown, foreign->name, foreign->remedy));
  }
  if (name.format != nullptr) return *name.format;
  if (!binary || is_utf16(bytes)) return text_format();
  if (raw_is_expected) return raw_format();
  throw InputError(
      fmt::format("{}: is no text: byte {} is 0x{:02x}, which UTF-8 text does not have there; name the file "
                  "by its kind, .raw for bare coordinates, or convert text to UTF-8, as iconv does",
                  shown, *binary, static_cast<unsigned char>(bytes[*binary])));
}

}  // namespace epsflow::io

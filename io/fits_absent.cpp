// Stands in for the reader and the writers of FITS in a build without cfitsio.
#include <epsflow/io/optional_formats.hpp>
#include <epsflow/io/read/fits/fits_reader.hpp>
#include <epsflow/io/write/fits_writer.hpp>
#include <epsflow/io/write/labelled_fits.hpp>

namespace epsflow::io {

FormatInfo fits_info() { return {"FITS", false, "EPSFLOW_WITH_FITS=ON (cfitsio)"}; }

FilePoints read_fits(ByteStream&, const Source&) { throw_left_out(fits_info()); }

void write_fits_labels(const std::filesystem::path&, const VariantResult&, Overwrite, const Metric&) {
  throw_left_out(fits_info());
}

std::vector<std::string> fits_column_names(std::span<const std::filesystem::path>, const ReadOptions&, const FilePoints&) {
  throw_left_out(fits_info());
}

std::string fits_left_out(std::span<const std::filesystem::path>, const ReadOptions&, const Points&) {
  throw_left_out(fits_info());
}

void write_fits_copy(const std::filesystem::path&, const std::filesystem::path&, std::span<const std::filesystem::path>,
                     const ReadOptions&, const LabelledRows&) {
  throw_left_out(fits_info());
}

void require_fits_names(std::span<const std::string>) { throw_left_out(fits_info()); }

void write_fits_coordinates(const std::filesystem::path&, const std::filesystem::path&, std::span<const std::string>,
                            const LabelledRows&) {
  throw_left_out(fits_info());
}

}  // namespace epsflow::io

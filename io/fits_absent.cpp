// Stands in for the reader and the writers of FITS in a build without cfitsio.
#include <epsflow/io/read/fits/fits_format.hpp>
#include <epsflow/io/write/fits_writer.hpp>
#include <epsflow/io/write/labelled_fits.hpp>
#include <epsflow/io/write/table_writers.hpp>

namespace epsflow::io {

Reader fits_reader() { return {}; }

void write_fits_labels(const std::filesystem::path&, const VariantResult&, Overwrite, const Metric&, LabelNumbers) {
  throw_left_out(fits_format());
}

std::vector<std::string> fits_column_names(std::span<const std::filesystem::path>, const ReadOptions&,
                                           const FilePoints&) {
  throw_left_out(fits_format());
}

std::string fits_left_out(std::span<const std::filesystem::path>, const ReadOptions&, const FilePoints&) {
  throw_left_out(fits_format());
}

void write_fits_copy(const std::filesystem::path&, const std::filesystem::path&, std::span<const std::filesystem::path>,
                     const ReadOptions&, const LabelledRows&) {
  throw_left_out(fits_format());
}

void require_fits_names(std::span<const std::string>) { throw_left_out(fits_format()); }

void write_fits_coordinates(const std::filesystem::path&, const std::filesystem::path&, std::span<const std::string>,
                            const LabelledRows&) {
  throw_left_out(fits_format());
}

void write_fits_table(const std::filesystem::path&, const std::filesystem::path&, const Table&, const TableOrigin&) {
  throw_left_out(fits_format());
}

}  // namespace epsflow::io

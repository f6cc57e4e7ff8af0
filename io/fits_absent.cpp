// Stands in for fits_reader.cpp and fits_writer.cpp in a build without cfitsio.
#include <epsflow/io/fits_reader.hpp>
#include <epsflow/io/fits_writer.hpp>
#include <epsflow/io/optional_formats.hpp>

namespace epsflow::io {

FormatInfo fits_info() { return {"FITS", false, "EPSFLOW_WITH_FITS=ON (cfitsio)"}; }

Points read_fits(ByteStream&, const Source&) { throw_left_out(fits_info()); }

void write_fits_labels(const std::filesystem::path&, const VariantResult&, Overwrite) { throw_left_out(fits_info()); }

}  // namespace epsflow::io

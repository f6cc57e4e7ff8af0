#include <epsflow/io/write/fits_writer.hpp>

#include <fmt/format.h>

#include <mutex>
#include <string>

#include <epsflow/io/write/fits_output.hpp>

namespace epsflow::io {

void write_fits_labels(const std::filesystem::path& file, const VariantResult& result, Overwrite overwrite,
                       const Metric& metric, LabelNumbers numbers) {
  const std::scoped_lock lock(fits_mutex());
  write_atomically(file, overwrite, [&](const std::filesystem::path& temporary) {
    FitsOutput out(temporary, file, result.labels.size() * sizeof(std::int32_t));
    std::string name = "LABEL";
    std::string form = "1J";
    char* names[] = {name.data()};
    char* forms[] = {form.data()};
    const auto rows = static_cast<LONGLONG>(result.labels.size());
    int status = 0;
    fits_create_tbl(out.get(), BINARY_TBL, rows, 1, names, forms, nullptr, "LABELS", &status);
    out.check(status);
    out.write_variant(result.variant, metric);
    if (numbers == LabelNumbers::group) fits_update_key_str(out.get(), "NUMBERS", kGroupMark, "of LABEL", &status);
    out.check(status);
    // cfitsio takes a pointer to non-const, and does not write through it.
    fits_write_col(out.get(), TINT, 1, 1, 1, rows, const_cast<std::int32_t*>(result.labels.data()), &status);
    out.check(status);
    out.close();
  });
}

}  // namespace epsflow::io

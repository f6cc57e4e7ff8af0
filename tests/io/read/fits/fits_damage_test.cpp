#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <fitsio.h>

#include <epsflow/io/read_points.hpp>

#include "io/fits_samples.hpp"
#include "io/io_test.hpp"

namespace epsflow::io::test {
namespace {

TEST_CASE("fits: a file in memory whose last block is not complete") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "column.fits";
  FitsWriter(file).table(BINARY_TBL, "T", {{"x", "1J", {1, 2, 3}}});
  const std::string bytes = bytes_of_file(file);
  constexpr std::size_t kDataEnd = 5760 + 12;
  for (const std::size_t length : {kDataEnd, kDataEnd + 1, bytes.size() - 1, bytes.size()}) {
    CAPTURE(length);
    folder.write("cut.fits.gz", gzip(bytes.substr(0, length)));
    CHECK(values_of(read_points(folder / "cut.fits.gz")) == Values{1, 2, 3});
  }
  folder.write("cut.fits.gz", gzip(bytes.substr(0, kDataEnd - 1)));
  check_mentions(refusal(folder / "cut.fits.gz"), {"cut.fits.gz", "truncated"});
}

TEST_CASE("fits: a column's name without quotes is refused before cfitsio copies it") {
  const TempFolder folder;
  const std::filesystem::path file = folder / "column.fits";
  {
    FitsWriter fits(file);
    fits.table(BINARY_TBL, "FIRST", {{"x", "1J", {1, 2, 3}}});
    fits.table(BINARY_TBL, "SECOND", {{"y", "1J", {1, 2, 3}}});
  }
  std::string bytes = bytes_of_file(file);
  const std::size_t at = bytes.rfind("TTYPE1");
  bytes.replace(at + 10, 70, 70, 'x');
  folder.write("bad.fits", bytes);
  folder.write("bad.fits.gz", gzip(bytes));
  for (const char* name : {"bad.fits", "bad.fits.gz"}) {
    check_mentions(refusal(folder / name), {name, "TTYPE1", "quotes"});
  }
}

TEST_CASE("fits: a table whose header lost rows is damaged, not shorter") {
  const TempFolder folder;
  const std::filesystem::path whole = folder / "whole.fits";
  const std::size_t rows = GENERATE(std::size_t{5000}, std::size_t{100});  // many blocks, and less than one
  CAPTURE(rows);
  const bool is_last = GENERATE(true, false);
  {
    FitsWriter fits(whole);
    fits.table(BINARY_TBL, "T", {{"A", "1D", Values(rows, 1.0)}});
    if (!is_last) fits.table(BINARY_TBL, "NEXT", {{"B", "1D"}});
    if (!is_last) fits.write(1, {2});
  }
  std::string bytes = bytes_of_file(whole);
  CHECK(read_points(whole).size() == rows);
  // Tapes were padded with zero blocks, which are not damage.
  CHECK(read_points(folder.write("tape.fits", bytes + std::string(2 * 2880, '\0'))).size() == rows);
  const std::size_t at = bytes.find("NAXIS2  =");
  bytes.replace(at, 30, rows == 100 ? "NAXIS2  =                   10" : "NAXIS2  =                  500");
  const std::string error = refusal(folder.write("lost.fits", bytes));
  check_mentions(error, {"lost.fits", "damaged", "fetch the file again"});
  check_mentions(refusal(folder.write("lost.fits.gz", gzip(bytes))), {"damaged"});
}

TEST_CASE("fits: truncated and damaged files") {
  const TempFolder folder;
  const std::filesystem::path whole = folder / "whole.fits";
  FitsWriter(whole).table(BINARY_TBL, "T", {{"A", "1D", Values(5000, 1.0)}});
  const std::string bytes = bytes_of_file(whole);
  check_mentions(refusal(folder.write("half.fits", bytes.substr(0, bytes.size() / 2))),
                 {"half.fits", "truncated", "40000 bytes"});
  check_mentions(refusal(folder.write("text.fits", "hello, world\n")), {"text.fits", "not a FITS file", "SIMPLE"});
  // A header that claims more rows than the file holds is refused before memory is allocated for them.
  std::string forged = bytes;
  const std::size_t at = forged.find("NAXIS2  =                 5000");
  REQUIRE(at != std::string::npos);
  forged.replace(at, 30, "NAXIS2  =      900000000000000");
  check_mentions(refusal(folder.write("forged.fits", forged)), {"forged.fits", "truncated"});
  // The error queue of cfitsio is empty again for the next call.
  char message[FLEN_ERRMSG];
  CHECK(fits_read_errmsg(message) == 0);
}

TEST_CASE("fits: a file without tables") {
  const TempFolder folder;
  { const FitsWriter fits(folder / "image.fits"); }
  check_mentions(refusal(folder / "image.fits"), {"image.fits", "no table"});
}

}  // namespace
}  // namespace epsflow::io::test

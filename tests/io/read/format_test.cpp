#include <epsflow/io/read/format.hpp>

#include <string>
#include <string_view>

#include "io/io_test.hpp"

namespace epsflow::io {
namespace {

using namespace std::string_view_literals;
using test::check_mentions;
using test::error_of;

std::string_view kind_of(std::string_view bytes, const std::string& name = "a.dat", bool raw_is_expected = false) {
  return find_format(bytes, parse_name(name), raw_is_expected, name).name;
}

std::string_view format_named(const std::string& file) {
  const Format* const format = parse_name(file).format;
  return format == nullptr ? "" : format->name;
}

std::string zip_of(const std::string& entry) {
  std::string bytes("PK\x03\x04", 4);
  bytes.resize(30, '\0');
  bytes[26] = static_cast<char>(entry.size());
  return bytes + entry + std::string(100, '\x01');
}

TEST_CASE("format: names, with and without .gz") {
  CHECK(format_named("A.FITS") == "FITS");
  CHECK(format_named("a.h5") == "HDF5");
  CHECK(format_named("a.npz") == "NPZ");
  CHECK(format_named("a.Parquet") == "Parquet");
  CHECK(format_named("a.pq") == "Parquet");
  CHECK(format_named("a.feather.gz") == "Arrow");
  CHECK(format_named("x/a.f32.gz") == "raw");
  CHECK(parse_name("a.f32.gz").is_packed);
  CHECK(parse_name("a.f32.gz").extension == ".f32");
  CHECK_FALSE(parse_name("a.csv").format != nullptr);
  CHECK_FALSE(parse_name("-").format != nullptr);
}

TEST_CASE("format: first bytes win over the name") {
  for (const char* name : {"a.csv", "a.fits", "a.raw", "-"}) {
    CAPTURE(name);
    CHECK(kind_of("\x93NUMPY\1\0"sv, name) == "NPY");
    CHECK(kind_of("\x89HDF\r\n\x1a\n"sv, name) == "HDF5");
    CHECK(kind_of("ARROW1\0\0\xFF\xFF"sv, name) == "Arrow");
  }
  CHECK(kind_of("SIMPLE  =                    T", "a.csv") == "FITS");
  CHECK(kind_of(zip_of("x.npy"), "a.zip") == "NPZ");
  CHECK(kind_of("PAR1\x15\x04\x15"sv, "a.csv") == "Parquet");
  CHECK(kind_of("PAR1\x15\x04\x15"sv, "a.raw") == "raw");  // raw files may begin with any four bytes
  CHECK(kind_of("1,2\n", "a.npy") == "NPY");               // the NPY reader reports the wrong format
  for (const char* name : {"a.csv", "a.TSV", "a.txt", "a.dat", "a.asc", "a", "a.b.c"}) {
    CHECK(kind_of("1,2\n", name) == "text");
  }
  CHECK(kind_of("") == "text");
  CHECK(kind_of("PK\x03\x04 and other floats"sv, "a.raw") == "raw");
}

TEST_CASE("format: files of other programs are refused by name, with the way out") {
  const auto refusal = [](std::string_view bytes) { return error_of<InputError>([&] { (void)kind_of(bytes); }); };
  check_mentions(refusal("PARE\x15\x04\x15"sv), {"a.dat", "encrypted Parquet"});
  check_mentions(refusal("FEA1\0\0"sv), {"Feather", "version 2"});
  check_mentions(refusal("\x80\x04\x95\x10"sv), {"pickle", "numpy.save"});
  check_mentions(refusal(zip_of("data.csv")), {"ZIP", "unzip"});
  check_mentions(refusal(zip_of("[Content_Types].xml")), {"Excel", "CSV"});
  check_mentions(refusal("BZh91AY&SY\xD6\x01"sv), {"bzip2", "bunzip2"});
  check_mentions(refusal("\xFD"
                         "7zXZ\0\0"sv),
                 {"xz", "unxz"});
  check_mentions(refusal("\x28\xB5\x2F\xFD\x04"sv), {"zstd", "unzstd"});
  check_mentions(refusal("MATLAB 5.0 MAT-file, Platform\0\0\1\x49"sv), {"MATLAB", "writematrix"});
  check_mentions(refusal("CDF\x01\0\0"sv), {"netCDF-3", "nccopy"});
  check_mentions(refusal("<?xml version=\"1.0\"?>\n<VOTABLE version=\"1.3\">"), {"VOTable", "FITS"});
  check_mentions(refusal("<?xml version=\"1.0\"?>\n<kml>"), {"XML", "CSV"});
  check_mentions(refusal("\n<!DOCTYPE HTML>\n<html>"), {"web page", "fetch"});
  check_mentions(refusal("%PDF-1.7\n%\xE2\xE3"sv), {"PDF"});
  check_mentions(refusal("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv), {"Excel"});
}

TEST_CASE("format: text may begin as others do") {
  for (const char* text : {"PAR1,PAR2\n1,2\n", "BZh,x\n1,2\n", "<NA>,1\n2,3\n", "CDF x\n1 2\n", "ARROW1\n1\n"}) {
    CAPTURE(text);
    CHECK(kind_of(text) == "text");
  }
}

TEST_CASE("format: bytes that are no text") {
  for (const std::string_view bytes : {"1,2\n3,\x01\n"sv, "\x1b[31m1,2\n"sv, "L\xE4nge,x\n1,2\n"sv, "1,\0002\n"sv}) {
    check_mentions(error_of<InputError>([&] { (void)kind_of(bytes); }), {"a.dat", "is no text", "byte ", "0x"});
    CHECK(kind_of(bytes, "a.dat", true) == "raw");
  }
  CHECK(kind_of("L\xC3\xA4nge,\xE2\x82\xAC\n1,2\n") == "text");
  CHECK(kind_of("\xEF\xBB\xBF"
                "1,2\n") == "text");
  CHECK(kind_of("\xFF\xFE"
                "1"sv) == "text");  // the text reader reports UTF-16
  // A character of several bytes crosses the end of the examined bytes.
  CHECK(kind_of(std::string(1023, 'x') + "\xC3\xA4\n") == "text");
}

}  // namespace
}  // namespace epsflow::io

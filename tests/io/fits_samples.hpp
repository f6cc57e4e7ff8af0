#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <fitsio.h>

#include <epsflow/io/read_points.hpp>

#include "io/io_test.hpp"

namespace epsflow::io::test {

struct FitsColumn {
  std::string name;
  std::string form;
  Values values = {};
};

/// Writes a FITS file with cfitsio, one table after the other.
class FitsWriter {
 public:
  explicit FitsWriter(const std::filesystem::path& file) {
    fits_create_diskfile(&file_, file.c_str(), &status_);
    fits_create_img(file_, BYTE_IMG, 0, nullptr, &status_);
  }
  ~FitsWriter() {
    fits_close_file(file_, &status_);
    CHECK(status_ == 0);
  }
  FitsWriter(const FitsWriter&) = delete;
  FitsWriter& operator=(const FitsWriter&) = delete;

  /// Begins a table, and writes the columns whose numbers are given.
  void table(int kind, const char* name, std::vector<FitsColumn> columns) {
    std::vector<char*> names;
    std::vector<char*> types;
    for (FitsColumn& column : columns) {
      names.push_back(column.name.data());
      types.push_back(column.form.data());
    }
    fits_create_tbl(file_, kind, 0, static_cast<int>(columns.size()), names.data(), types.data(), nullptr, name,
                    &status_);
    REQUIRE(status_ == 0);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (!columns[k].values.empty()) write(static_cast<int>(k) + 1, columns[k].values);
    }
  }
  void key(const char* name, double value) { fits_write_key(file_, TDOUBLE, name, &value, nullptr, &status_); }
  void key(const char* name, int value) { fits_write_key(file_, TINT, name, &value, nullptr, &status_); }
  void key(const char* name, const char* value) { fits_write_key_str(file_, name, value, nullptr, &status_); }
  /// Makes cfitsio read the keys that were just written.
  void apply_keys() { fits_set_hdustruc(file_, &status_); }
  /// row: the first, from 1 on.
  void write(int column, Values values, int row = 1) { write_as(TDOUBLE, column, values, row); }
  void write_text(int column, Names values) {
    std::vector<char*> texts;
    for (std::string& value : values) texts.push_back(value.data());
    write_as(TSTRING, column, texts);
  }
  void write_integers(int column, std::vector<LONGLONG> values) { write_as(TLONGLONG, column, values); }
  void write_logical(int column, std::vector<char> values) { write_as(TLOGICAL, column, values); }
  void write_bytes(int row, int first, std::string bytes) {
    fits_write_tblbytes(file_, row, first, static_cast<LONGLONG>(bytes.size()),
                        reinterpret_cast<unsigned char*>(bytes.data()), &status_);
    REQUIRE(status_ == 0);
  }
  void write_checksums() {
    fits_write_chksum(file_, &status_);
    REQUIRE(status_ == 0);
  }
  void write_null(int column, int row) {
    fits_write_col_null(file_, column, row, 1, 1, &status_);
    REQUIRE(status_ == 0);
  }

 private:
  template <class T>
  void write_as(int type, int column, std::vector<T>& values, int row = 1) {
    fits_write_col(file_, type, column, row, 1, static_cast<LONGLONG>(values.size()), values.data(), &status_);
    REQUIRE(status_ == 0);
  }

  fitsfile* file_ = nullptr;
  int status_ = 0;
};

}  // namespace epsflow::io::test

// Writes HDF5 files for tests as other programs write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <hdf5.h>

#include "support/catch.hpp"

namespace epsflow::io::test {

/// A row of a table. Some of its members are not numbers.
struct Row {
  double lat;
  float lon;
  std::int32_t kind;
  char name[4];
  float pair[2];
};

/// Writes an HDF5 file and creates the groups on the path of a data set.
class Hdf5Writer {
 public:
  explicit Hdf5Writer(const std::filesystem::path& file)
      : file_(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)), links_(H5Pcreate(H5P_LINK_CREATE)) {
    REQUIRE(file_ >= 0);
    H5Pset_create_intermediate_group(links_, 1);
  }
  ~Hdf5Writer() {
    H5Pclose(links_);
    H5Fclose(file_);
  }
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  void matrix(const char* path, hid_t type, std::vector<hsize_t> shape, const std::vector<double>& values,
              bool chunked = false) {
    dataset(path, type, H5T_NATIVE_DOUBLE, shape, values.data(), chunked);
  }

  void dataset(const char* path, hid_t type, hid_t memory_type, std::vector<hsize_t> shape, const void* values,
               bool chunked = false) {
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    if (chunked) {
      in_chunks(layout, shape);
      H5Pset_deflate(layout, 4);
    }
    create(path, type, memory_type, shape, values, layout);
  }

  /// values: null: nothing is written. layout: of the data set, which is closed.
  void create(const char* path, hid_t type, hid_t memory_type, const std::vector<hsize_t>& shape, const void* values,
              hid_t layout) const {
    const hid_t space =
        shape.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t id = H5Dcreate2(file_, path, type, space, links_, layout, H5P_DEFAULT);
    REQUIRE(id >= 0);
    if (values != nullptr) REQUIRE(H5Dwrite(id, memory_type, hid_t{0}, hid_t{0}, H5P_DEFAULT, values) >= 0);
    H5Dclose(id);
    H5Pclose(layout);
    H5Sclose(space);
  }

  /// Chooses chunks of two rows.
  static void in_chunks(hid_t layout, std::vector<hsize_t> shape) {
    shape[0] = 2;
    H5Pset_chunk(layout, static_cast<int>(shape.size()), shape.data());
  }

  /// Writes a virtual data set. Its `count` float64 values lie in the data set `name` of another file.
  void linked(const char* path, hsize_t count, const std::filesystem::path& file, const char* name) const {
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_virtual(layout, space, file.c_str(), name, space);
    H5Sclose(space);
    create(path, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {count}, nullptr, layout);
  }

  void table(const char* path, const std::vector<Row>& rows, bool chunked) {
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, 4);
    const hsize_t two = 2;
    const hid_t pair = H5Tarray_create2(H5T_NATIVE_FLOAT, 1, &two);
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Row));
    H5Tinsert(type, "lat", offsetof(Row, lat), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "lon", offsetof(Row, lon), H5T_NATIVE_FLOAT);
    H5Tinsert(type, "kind", offsetof(Row, kind), H5T_NATIVE_INT32);
    H5Tinsert(type, "name", offsetof(Row, name), text);
    H5Tinsert(type, "pair", offsetof(Row, pair), pair);
    dataset(path, type, type, {rows.size()}, rows.data(), chunked);
    H5Tclose(type);
    H5Tclose(pair);
    H5Tclose(text);
  }

  /// Writes a scalar attribute of an object: text of fixed length, or a number.
  void text(const char* path, const char* name, const std::string& value) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, value.size());
    attribute(path, name, type, value.data());
    H5Tclose(type);
  }
  void number(const char* path, const char* name, hid_t type, double value) {
    write_attribute(path, name, type, H5T_NATIVE_DOUBLE, H5Screate(H5S_SCALAR), &value);
  }
  void attribute(const char* path, const char* name, hid_t type, const void* value) {
    write_attribute(path, name, type, type, H5Screate(H5S_SCALAR), value);
  }
  void numbers(const char* path, const char* name, const std::vector<double>& values) {
    const hsize_t count = values.size();
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    write_attribute(path, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, space, values.data());
  }
  void group(const char* path) {
    const hid_t id = H5Gcreate2(file_, path, links_, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(id >= 0);
    H5Gclose(id);
  }
  hid_t file() const { return file_; }

 private:
  /// space: is closed.
  void write_attribute(const char* path, const char* name, hid_t type, hid_t memory_type, hid_t space,
                       const void* values) {
    const hid_t id = H5Acreate_by_name(file_, path, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(id >= 0);
    REQUIRE(H5Awrite(id, memory_type, values) >= 0);
    H5Aclose(id);
    H5Sclose(space);
  }

  hid_t file_;
  hid_t links_;
};

/// Registers a filter that inverts all bits, until it is destroyed. epsflow-reader lacks this filter.
class ForeignFilter {
 public:
  ForeignFilter(H5Z_filter_t number, const char* name, H5Z_func_t turn = turn_over) : number_(number) {
    const H5Z_class2_t filter{H5Z_CLASS_T_VERS, number, 1, 1, name, nullptr, nullptr, turn};
    REQUIRE(H5Zregister(&filter) >= 0);
  }
  ~ForeignFilter() { H5Zunregister(number_); }
  ForeignFilter(const ForeignFilter&) = delete;
  ForeignFilter& operator=(const ForeignFilter&) = delete;

  static std::size_t turn_over(unsigned, std::size_t, const unsigned*, std::size_t size, std::size_t*, void** bytes) {
    for (std::size_t i = 0; i < size; ++i) static_cast<unsigned char*>(*bytes)[i] ^= 0xFFU;
    return size;
  }
  /// Fails as a filter that cannot make a chunk smaller.
  static std::size_t give_up(unsigned, std::size_t, const unsigned*, std::size_t, std::size_t*, void**) { return 0; }

  /// Writes a data set in chunks of two rows with this filter.
  void write(const Hdf5Writer& writer, const char* path, hid_t type, const std::vector<hsize_t>& shape,
             const void* values, unsigned flags = H5Z_FLAG_MANDATORY) const {
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    Hdf5Writer::in_chunks(layout, shape);
    REQUIRE(H5Pset_filter(layout, number_, flags, 0, nullptr) >= 0);
    writer.create(path, type, type, shape, values, layout);
  }

 private:
  H5Z_filter_t number_;
};

}  // namespace epsflow::io::test

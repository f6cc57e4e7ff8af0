// write_snapshot FILE MASS...: writes a snapshot for tests: gas, and dark matter on a line with these masses.
#include <cstdlib>
#include <vector>

#include <hdf5.h>

namespace {

using Values = std::vector<double>;

void write(hid_t file, const char* path, const std::vector<hsize_t>& shape, const Values& values) {
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t id = H5Dcreate2(file, path, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(id, H5T_NATIVE_DOUBLE, hid_t{0}, hid_t{0}, H5P_DEFAULT, values.data());
  H5Dclose(id);
  H5Sclose(space);
}

void describe(hid_t file, const char* name, const Values& values) {
  const hsize_t count = values.size();
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t id =
      H5Acreate_by_name(file, "/Header", name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(id, H5T_NATIVE_DOUBLE, values.data());
  H5Aclose(id);
  H5Sclose(space);
}

}  // namespace

int main(int argc, char** argv) {
  Values masses;
  for (int i = 2; i < argc; ++i) masses.push_back(std::strtod(argv[i], nullptr));
  const hsize_t n = masses.size();
  Values positions;
  for (hsize_t i = 0; i < n; ++i) positions.insert(positions.end(), {1 + 0.1 * static_cast<double>(i), 1, 1});
  const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  for (const char* group : {"/Header", "/PartType0", "/PartType1"}) {
    H5Gclose(H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  describe(file, "NumPart_ThisFile", {2, static_cast<double>(n), 0, 0, 0, 0});
  describe(file, "BoxSize", {10});
  write(file, "/PartType0/Coordinates", {2, 3}, {1.01, 1, 1, 6, 6, 6});
  write(file, "/PartType1/Coordinates", {n, 3}, positions);
  write(file, "/PartType1/Masses", {n}, masses);
  H5Fclose(file);
}

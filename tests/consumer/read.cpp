// Reads points from a file through epsflow::io, which links cfitsio, zlib and HDF5.
#include <filesystem>
#include <fstream>

#include <epsflow/io/read_points.hpp>

int main() {
  const std::filesystem::path file = "consumer_points.csv";
  std::ofstream(file) << "x,y\n0,0\n1,2\n3,4\n";
  const epsflow::Points points = epsflow::io::read_points(file);
  std::filesystem::remove(file);
  return points.size() == 3 && points.dims() == 2 ? 0 : 1;
}

// make_seeds FOLDER: writes a small valid file per reader into FOLDER/<fuzz target>, behind the byte that picks the options.
// Files of a library's own format are made here, not kept as bytes that nobody can read.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <epsflow/io/hdf5_writer.hpp>
#include <epsflow/io/write_labels.hpp>

namespace {

namespace fs = std::filesystem;

void add_seed(const fs::path& folder, const fs::path& file) {
  fs::create_directories(folder);
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::ofstream(folder / file.filename(), std::ios::binary) << '\0' << bytes;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const fs::path root = words[1];
  const fs::path work = root / "made";
  fs::remove_all(work);
  fs::create_directories(work);
  const auto overwrite = epsflow::io::Overwrite::refuse;
  const epsflow::VariantResult result{{0.5, 2}, {0, 0, -1, 1, 1, 1}, {2, 1, 5, 0, 3}, 0.1};
  const std::vector<double> xy{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5};
  epsflow::io::write_labels(work / "labels.fits", result, overwrite);
  epsflow::io::write_labels(work / "labels.h5", result, overwrite);
  const std::vector<std::uint64_t> offsets{0, 1, 3};
  const std::vector<std::uint32_t> ids{0, 0, 1};
  epsflow::io::write_hdf5_neighbors(work / "neighbors.h5", {offsets, ids, {}, 0.5}, overwrite);
  epsflow::io::write_points(work / "points.npy", epsflow::PointsView(xy, 2), {}, overwrite);
  epsflow::io::write_points(work / "points.csv", epsflow::PointsView(xy, 2), {"x", "y"}, overwrite);
  add_seed(root / "fuzz_fits", work / "labels.fits");
  add_seed(root / "fuzz_hdf5", work / "labels.h5");
  add_seed(root / "fuzz_hdf5", work / "neighbors.h5");
  add_seed(root / "fuzz_npy", work / "points.npy");
  add_seed(root / "fuzz_text", work / "points.csv");
  fs::remove_all(work);
  return 0;
}

// make_seeds FOLDER writes a small valid file per reader into FOLDER/<fuzz target>, after the byte that selects the
// options. Files in the formats of libraries are made here and not stored, because their bytes are not readable.
#include <zip.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <epsflow/io/results/results_folder.hpp>
#include <epsflow/io/write/hdf5_writer.hpp>
#include <epsflow/io/write_labels.hpp>

namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void add_seed(const fs::path& folder, const fs::path& file) {
  fs::create_directories(folder);
  std::ofstream(folder / file.filename(), std::ios::binary) << '\0' << bytes_of(file);
}

void write_npz(const fs::path& file, const fs::path& array) {
  const std::string bytes = bytes_of(array);
  zip_t* const archive = zip_open(file.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  for (const char* member : {"x.npy", "packed.npy"}) {
    const zip_int64_t index =
        zip_file_add(archive, member, zip_source_buffer(archive, bytes.data(), bytes.size(), 0), 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index),
                             member[0] == 'x' ? ZIP_CM_STORE : ZIP_CM_DEFLATE, 0);
  }
  zip_close(archive);
}

// The seed has the form of fuzz_results.cpp: the way to open the folder, summary.csv, sweep.json, lines of the journal.
void add_results_seeds(const fs::path& seeds, const fs::path& folder, const epsflow::VariantResult& result) {
  const epsflow::io::FilePoints points(result.labels.size(), 1, epsflow::Precision::float64);
  {
    epsflow::io::ResultsFolder results(folder, epsflow::Sweep({result.variant}), epsflow::io::FolderMode::fresh, {},
                                       {});
    if (!results.begin(epsflow::io::results_input(points), {}).empty()) results.add(result);
    results.finish("complete", 1, epsflow::Trace());
  }
  const std::string summary = bytes_of(folder / "summary.csv");
  const std::string manifest = bytes_of(folder / "sweep.json");
  const epsflow::io::Manifest read = epsflow::io::read_manifest(folder);
  epsflow::io::Journal written(folder / "journal", read, false);
  for (const auto& [name, digest] : read.files) written.add(name, digest);
  for (const auto& [variant, entry] : read.entries) written.add(entry);
  written.sync();
  std::string journal;  // without the checksums of its lines
  std::ifstream in(folder / "journal");
  for (std::string line; std::getline(in, line);) journal += line.substr(0, line.rfind(' ')) + "\n";
  fs::create_directories(seeds);
  for (const int mode : {8, 9, 10, 11, 12, 13}) {
    const auto seed = [&](const std::string& name, const std::string& first, const std::string& second,
                          const std::string& third) {
      std::ofstream(seeds / (name + std::to_string(mode)), std::ios::binary)
          << static_cast<char>(mode) << first << '\0' << second << '\0' << third;
    };
    seed("complete", summary, manifest, "");
    seed("killed", summary, manifest, journal);
    seed("begun", "", "", journal);
    seed("committed", summary, manifest, journal + "commit\n");
  }
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
  add_results_seeds(root / "fuzz_results", work / "results", result);
  add_seed(root / "fuzz_fits", work / "labels.fits");
  add_seed(root / "fuzz_hdf5", work / "labels.h5");
  add_seed(root / "fuzz_hdf5", work / "neighbors.h5");
  add_seed(root / "fuzz_npy", work / "points.npy");
  write_npz(work / "points.npz", work / "points.npy");
  add_seed(root / "fuzz_npz", work / "points.npz");
  add_seed(root / "fuzz_text", work / "points.csv");
  fs::remove_all(work);
  return 0;
}

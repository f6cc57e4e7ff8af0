#include <nlohmann/json.hpp>

#include <epsflow/cli/ranks.hpp>
#include <epsflow/core/json_numbers.hpp>
#include <epsflow/io/checksum.hpp>

namespace epsflow::cli {
namespace {

/// The files and the rows that a rank reads.
struct RankFiles {
  std::size_t first = 0;
  std::size_t files = 0;
  io::RowShare share;
};

RankFiles files_of(std::size_t files, std::size_t rank, std::size_t ranks) {
  if (files >= ranks) {
    const std::size_t first = files * rank / ranks;
    return {first, files * (rank + 1) / ranks - first, {}};
  }
  // File f belongs to the ranks from ranks · f / files on.
  std::size_t file = 0;
  while (ranks * (file + 1) / files <= rank) ++file;
  const std::size_t first = ranks * file / files;
  return {file, 1, {rank - first, ranks * (file + 1) / files - first}};
}

/// Throws UsageError for files that several processes cannot read.
void check_files(const Words& files, const RankFiles& mine) {
  for (std::size_t f = mine.first; f < mine.first + mine.files; ++f) {
    if (files[f] == "-") {
      throw UsageError("standard input is of one process, and several are to read: name files");
    }
    std::error_code code;
    const std::filesystem::file_status status = std::filesystem::status(files[f], code);
    if (mine.share.count == 1 || !std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) continue;
    if (std::filesystem::is_directory(status)) continue;  // the reader reports the error in more detail
    throw UsageError(files[f] + " can be read only once, and several processes are to share it: write it to a file");
  }
}

io::FilePoints read_files(const Words& files, const RankFiles& mine, io::ReadOptions options) {
  check_files(files, mine);
  options.share = mine.share;
  const auto begin = files.begin() + static_cast<std::ptrdiff_t>(mine.first);
  return io::read_points(paths_of(Words(begin, begin + static_cast<std::ptrdiff_t>(mine.files))), options);
}

/// Returns the origin of the points in MessagePack, which also accepts file names that are not UTF-8.
std::vector<std::uint8_t> packed(const io::FilePoints& points) {
  nlohmann::json json{{"names", points.column_names},
                      {"numbers", points.column_numbers},
                      {"dims", points.dims()},
                      {"weight", points.weight_column},
                      {"box", points.box}};
  json["inputs"] = nlohmann::json::array();
  for (const io::InputRows& input : points.inputs) {
    json["inputs"].push_back({{"name", input.name},
                              {"kind", input.kind},
                              {"rows", input.rows},
                              {"first", input.first},
                              {"pieces", input.pieces},
                              {"dropped", input.dropped}});
  }
  return nlohmann::json::to_msgpack(json);
}

/// Sets the columns of points as a process has packed() them.
void set_columns(io::PointsOrigin& origin, const nlohmann::json& read) {
  const std::vector<std::uint64_t> numbers = JsonNumbers(read, "what the first process has read").counts("numbers");
  origin.column_names = read["names"].get<Words>();
  origin.column_numbers.assign(numbers.begin(), numbers.end());
  origin.weight_column = read["weight"].get<std::string>();
}

/// Adds the files of a process to the origin of all points. read, first: packed() on this and on the first process.
/// Throws InputError if they are not one data set.
void add_inputs(io::PointsOrigin& all, const RankFiles& mine, const nlohmann::json& read, const nlohmann::json& first,
                bool columns_chosen) {
  const std::string& name = read["inputs"].front()["name"].get_ref<const std::string&>();
  const std::string& first_name = first["inputs"].front()["name"].get_ref<const std::string&>();
  if (read["dims"] != first["dims"]) {
    throw input_error(
        "{} has {} columns, but {} has {}; files read as one data set need the same: choose with ReadOptions::columns",
        name, JsonNumbers(read, "what a process has read of " + name).count("dims"), first_name,
        JsonNumbers(first, "the first").count("dims"));
  }
  if (!columns_chosen && read["names"] != first["names"]) {
    throw input_error("{} and {} name their columns differently; choose them with ReadOptions::columns", name,
                      first_name);
  }
  if (read["box"] != first["box"]) {
    throw input_error("{} and {} are snapshots of different boxes; read them one by one", name, first_name);
  }
  for (std::size_t f = 0; f < mine.files; ++f) {
    const nlohmann::json& input = read["inputs"][f];
    const JsonNumbers numbers(input, "what a process has read of a file");
    if (mine.first + f == all.inputs.size()) {
      all.inputs.push_back({.name = input["name"].get<std::string>(),
                            .kind = input["kind"].get<std::string>(),
                            .pieces = numbers.count("pieces")});
    }
    io::InputRows& rows = all.inputs[mine.first + f];
    if (numbers.count("first") != rows.rows) {
      throw InputError(rows.name + ": was changed while it was read; read it again when it is complete");
    }
    rows.rows += numbers.count("rows");
    const std::vector<std::uint64_t> dropped = numbers.counts("dropped");
    rows.dropped.insert(rows.dropped.end(), dropped.begin(), dropped.end());
  }
}

}  // namespace

io::FilePoints read_share(const Input& input, parts::Communicator& ranks, const parts::MachineShare& machine,
                          io::PointsOrigin& origin) {
  const Words& files = input.files;
  const auto size = static_cast<std::size_t>(ranks.size());
  io::FilePoints points;
  std::vector<std::uint8_t> read;
  together(ranks, [&] {
    io::ReadOptions options = input.options;
    if (!input.has_memory) options.memory /= machine.processes;
    points = read_files(files, files_of(files.size(), static_cast<std::size_t>(ranks.rank()), size), options);
    read = packed(points);
  });
  const parts::PerRank<std::uint8_t> all = gather(ranks, std::span<const std::uint8_t>(read));
  const std::uint64_t n = ranks.sum(std::uint64_t{points.size()});
  const nlohmann::json first = nlohmann::json::from_msgpack(broadcast(ranks, read));
  on_root(ranks, [&] {
    set_columns(origin, first);
    for (std::size_t r = 0; r < size; ++r) {
      add_inputs(origin, files_of(files.size(), r, size), nlohmann::json::from_msgpack(all[r]), first,
                 !input.options.columns.empty());
    }
    if (!input.messages.quiet) say_what_was_read(origin, n, points.dims());
    require_points(origin, n);
  });
  set_columns(points, first);
  const bool wide = ranks.max(points.precision() == Precision::float64 ? std::uint64_t{1} : 0) == 1;
  together(ranks, [&] {
    if (wide) widen(points);
  });
  return points;
}

io::ResultsInput results_input(parts::Communicator& ranks, const io::FilePoints& share, io::PointsOrigin origin) {
  io::ResultsInput input{.origin = std::move(origin),
                         .points = ranks.sum(std::uint64_t{share.size()}),
                         .dims = share.dims(),
                         .precision = share.precision()};
  const auto checksum = [&](PointsView values) {
    const io::FileDigest mine = io::digest_of_coordinates(values);
    std::vector<io::FileDigest> digests;
    for (const auto& digest : gather(ranks, std::span<const io::FileDigest>(&mine, 1)))
      digests.push_back(digest.front());
    return io::checksum_of(input.points, values.dims(), values.precision(), digests);
  };
  input.checksum = checksum(share);
  if (!share.weight_column.empty()) input.weights = checksum(PointsView(share.weights, 1));
  return input;
}

}  // namespace epsflow::cli

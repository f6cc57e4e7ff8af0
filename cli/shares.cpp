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

std::vector<std::size_t> column_numbers(const JsonNumbers<nlohmann::json>& numbers) {
  const std::vector<std::uint64_t> counts = numbers.counts("numbers");
  return {counts.begin(), counts.end()};
}

/// Joins the origins of the points of all ranks. Throws InputError if they are not one data set.
class JoinedOrigins {
 public:
  explicit JoinedOrigins(bool columns_chosen) : columns_chosen_(columns_chosen) {}

  void add(const RankFiles& mine, const nlohmann::json& read) {
    const std::string& name = read["inputs"].front()["name"].get_ref<const std::string&>();
    const JsonNumbers numbers(read, "what a process has read of " + name);
    if (origin_.inputs.empty()) {
      first_ = read;
      origin_.column_names = read["names"].get<Words>();
      origin_.column_numbers = column_numbers(numbers);
      origin_.weight_column = read["weight"].get<std::string>();
    }
    if (read["dims"] != first_["dims"]) {
      throw input_error(
          "{} has {} columns, but {} has {}; files read as one data set need the same: choose with "
          "ReadOptions::columns",
          name, numbers.count("dims"), origin_.inputs.front().name, JsonNumbers(first_, "the first").count("dims"));
    }
    if (!columns_chosen_ && read["names"] != first_["names"]) {
      throw input_error("{} and {} name their columns differently; choose them with ReadOptions::columns", name,
                        origin_.inputs.front().name);
    }
    if (read["box"] != first_["box"]) {
      throw input_error("{} and {} are snapshots of different boxes; read them one by one", name,
                        origin_.inputs.front().name);
    }
    for (std::size_t f = 0; f < mine.files; ++f) add_rows(mine.first + f, read["inputs"][f]);
  }

  [[nodiscard]] io::PointsOrigin take() { return std::move(origin_); }

 private:
  void add_rows(std::size_t file, const nlohmann::json& read) {
    const JsonNumbers numbers(read, "what a process has read of a file");
    if (file == origin_.inputs.size()) {
      origin_.inputs.push_back({.name = read["name"].get<std::string>(),
                                .kind = read["kind"].get<std::string>(),
                                .pieces = numbers.count("pieces")});
    }
    io::InputRows& rows = origin_.inputs[file];
    if (numbers.count("first") != rows.rows) {
      throw InputError(rows.name + ": was changed while it was read; read it again when it is complete");
    }
    rows.rows += numbers.count("rows");
    const std::vector<std::uint64_t> dropped = numbers.counts("dropped");
    rows.dropped.insert(rows.dropped.end(), dropped.begin(), dropped.end());
  }

  bool columns_chosen_;
  nlohmann::json first_;
  io::PointsOrigin origin_;
};

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
  std::uint64_t n = ranks.sum(std::uint64_t{points.size()});
  on_root(ranks, [&] {
    JoinedOrigins joined(!input.options.columns.empty());
    for (std::size_t r = 0; r < size; ++r)
      joined.add(files_of(files.size(), r, size), nlohmann::json::from_msgpack(all[r]));
    origin = joined.take();
    if (!input.messages.quiet) say_what_was_read(origin, n, points.dims());
    require_points(origin, n);
  });
  const nlohmann::json first = nlohmann::json::from_msgpack(broadcast(ranks, read));
  points.column_names = first["names"].get<Words>();
  points.column_numbers = column_numbers(JsonNumbers(first, "what the first process has read"));
  points.weight_column = first["weight"].get<std::string>();
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

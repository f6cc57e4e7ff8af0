#include <epsflow/cli/arguments.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <thread>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/pipeline/backends.hpp>

namespace epsflow::cli {
namespace {

namespace po = boost::program_options;

/// One of a few words. Throws UsageError listing them.
template <class T>
T choose(const std::string& option, const std::string& word, const std::map<std::string, T>& choices) {
  const auto at = choices.find(word);
  if (at != choices.end()) return at->second;
  std::string known;
  for (const auto& [name, value] : choices) known += (known.empty() ? "" : ", ") + name;
  throw UsageError("--" + option + " '" + word + "' is unknown; choose one of " + known);
}

const std::map<std::string, BackendChoice> kBackends{
    {"auto", BackendChoice::automatic}, {"cpu", BackendChoice::cpu}, {"gpu", BackendChoice::gpu}};
const std::map<std::string, Kernel> kKernels{
    {"rows", Kernel::rows}, {"global", Kernel::global}, {"shared", Kernel::shared}};
const std::map<std::string, FormatChoice> kFormats{
    {"auto", FormatChoice::automatic}, {"csr", FormatChoice::csr}, {"packed", FormatChoice::packed}};
const std::map<std::string, VariantMethod> kMethods{{"nested", VariantMethod::nested}, {"each", VariantMethod::each}};
const std::map<std::string, io::NanPolicy> kNanPolicies{{"error", io::NanPolicy::error}, {"drop", io::NanPolicy::drop}};
const std::map<std::string, Precision> kPrecisions{{"float32", Precision::float32}, {"float64", Precision::float64}};

Words split_commas(const std::string& text) {
  Words parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

Arguments::Arguments(std::string usage, std::string about) : usage_(std::move(usage)), about_(std::move(about)) {}

po::options_description_easy_init Arguments::group(const std::string& caption) {
  return groups_.emplace_back(caption, 100).add_options();
}

void Arguments::add_input_options() {
  group("Input")("columns", po::value<std::string>()->value_name("A,B"),
                 "columns to use as coordinates, by name or 0-based number (default: all)")(
      "table", po::value<std::string>()->value_name("NAME"),
      "FITS: extension number or name; HDF5: path of the data set (default: the first, the only one)")(
      "on-nan", po::value<std::string>()->value_name("error|drop")->default_value("error"),
      "what to do with rows that hold NaN, infinity or nothing in a used column")(
      "dims", po::value<std::size_t>()->value_name("D"), "raw files: coordinates per point")(
      "precision", po::value<std::string>()->value_name("float32|float64")->default_value("float64"),
      "raw files: type of a coordinate");
}

void Arguments::add_run_options() {
  group("How to run (labels never depend on these)")(
      "memory", po::value<std::string>()->value_name("SIZE"),
      "most memory to hold, as in 8G or 512M (default: half of the machine's)")(
      "threads", po::value<unsigned>()->value_name("N")->default_value(0), "threads; 0: one per core")(
      "backend", po::value<std::string>()->value_name("auto|cpu|gpu")->default_value("auto"),
      "where to search; auto: on the GPU where there is one")(
      "gpu", po::value<int>()->value_name("N"), "which GPU, counted from 0 (default: the one with most free memory)")(
      "gpu-memory", po::value<std::string>()->value_name("SIZE"),
      "most memory to hold on the GPU (default: nine tenths of what is free)")(
      "kernel", po::value<std::string>()->value_name("rows|global|shared")->default_value("rows"),
      "how to search: whole rows, or by one of the paper's kernels, whose pairs are sorted afterwards")(
      "table-format", po::value<std::string>()->value_name("auto|csr|packed")->default_value("auto"),
      "the neighbour table in memory: ids, or a bit per candidate (up to three dimensions)")(
      "method", po::value<std::string>()->value_name("nested|each")->default_value("nested"),
      "variants of one table: nested from the largest minpts down, or each on its own")(
      "tables", po::value<unsigned>()->value_name("N")->default_value(0),
      "neighbour tables in memory at once; 0: choose")(
      "lanes", po::value<unsigned>()->value_name("N")->default_value(0), "batches under way at once; 0: choose")(
      "batch-pairs", po::value<std::uint64_t>()->value_name("N")->default_value(0),
      "pairs that the buffer of a lane holds; 0: choose")(
      "verify", po::bool_switch(), "check every labelling against the definition of DBSCAN (slow)");
}

void Arguments::add_output_options() {
  group("Messages")("json", po::bool_switch(), "print the result as JSON")(
      "quiet,q", po::bool_switch(), "print nothing but errors")("help,h", "this text");
}

bool Arguments::parse(const Words& words) {
  po::options_description all;
  for (const auto& g : groups_) all.add(g);
  po::options_description hidden;
  hidden.add_options()("input", po::value<Words>());
  po::options_description known;
  known.add(all).add(hidden);
  po::positional_options_description positional;
  positional.add("input", -1);
  try {
    // Abbreviations would change their meaning whenever an option is added.
    const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(words).options(known).positional(positional).style(style).run(), values_);
  } catch (const po::error& e) {
    throw UsageError(std::string(e.what()) + "; see --help");
  }
  if (!has("help")) return true;
  std::cout << "usage: " << usage_ << "\n\n" << about_ << "\n" << all;
  return false;
}

const std::string& Arguments::require(const char* name, const char* example) const {
  if (!has(name)) throw UsageError(fmt::format("--{} is missing; for example --{} {}", name, name, example));
  return get(name);
}

Words Arguments::inputs() const { return has("input") ? get<Words>("input") : Words{}; }

Points Arguments::read_input() const {
  const Words files = inputs();
  if (files.empty()) throw UsageError("no input file is given; usage: " + usage_);
  io::ReadOptions options;
  if (has("columns")) options.columns = split_commas(get("columns"));
  if (has("table")) options.table = get("table");
  options.on_nan = choose("on-nan", get("on-nan"), kNanPolicies);
  if (has("dims")) options.raw.dims = get<std::size_t>("dims");
  options.raw.precision = choose("precision", get("precision"), kPrecisions);
  options.memory = has("memory") ? parse_bytes(get("memory")) : machine_memory() / 2;
  return io::read_points(std::vector<std::filesystem::path>(files.begin(), files.end()), options);
}

Options Arguments::run_options() const {
  Options options;
  if (has("memory")) options.memory = parse_bytes(get("memory"));
  options.threads = get<unsigned>("threads");
  if (options.threads > 4096) throw UsageError("--threads " + std::to_string(options.threads) + " is over 4096");
  options.backend = choose("backend", get("backend"), kBackends);
  if (has("gpu")) options.gpu = get<int>("gpu");
  if (has("gpu") && options.gpu < 0) {
    throw UsageError("--gpu " + std::to_string(options.gpu) + " is no GPU; they are counted from 0");
  }
  if (has("gpu-memory")) options.gpu_memory = parse_bytes(get("gpu-memory"));
  options.kernel = choose("kernel", get("kernel"), kKernels);
  options.format = choose("table-format", get("table-format"), kFormats);
  options.method = choose("method", get("method"), kMethods);
  options.tables = get<unsigned>("tables");
  if (options.tables > 4096) throw UsageError("--tables " + std::to_string(options.tables) + " is over 4096");
  options.lanes = get<unsigned>("lanes");
  if (options.lanes > 4096) throw UsageError("--lanes " + std::to_string(options.lanes) + " is over 4096");
  options.lane_pairs = get<std::uint64_t>("batch-pairs");
  options.verify = get<bool>("verify");
  check_backend(options);  // before anything is read or written
  return options;
}

io::RunDescription Arguments::describe(const Points& points) const {
  io::RunDescription description;
  description.inputs = inputs();
  description.checksum = io::checksum_of(points);
  description.points = points.size();
  description.dims = points.dims();
  description.precision = points.precision() == Precision::float32 ? "float32" : "float64";
  description.columns = points.column_names;
  description.dropped_rows = points.dropped_rows();
  description.version = EPSFLOW_VERSION;
  for (const auto& [name, value] : values_) {
    if (value.defaulted() || name == "input") continue;
    if (const auto* text = boost::any_cast<std::string>(&value.value())) {
      description.options.emplace_back(name, *text);
    } else if (const auto* number = boost::any_cast<unsigned>(&value.value())) {
      description.options.emplace_back(name, std::to_string(*number));
    } else if (const auto* integer = boost::any_cast<int>(&value.value())) {
      description.options.emplace_back(name, std::to_string(*integer));
    } else if (const auto* size = boost::any_cast<std::uint64_t>(&value.value())) {
      description.options.emplace_back(name, std::to_string(*size));
    } else if (const auto* flag = boost::any_cast<bool>(&value.value())) {
      description.options.emplace_back(name, *flag ? "true" : "false");
    }
  }
  description.machine = {{"processor", processor_name()},
                         {"cores", std::to_string(std::thread::hardware_concurrency())},
                         {"memory", format_bytes(machine_memory())}};
  for (const BackendInfo& backend : backends()) {
    if (backend.name == "gpu") description.machine.emplace_back("gpu", backend.detail);
  }
  return description;
}

std::function<void(const std::string&)> Arguments::notices() const {
  if (get<bool>("quiet")) return nullptr;
  return [](const std::string& text) { fmt::print(stderr, "epsflow: {}\n", text); };
}

std::uint64_t parse_bytes(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit = text.substr(end - text.data());
  if (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const auto strip = [&](std::string_view suffix) {
    if (unit.size() >= suffix.size() && unit.substr(unit.size() - suffix.size()) == suffix) {
      unit.remove_suffix(suffix.size());
    }
  };
  strip("B");
  strip("b");
  strip("i");
  static constexpr std::string_view kUnits = "kmgt";
  double factor = 1;
  if (unit.size() == 1) {
    const std::size_t power = kUnits.find(static_cast<char>(std::tolower(static_cast<unsigned char>(unit.front()))));
    factor = power == std::string_view::npos ? 0 : std::pow(1024.0, static_cast<double>(power) + 1);
  } else if (!unit.empty()) {
    factor = 0;
  }
  const double bytes = value * factor;
  if (code != std::errc{} || !(bytes >= 1) || bytes > 0x1p62) {
    throw UsageError("'" + std::string(text) + "' is no size; write 8G, 512M or a number of bytes");
  }
  return static_cast<std::uint64_t>(bytes);
}

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

}  // namespace epsflow::cli

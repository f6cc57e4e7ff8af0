#include <epsflow/cli/running.hpp>

#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include <epsflow/cli/options.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/pipeline/backends.hpp>

namespace epsflow::cli {

std::vector<OptionSpec> variant_options() {
  return {text_option("eps", "EPS",
                      "neighbourhood radius, in the unit of the coordinates; a distance of exactly eps counts"),
          minpts_option("N", "points within eps that make a core point, itself counted")};
}

Sweep parse_sweep(const Arguments& arguments, const Words& also) {
  if (arguments.given("variants")) {
    if (arguments.given("eps") || arguments.given("minpts")) {
      throw UsageError("give either --variants or --eps with --minpts, not both");
    }
    arguments.require(also);
    return Sweep(parse_variants(arguments.text("variants")));
  }
  Words needed{"eps", "minpts"};
  needed.insert(needed.end(), also.begin(), also.end());
  arguments.require(needed);
  return grid(parse_eps_list(arguments.text("eps")), parse_minpts_list(arguments.text("minpts")));
}

Sweep parse_variant(const Arguments& arguments, const Words& also) {
  Sweep sweep = parse_sweep(arguments, also);
  if (sweep.size() == 1) return sweep;
  throw usage_error("{} takes one eps and one minpts; use epsflow sweep for several", arguments.command().name);
}

OptionGroup sweep_options() {
  return {
      "What to cluster",
      {text_option("eps", "LIST",
                   "neighbourhood radii, in the unit of the coordinates; a distance of exactly eps counts"),
       minpts_option("LIST", "points within eps that make a core point, itself counted; every eps with every minpts"),
       text_option("variants", "LIST", "single variants instead: 0.2:4,0.5:20")}};
}

OptionGroup machine_options() { return {"What to use of the machine", specs_of<EngineOptions>()}; }

OptionGroup several_gpus_options() { return {"Several GPUs", specs_of<parts::DeviceOptions>()}; }

OptionGroup search_options() { return {"How to search (labels never depend on these)", specs_of<SearchOptions>()}; }

OptionGroup run_options() {
  OptionGroup group{"How to run (labels never depend on these)", specs_of<RunOptions>()};
  std::erase_if(group.options, [](const OptionSpec& option) {  // these are about results
    return option.name == "core" || option.name == "keep";
  });
  return group;
}

RunSettings parse_run_settings(const Arguments& arguments) {
  RunSettings settings;
  take(arguments, settings.engine);
  take(arguments, settings.run);
  take(arguments, settings.run.search);
  take(arguments, settings.devices);
  // Options are checked before anything is read or written.
  check_options(settings.engine, settings.run);
  check_backend(settings.engine);
  if (!settings.devices.gpus.empty()) static_cast<void>(parts::engines_on(settings.devices, settings.engine));
  return settings;
}

void RunSettings::resolve(std::uint64_t n, std::size_t dims, const Metric& metric) {
  if (!devices.gpus.empty()) engine.backend = BackendChoice::gpu;
  engine.backend =
      choose_backend(n, transformed_dims(metric, dims), transformed_space(metric), engine, run, preferred_backend());
}

io::RunDescription describe_run(const InputOptions& given, const Metric& metric, BackendChoice backend) {
  io::RunDescription description;
  description.version = EPSFLOW_VERSION;
  description.metric = describe(metric);
  description.options = given;
  description.machine = {{"processor", processor_name()},
                         {"cores", std::to_string(std::thread::hardware_concurrency())},
                         {"memory", format_bytes(machine_memory())}};
  if (backend == BackendChoice::cpu) return description;
  for (const BackendInfo& info : backends()) {
    if (info.name == "gpu") description.machine.emplace_back("gpu", info.detail);
  }
  return description;
}

void name_columns(InputOptions& options, const Words& names, const std::vector<std::size_t>& numbers) {
  const OptionValues given(options.begin(), options.end());
  const bool beside = std::ranges::any_of(kColumnsBeside, [&](const char* name) { return given.contains(name); });
  if (!beside || given.contains("columns")) return;
  Words quoted = names;
  for (std::string& name : quoted) {
    for (std::size_t at = 0; (at = name.find('"', at)) != std::string::npos; at += 2) name.insert(at, 1, '"');
    name = '"' + name + '"';
  }
  options.emplace_back("columns", names.empty() ? fmt::format("{}", fmt::join(numbers, ","))
                                                : fmt::format("{}", fmt::join(quoted, ",")));
}

std::string processor_name() {
  // These are the keys of Linux on x86 and on several other architectures.
  static constexpr std::array<std::string_view, 3> kKeys{"model name", "cpu model", "Hardware"};
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    for (const std::string_view key : kKeys) {
      if (!line.starts_with(key)) continue;
      const std::size_t begin = line.find_first_not_of(" \t:", key.size());
      if (begin != std::string::npos) return line.substr(begin);
    }
  }
  utsname system{};
  return uname(&system) == 0 ? system.machine : "unknown";
}

}  // namespace epsflow::cli

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <thread>

#include <epsflow/cli/commands.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/pipeline/backends.hpp>

namespace epsflow::cli {

int run_info(const Words& words) {
  Arguments arguments("epsflow info", "Shows what this build and this machine offer.\n");
  arguments.add_output_options();
  if (!arguments.parse(words)) return kDone;
  if (arguments.get<bool>("json")) {
    nlohmann::ordered_json json{{"version", EPSFLOW_VERSION},
                                {"processor", processor_name()},
                                {"cores", std::thread::hardware_concurrency()},
                                {"memory", machine_memory()},
                                {"backends", nlohmann::ordered_json::object()}};
    for (const BackendInfo& backend : backends()) {
      json["backends"][backend.name] = {{"usable", backend.usable}, {"detail", backend.detail}};
    }
    fmt::print("{}\n", json.dump(2));
    return kDone;
  }
  fmt::print("epsflow {}\nprocessor     {}\ncores         {}\nmemory        {}, of which {} by default\n",
             EPSFLOW_VERSION, processor_name(), std::thread::hardware_concurrency(), format_bytes(machine_memory()),
             format_bytes(machine_memory() / 2));
  for (const BackendInfo& backend : backends()) fmt::print("backend       {}: {}\n", backend.name, backend.detail);
  return kDone;
}

}  // namespace epsflow::cli

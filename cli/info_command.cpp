#include <thread>

#include <epsflow/cli/running.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/io/formats.hpp>
#include <epsflow/pipeline/backends.hpp>

namespace epsflow::cli {
namespace {

int run_info(const Arguments& arguments) {
  if (arguments.given("json")) {
    nlohmann::ordered_json json{{"version", EPSFLOW_VERSION},
                                {"processor", processor_name()},
                                {"cores", std::thread::hardware_concurrency()},
                                {"memory", machine_memory()},
                                {"backends", nlohmann::ordered_json::object()},
                                {"formats", nlohmann::ordered_json::object()}};
    for (const BackendInfo& backend : backends()) {
      json["backends"][backend.name] = {
          {"present", backend.present}, {"usable", backend.usable}, {"detail", backend.detail}};
    }
    for (const io::FormatInfo& format : io::formats()) {
      json["formats"][std::string(format.name)] = {{"usable", format.usable}, {"detail", format.detail}};
    }
    print_json(json);
    return kDone;
  }
  print_result("epsflow {}\nprocessor     {}\ncores         {}\nmemory        {}, of which {} by default\n",
               EPSFLOW_VERSION, processor_name(), std::thread::hardware_concurrency(), format_bytes(machine_memory()),
               format_bytes(machine_memory() / 2));
  for (const BackendInfo& backend : backends()) print_result("backend       {}: {}\n", backend.name, backend.detail);
  for (const io::FormatInfo& format : io::formats()) {
    const std::string_view gap = format.detail.empty() ? "" : format.usable ? ": " : ": left out; build with ";
    print_result("format        {}{}{}\n", format.name, gap, format.detail);
  }
  return kDone;
}

}  // namespace

Command info_command() {
  return {.name = "info",
          .summary = "what this build and this machine offer",
          .usage = "",
          .about = "Shows what this build and this machine offer.",
          .example = "epsflow info",
          .groups = {message_options()},
          .run = run_info};
}

}  // namespace epsflow::cli

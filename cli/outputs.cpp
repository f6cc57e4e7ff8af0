#include <epsflow/cli/outputs.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include <epsflow/core/error.hpp>

namespace epsflow::cli {

OptionSpec overwrite_option() {
  return {.name = "overwrite", .kind = ValueKind::flag, .help = "replace files that exist; inputs never"};
}

io::Overwrite overwrite(const Arguments& arguments) {
  return arguments.flag("overwrite") ? io::Overwrite::replace : io::Overwrite::refuse;
}

void require_output(const Arguments& arguments, std::string_view option, std::span<const io::OutputFormat> formats,
                    const Words& inputs) {
  if (!arguments.given(option)) return;
  const std::filesystem::path file = arguments.text(option);
  static_cast<void>(io::output_format(file, formats));
  io::require_target(file, overwrite(arguments), std::vector<std::filesystem::path>(inputs.begin(), inputs.end()));
}

bool goes_to_standard_output(const Arguments& arguments, std::string_view option) {
  if (!arguments.given(option) || arguments.text(option) != io::kStandardOutput) return false;
  if (arguments.flag("json")) {
    throw UsageError("--" + std::string(option) + " - and --json both go to standard output; give one of them");
  }
  return true;
}

}  // namespace epsflow::cli

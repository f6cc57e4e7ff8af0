#include <epsflow/cli/outputs.hpp>

#include <filesystem>
#include <string>
#include <system_error>

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
  io::require_target(file, overwrite(arguments), paths_of(inputs));
}

void require_different_outputs(const Arguments& arguments, std::initializer_list<std::string_view> options) {
  for (auto a = options.begin(); a != options.end(); ++a) {
    for (auto b = options.begin(); b != a; ++b) {
      if (!arguments.given(*a) || !arguments.given(*b)) continue;
      std::error_code code;
      const auto place = [&](std::string_view option) {
        return std::filesystem::weakly_canonical(arguments.text(option), code);
      };
      if (place(*a) != place(*b)) continue;
      throw UsageError("--" + std::string(*b) + " and --" + std::string(*a) + " are both " + arguments.text(*a) +
                       "; give each a place of its own");
    }
  }
}

std::filesystem::path rows_file(const Arguments& arguments, const Points& points) {
  if (!points.renumbered() || !arguments.given("out") || arguments.text("out") == io::kStandardOutput) return {};
  return std::filesystem::path(arguments.text("out")).replace_extension(".rows.npy");
}

bool goes_to_standard_output(const Arguments& arguments, std::string_view option) {
  if (!arguments.given(option) || arguments.text(option) != io::kStandardOutput) return false;
  if (arguments.flag("json")) {
    throw UsageError("--" + std::string(option) + " - and --json both go to standard output; give one of them");
  }
  return true;
}

}  // namespace epsflow::cli

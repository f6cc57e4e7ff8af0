#include <epsflow/io/results/results_names.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <epsflow/core/format.hpp>

namespace epsflow::io {
namespace {

/// Returns the variant of a file name without folder and extension, "eps_0.1_minpts_4". The caller checks the rest.
std::optional<Variant> variant_of(std::string_view stem) {
  constexpr std::string_view kEps = "eps_";
  constexpr std::string_view kMinpts = "_minpts_";
  const std::size_t middle = stem.find(kMinpts);
  if (!stem.starts_with(kEps) || middle == std::string_view::npos) return std::nullopt;
  Variant variant;
  const char* const end = stem.data() + stem.size();
  const auto eps = std::from_chars(stem.data() + kEps.size(), stem.data() + middle, variant.eps);
  const auto minpts = std::from_chars(stem.data() + middle + kMinpts.size(), end, variant.minpts);
  if (eps.ec != std::errc{} || minpts.ec != std::errc{}) return std::nullopt;
  if (!(variant.eps > 0) || std::isinf(variant.eps) || variant.minpts == 0) return std::nullopt;
  return variant;
}

}  // namespace

std::string variant_file(std::string_view folder, const Variant& variant, std::string_view extension) {
  std::string name(folder);
  name += "/eps_" + format_number(variant.eps) + "_minpts_" + std::to_string(variant.minpts);
  return name += extension;
}

std::string labels_name(const Variant& variant) { return variant_file(kLabelsFolder, variant, ".npy"); }
std::string core_name(const Variant& variant) { return variant_file(kCoreFolder, variant, ".npy"); }

bool has_word(std::string_view text, std::string_view word) {
  bool found = false;
  for_each_word(text, [&](std::string_view each) { found = found || each == word; });
  return found;
}

const ResultsOutput* find_output(std::string_view name) noexcept {
  const auto* const at = std::ranges::find(kResultsOutputs, name, &ResultsOutput::name);
  return at == kResultsOutputs.end() ? nullptr : at;
}

std::vector<std::string> variant_files(const Variant& variant, const FolderOutputs& outputs) {
  std::vector<std::string> files;
  for (const ResultsOutput& output : kResultsOutputs) {
    const auto wanted = outputs.wanted.find(output.name);
    if (output.scope != OutputScope::each_variant || wanted == outputs.wanted.end()) continue;
    files.push_back(variant_file(output.name, variant, wanted->second));
  }
  return files;
}

std::string partial_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '-');
  return "partial/" + name;
}

bool is_results_name(std::string_view name) {
  const std::size_t slash = name.find('/');
  const ResultsOutput* const output = find_output(name.substr(0, slash));
  if (output == nullptr) return false;
  if (slash == std::string_view::npos) return output->scope != OutputScope::each_variant;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot < slash || !has_word(output->extensions, name.substr(dot))) return false;
  const std::optional<Variant> variant = variant_of(name.substr(slash + 1, dot - slash - 1));
  return variant && variant_file(output->name, *variant, name.substr(dot)) == name;
}

}  // namespace epsflow::io

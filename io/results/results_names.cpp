#include <epsflow/io/results/results_names.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <epsflow/core/format.hpp>

namespace epsflow::io {
namespace {

constexpr std::string_view kMinptsMark = "_minpts_";
constexpr std::string_view kSizeMark = "_size_";

/// Reads the two numbers of a stem such as "eps_0.1_minpts_4". Returns false for another form. The caller checks what
/// follows the numbers.
template <class A, class B>
bool read_stem(std::string_view stem, std::string_view before, A& a, std::string_view between, B& b) {
  const std::size_t middle = stem.find(between, before.size());
  if (!stem.starts_with(before) || middle == std::string_view::npos) return false;
  const char* const end = stem.data() + stem.size();
  return std::from_chars(stem.data() + before.size(), stem.data() + middle, a).ec == std::errc{} &&
         std::from_chars(stem.data() + middle + between.size(), end, b).ec == std::errc{};
}

/// Returns the variant of a file name without folder and extension. The caller checks the rest.
std::optional<Variant> variant_of(std::string_view stem) {
  Variant variant;
  if (read_stem(stem, "eps_", variant.eps, kMinptsMark, variant.minpts)) {
    if (!(variant.eps > 0) || std::isinf(variant.eps) || variant.minpts == 0) return std::nullopt;
    return variant;
  }
  variant = {};
  if (!read_stem(stem, kMinptsMark.substr(1), variant.minpts, kSizeMark, variant.min_cluster_size)) return std::nullopt;
  if (variant.minpts == 0 || variant.min_cluster_size < 2) return std::nullopt;
  return variant;
}

}  // namespace

std::string variant_file(std::string_view folder, const Variant& variant, std::string_view extension) {
  std::string name(folder);
  const bool selected = variant.min_cluster_size > 0;
  name += selected ? "/" : "/eps_" + format_number(variant.eps);
  name += kMinptsMark.substr(selected ? 1 : 0);
  name += std::to_string(variant.minpts);
  if (selected) name += std::string(kSizeMark) + std::to_string(variant.min_cluster_size);
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

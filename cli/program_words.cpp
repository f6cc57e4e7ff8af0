#include <epsflow/cli/program_words.hpp>

#include <array>
#include <cctype>

namespace epsflow::cli {
namespace {

struct Phrase {
  std::string_view library;
  std::string_view program;
};

constexpr std::array kOptions{
    Phrase{"Options::memory", "--memory"},
    Phrase{"Options::threads", "--threads"},
    Phrase{"Options::backend", "--backend"},
    Phrase{"Options::gpu", "--gpu"},
    Phrase{"Options::gpu_memory", "--gpu-memory"},
    Phrase{"Options::strategy", "--strategy"},
    Phrase{"Options::index", "--index"},
    Phrase{"Options::decide", "--decide"},
    Phrase{"Options::kernel", "--kernel"},
    Phrase{"Options::format", "--table-format"},
    Phrase{"Options::method", "--method"},
    Phrase{"Options::lanes", "--lanes"},
    Phrase{"Options::lane_pairs", "--batch-pairs"},
    Phrase{"Options::tables", "--tables"},
    Phrase{"Options::verify", "--verify"},
    Phrase{"Options::estimate_factor", "the factor of estimates"},
    Phrase{"Options::labels", "where labels are left"},
    Phrase{"Metric::scale", "--scale"},
    Phrase{"Metric::power", "--p"},
    Phrase{"Metric::box", "--box"},
    Phrase{"Metric::latitude_first", "--latitude-first"},
    Phrase{"ReadOptions::columns", "--columns"},
    Phrase{"ReadOptions::table", "--table"},
    Phrase{"ReadOptions::on_nan", "--on-nan"},
    Phrase{"ReadOptions::raw.dims", "--dims"},
    Phrase{"ReadOptions::raw.precision", "--precision"},
    Phrase{"ReadOptions::text.header", "--header"},
    Phrase{"ReadOptions::text.delimiter", "--delimiter"},
    Phrase{"ReadOptions::text.decimal", "--decimal"},
    Phrase{"ReadOptions::text.comment", "--comment"},
    Phrase{"ReadOptions::text.skip_rows", "--skip-rows"},
    Phrase{"ReadOptions::external_storage = true", "--external"},
    Phrase{"ReadOptions::external_storage", "--external"},
    Phrase{"ReadOptions::memory", "--memory"},
    Phrase{"GeneratorOptions::seed", "--seed"},
    Phrase{"GeneratorOptions::dims", "--dims"},
    Phrase{"GeneratorOptions::rate", "--rate"},
    Phrase{"FolderMode::resume", "--resume"},
    Phrase{"FolderMode::overwrite", "--overwrite"},
    Phrase{"Overwrite::replace", "--overwrite"},
};

/// Values, as they stand behind an option and " = ".
constexpr std::array kValues{
    Phrase{"BackendChoice::automatic", "auto"},
    Phrase{"BackendChoice::cpu", "cpu"},
    Phrase{"BackendChoice::gpu", "gpu"},
    Phrase{"StrategyChoice::automatic", "auto"},
    Phrase{"StrategyChoice::table", "table"},
    Phrase{"StrategyChoice::direct", "direct"},
    Phrase{"Kernel::rows", "rows"},
    Phrase{"Kernel::global", "global"},
    Phrase{"Kernel::shared", "shared"},
    Phrase{"FormatChoice::automatic", "auto"},
    Phrase{"FormatChoice::csr", "csr"},
    Phrase{"FormatChoice::packed", "packed"},
    Phrase{"VariantMethod::nested", "nested"},
    Phrase{"VariantMethod::each", "each"},
    Phrase{"NanPolicy::error", "error"},
    Phrase{"NanPolicy::drop", "drop"},
    Phrase{"Header::automatic", "auto"},
    Phrase{"Header::yes", "yes"},
    Phrase{"Header::no", "no"},
    Phrase{"Precision::float32", "float32"},
    Phrase{"Precision::float64", "float64"},
};

/// The longest phrase that `text` begins with, or null.
template <class Phrases>
const Phrase* longest(const Phrases& phrases, std::string_view text) {
  const Phrase* best = nullptr;
  for (const Phrase& phrase : phrases) {
    if (text.starts_with(phrase.library) && (best == nullptr || phrase.library.size() > best->library.size())) {
      best = &phrase;
    }
  }
  return best;
}

}  // namespace

std::string in_program_words(std::string_view text) {
  static constexpr std::string_view kAssigned = " = ";
  std::string words;
  while (!text.empty()) {
    const Phrase* option = longest(kOptions, text);
    const Phrase* phrase = option != nullptr ? option : longest(kValues, text);
    if (phrase == nullptr) {
      // Whole identifiers at once, lest a phrase be found in the middle of one.
      std::size_t taken = 1;
      if (std::isalnum(static_cast<unsigned char>(text.front())) != 0) {
        while (taken < text.size() && (std::isalnum(static_cast<unsigned char>(text[taken])) != 0)) ++taken;
      }
      words += text.substr(0, taken);
      text.remove_prefix(taken);
      continue;
    }
    words += phrase->program;
    text.remove_prefix(phrase->library.size());
    if (option != nullptr && text.starts_with(kAssigned)) {
      words += ' ';
      text.remove_prefix(kAssigned.size());
    }
  }
  return words;
}

}  // namespace epsflow::cli

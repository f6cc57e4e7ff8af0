// What the commands share: options, reading the input, describing the run.
#pragma once

#include <boost/program_options.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/core/points.hpp>
#include <epsflow/io/results_folder.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::cli {

using Words = std::vector<std::string>;

/// The options of one command, in named groups, and what was given.
class Arguments {
 public:
  /// `usage`: the command line in short; `about`: a sentence on what the command does.
  Arguments(std::string usage, std::string about);

  boost::program_options::options_description_easy_init group(const std::string& caption);
  void add_input_options();
  void add_run_options();
  void add_output_options();

  /// Parses the words behind the command. Returns false when --help was given and has been printed. Throws UsageError.
  [[nodiscard]] bool parse(const Words& words);

  [[nodiscard]] bool has(const char* name) const { return values_.count(name) > 0; }
  template <class T = std::string>
  [[nodiscard]] const T& get(const char* name) const {
    return values_[name].as<T>();
  }
  /// The value of an option that must be there. Throws UsageError naming it.
  [[nodiscard]] const std::string& require(const char* name, const char* example) const;

  [[nodiscard]] Words inputs() const;
  /// Reads the input files. Throws UsageError without any, InputError, ResourceError.
  [[nodiscard]] Points read_input() const;
  [[nodiscard]] Options run_options() const;
  [[nodiscard]] io::RunDescription describe(const Points& points) const;
  /// Prints what a run has to say, for Observer::on_notice; null with --quiet.
  [[nodiscard]] std::function<void(const std::string&)> notices() const;

 private:
  std::string usage_;
  std::string about_;
  std::vector<boost::program_options::options_description> groups_;
  boost::program_options::variables_map values_;
};

/// `512M`, `8GiB`, `1.5g`, plain bytes; K, M, G and T are powers of 1024. Throws UsageError.
[[nodiscard]] std::uint64_t parse_bytes(std::string_view text);

/// Model name of the processor, or "unknown".
[[nodiscard]] std::string processor_name();

}  // namespace epsflow::cli

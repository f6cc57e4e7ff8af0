#include <epsflow/cli/attaching.hpp>

#include <algorithm>
#include <system_error>

namespace epsflow::cli {
namespace {

/// Whether --attach names a file or a folder, which may be called as a type of particles is.
bool is_there(const std::string& said) {
  std::error_code code;
  return std::filesystem::exists(said, code);
}

bool is_snapshot(const io::FilePoints& read) {
  return !read.inputs.empty() && (read.inputs.front().kind.starts_with("snapshot, ") ||
                                  read.inputs.front().kind.starts_with("SWIFT snapshot, "));
}

/// Returns the particles that --attach names of what was read; nothing if it names a file.
std::optional<io::Particles> particles_named(const std::string& said, const io::FilePoints& read,
                                             const Messages& messages) {
  const auto particles = choice_of<io::Particles>(said);
  if (!particles || !is_there(said)) return particles;
  if (!is_snapshot(read)) return std::nullopt;
  messages.tell(fmt::format(
      "--attach {0} takes particles of the snapshot, and there is a file {0} as well: ./{0} names it", said));
  return particles;
}

void require_others(const std::string& said, io::Particles particles, io::Particles linked) {
  if (particles != linked) return;
  throw UsageError(fmt::format("--attach {} names the particles that are linked: name others", said));
}

/// The points, where those that are linked have taken their part of the budget.
io::FilePoints read_within(const std::vector<std::filesystem::path>& files, io::ReadOptions options,
                           const io::FilePoints& linked) {
  const std::uint64_t taken = linked.view().bytes() + linked.weights.size() * sizeof(double);
  options.memory -= std::min(options.memory, taken);
  try {
    return io::read_points(files, options);
  } catch (const ResourceError& error) {
    throw ResourceError(fmt::format("{}; of ReadOptions::memory the points that are linked take {}", error.what(),
                                    format_bytes(taken)));
  }
}

}  // namespace

OptionSpec attach_option() {
  OptionSpec option = input_file("attach",
                                 "points that join the group of the nearest linked point within the linking length: "
                                 "those of a file, in the same columns, or of a snapshot its gas, stars, …");
  option.value = "FILE|TYPE";
  return option;
}

Attaching parse_attaching(const Arguments& arguments, Outputs& outputs) {
  if (!arguments.given("attach")) {
    if (!arguments.given("attached")) return {};
    throw UsageError("--attached is about the points of --attach: give --attach as well");
  }
  if (!arguments.given("attached") && !arguments.given("catalog")) {
    throw UsageError("--attach is for the groups of --attached, and for the counts of --catalog: give one of them");
  }
  const std::string& said = arguments.text("attach");
  const auto particles = choice_of<io::Particles>(said);
  if (particles && !is_there(said)) require_others(said, *particles, parse_input(arguments).options.particles);
  return {said, outputs.take("attached", io::kLabelFormats)};
}

io::FilePoints read_attached(const Attaching& attaching, Input input, const io::FilePoints& read) {
  const std::string& said = attaching.said;
  io::ReadOptions& options = input.options;
  options.weight.clear();
  if (!read.column_names.empty()) options.columns = read.column_names;
  if (const auto particles = particles_named(said, read, input.messages)) {
    require_others(said, *particles, options.particles);
    options.particles = *particles;
  } else {
    input.files = {said};
  }
  io::FilePoints others = read_within(paths_of(input.files), options, read);
  if (!input.messages.quiet) say_what_was_read(others, others.size(), others.dims());
  if (others.dropped_rows() > 0) {
    throw InputError(
        fmt::format("{}: {} dropped for NaN, infinity or missing values, and --attached has a label for each row: take "
                    "them out of the file",
                    said, format_count(others.dropped_rows(), "row")));
  }
  if (others.dims() != read.dims()) {
    throw InputError(fmt::format("{} has {}, and what is linked has {}: choose the same with --columns", said,
                                 format_count(others.dims(), "column"), read.dims()));
  }
  input.settle(others);
  return others;
}

VariantResult attached_result(const VariantResult& groups, const std::vector<std::int32_t>& labels) {
  VariantResult result;
  result.variant = groups.variant;
  result.summary.clusters = groups.summary.clusters;
  for (const std::int32_t label : labels) ++(label == kNoise ? result.summary.noise : result.summary.border);
  result.labels = labels;
  return result;
}

TableColumn attached_counts(const VariantResult& attached, std::size_t groups) {
  std::vector<std::int64_t> counts(groups);
  for (const std::int32_t label : attached.labels) {
    if (label != kNoise) ++counts[static_cast<std::size_t>(label)];
  }
  return {.name = "attached", .values = std::move(counts)};
}

}  // namespace epsflow::cli

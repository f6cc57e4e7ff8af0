#include <cmath>

#include <epsflow/cli/options.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/cli/watch_input.hpp>
#include <epsflow/cli/watch_output.hpp>
#include <epsflow/cli/watch_page.hpp>
#include <epsflow/core/stopwatch.hpp>
#include <epsflow/io/read/decimal.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/results/folder_lock.hpp>
#include <epsflow/pipeline/backends.hpp>
#include <epsflow/sky/sky_columns.hpp>
#include <epsflow/windows/window.hpp>

namespace epsflow::cli {
namespace {

constexpr const char* kSnapshotName = "snapshot.bin";
constexpr const char* kHiddenFolder = ".epsflow";
constexpr std::uint64_t kPipedStepRows = 10'000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct WatchCommand {
  Sweep variant;  ///< one eps and one minpts
  Metric metric = {};
  WindowOptions window = {};
  WatchSource source = {};
  double step_width = 0;        ///< of the times; 0: steps do not depend on them
  std::uint64_t step_rows = 0;  ///< 0: steps do not depend on the number of rows
  double late = kInfinity;
  double snapshot_seconds = 0;
  bool all_events = false;
  bool page = false;
  std::filesystem::path out = {};
  /// The options that all runs with the same results folder share, and their values.
  std::vector<std::pair<std::string, std::string>> fixed = {};

  [[nodiscard]] bool steps_are_files() const noexcept { return step_width == 0 && step_rows == 0; }
};

/// Returns a duration in the unit of the times, which is a second if the text ends with s, m, h or d. Throws UsageError
/// unless it is finite and at least `least`.
double parse_duration(const Arguments& arguments, std::string_view option, double least = 0) {
  std::string_view text = arguments.text(option);
  constexpr std::array<std::pair<char, double>, 4> kUnits{{{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}}};
  double unit = 1;
  for (const auto& [letter, seconds] : kUnits) {
    if (!text.ends_with(letter)) continue;
    unit = seconds;
    text.remove_suffix(1);
    break;
  }
  const double value = io::parse_number(text).value_or(NAN) * unit;
  if (std::isfinite(value) && value >= least) return value;
  throw usage_error("--{} is '{}'; it is a number {} in the unit of the times, or with s, m, h or d, as 90s, 5m, 24h",
                    option, arguments.text(option), least > 0 ? "above 0" : "from 0 on");
}

WatchSource parse_source(const Arguments& arguments) {
  WatchSource source{.operands = arguments.operands(),
                     .columns = parse_list(arguments, "columns"),
                     .time = arguments.text("time"),
                     .drop = choice_of<io::NanPolicy>(arguments.text("on-nan")) == io::NanPolicy::drop,
                     .settle = parse_duration(arguments, "settle"),
                     .once = arguments.given("once"),
                     .messages = parse_messages(arguments)};
  std::error_code code;
  for (const std::string& operand : source.operands) {
    const bool folder = std::filesystem::is_directory(operand, code);
    if ((folder || operand == "-") && source.operands.size() > 1) {
      throw usage_error("{} is {}: name it alone", io::show_name(operand), folder ? "a folder" : "standard input");
    }
    if (folder) source.kind = SourceKind::folder;
    if (operand == "-") source.kind = SourceKind::standard_input;
    if (folder || operand == "-" || std::filesystem::exists(operand, code)) continue;
    throw input_error("{}: there is no such file or folder", io::show_name(operand));
  }
  if (source.once && source.kind != SourceKind::folder) throw UsageError("--once is about a folder: leave it out");
  if (source.kind == SourceKind::folder && io::same_file(source.operands.front(), arguments.text("out"))) {
    throw UsageError("--out is the folder of the input: choose another one for the results");
  }
  return source;
}

/// Completes the metric. Brings longitude and latitude into its order if the names of the columns identify them.
void resolve_metric(Metric& metric, Words& columns) {
  if (on_sphere(metric.kind)) {
    const std::vector<std::size_t> order = sky_columns(columns, metric);
    if (!order.empty() && order.front() == 1) std::ranges::reverse(columns);
  }
  if (metric.box.size() == 1) metric.box.resize(columns.size(), metric.box.front());
  check_metric(metric, columns.size());
}

void parse_steps(const Arguments& arguments, WatchCommand& command) {
  if (arguments.given("window") == arguments.given("keep")) {
    throw UsageError("give either --window with an age or --keep with a number of points");
  }
  command.window.timed = true;
  if (arguments.given("window")) command.window.max_age = parse_duration(arguments, "window", DBL_MIN);
  if (arguments.given("keep")) command.window.max_points = arguments.number("keep");
  if (arguments.given("step") && arguments.given("step-rows")) {
    throw UsageError("give either --step or --step-rows, not both");
  }
  if (arguments.given("step")) command.step_width = parse_duration(arguments, "step", DBL_MIN);
  command.step_rows = arguments.number("step-rows");
  if (command.steps_are_files() && command.source.kind == SourceKind::standard_input) {
    command.step_rows = kPipedStepRows;
  }
  command.late = arguments.given("late") ? parse_duration(arguments, "late") : command.window.max_age;
  if (command.late > command.window.max_age) {
    throw UsageError("--late is longer than --window: rows that are older than the window never enter it");
  }
}

WatchCommand parse_watch(const Arguments& arguments) {
  const bool limited = arguments.given("window") || arguments.given("keep");
  WatchCommand command{.variant = parse_variant(arguments, limited ? Words{"columns", "time", "out"}
                                                                   : Words{"columns", "time", "window", "out"})};
  command.metric = parse_metric(arguments);
  command.source = parse_source(arguments);
  WatchSource& source = command.source;
  resolve_metric(command.metric, source.columns);
  parse_steps(arguments, command);
  // parse_run_settings() would read --keep, too, which has another meaning here.
  RunSettings settings;
  take(arguments, settings.engine);
  check_options(settings.engine, settings.run);
  check_backend(settings.engine);
  settings.resolve(0, source.columns.size(), command.metric);
  command.window.engine = settings.engine;
  command.window.metric = command.metric;
  command.snapshot_seconds = parse_duration(arguments, "snapshot");
  command.all_events = arguments.given("all-events");
  command.page = arguments.given("page");
  command.out = arguments.text("out");
  const Variant& variant = command.variant.variants().front();
  constexpr std::array<std::string_view, 3> kKinds{"files", "a folder", "standard input"};
  const auto fix = [&](const std::string& name, const std::string& value) { command.fixed.emplace_back(name, value); };
  const auto fix_option = [&](std::string_view name, const std::string& value) {
    fix("--" + std::string(name), arguments.given(name) ? value : "not given");
  };
  fix("the input", std::string(kKinds[static_cast<std::size_t>(source.kind)]));
  fix("--columns", fmt::format("{}", fmt::join(source.columns, ",")));
  fix("--time", source.time);
  fix("--eps", format_number(variant.eps));
  fix("--minpts", std::to_string(variant.minpts));
  fix("the metric", describe_in_full(command.metric));
  fix_option("window", format_number(command.window.max_age));
  fix_option("keep", std::to_string(command.window.max_points));
  fix_option("step", format_number(command.step_width));
  fix_option("step-rows", std::to_string(command.step_rows));
  fix_option("late", format_number(command.late));
  fix_option("all-events", "given");
  fix("--on-nan", arguments.text("on-nan"));
  return command;
}

nlohmann::ordered_json json_of(const WatchProgress& progress, const std::vector<OpenedFile>& files) {
  const InputPosition& position = progress.position;
  nlohmann::ordered_json json{{"steps", progress.steps},   {"late", progress.late},
                              {"unused", progress.unused}, {"latest", nullptr},
                              {"sizes", progress.sizes},   {"files_read", position.files},
                              {"offset", position.offset}, {"checksum", position.checksum.value()},
                              {"rows", position.rows},     {"skipped", position.skipped},
                              {"times", position.times},   {"files", nlohmann::ordered_json::array()}};
  if (progress.latest) json["latest"] = *progress.latest;
  const std::size_t opened = std::min<std::size_t>(files.size(), position.files + (position.offset > 0 ? 1 : 0));
  for (const OpenedFile& file : std::span(files).first(opened)) {
    json["files"].push_back({file.name, file.size, file.inode, file.changed, file.told, file.faulty});
  }
  return json;
}

WatchProgress progress_of(const nlohmann::ordered_json& json) {
  WatchProgress progress{.position = {.files = json.at("files_read"),
                                      .offset = json.at("offset"),
                                      .rows = json.at("rows"),
                                      .skipped = json.at("skipped"),
                                      .times = json.at("times")},
                         .steps = json.at("steps"),
                         .late = json.at("late"),
                         .unused = json.at("unused"),
                         .sizes = json.at("sizes")};
  progress.position.checksum.add(io::FileDigest{.bytes = progress.position.offset, .crc32 = json.at("checksum")});
  if (!json.at("latest").is_null()) progress.latest = json.at("latest").get<double>();
  return progress;
}

std::vector<OpenedFile> files_of(const nlohmann::ordered_json& json) {
  std::vector<OpenedFile> files;
  for (const auto& file : json.at("files")) {
    files.push_back({file.at(0), file.at(1), file.at(2), file.at(3), file.at(4), file.at(5)});
  }
  return files;
}

/// Throws UsageError if the folder holds anything but a lock and unfinished snapshots.
void require_unused(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name == kHiddenFolder || name.starts_with(std::string(kSnapshotName) + ".part-")) continue;
    throw usage_error("{} holds {}, and no snapshot of epsflow watch: choose a new or empty folder", folder.string(),
                      io::show_name(name));
  }
}

class Watch {
 public:
  Watch(const WatchCommand& command, const InterruptGuard& interrupt)
      : command_(command),
        interrupt_(interrupt),
        lock_(command.out, command.out / kHiddenFolder, command.source.messages.notices()),
        input_(command.source, interrupt.token(), [this] { show_and_save(); }) {}

  int run();

 private:
  void begin();
  void require_same_options(const nlohmann::ordered_json& options) const;
  /// Takes the rows of the input. Returns false if it was interrupted.
  [[nodiscard]] bool take_all();
  /// before: the position before the row.
  void take(const StreamRow& row, const InputPosition& before);
  /// Throws InputError if the metric refuses the point of a row.
  void require_point(const StreamRow& row);
  /// Throws ResourceError if the rows of the step take too much memory.
  void require_step_fits() const;
  /// Ends the step at a position, if it has rows. Throws Cancelled.
  void finish_step(const InputPosition& position);
  void save(bool now);
  /// Writes the page, if it is requested and the window is the one after the last step.
  void show(bool running);
  /// Writes the page and a snapshot if the last ones are old enough.
  void show_and_save();
  void print(bool stopped) const;

  const WatchCommand& command_;
  const InterruptGuard& interrupt_;
  io::FolderLock lock_;
  WatchInput input_;
  std::optional<Window> window_;
  std::optional<WatchOutput> output_;
  std::optional<WatchPage> page_;
  WatchProgress current_;       ///< with the rows that were read since the last step
  WatchProgress done_;          ///< after the last step
  std::vector<double> points_;  ///< of the step, [m × d]
  std::vector<double> times_;   ///< [m]
  bool is_saved_ = false;       ///< a snapshot of done_ was written
  bool is_shown_ = false;       ///< the page shows done_
  bool is_consistent_ = false;  ///< window and output hold done_
  Stopwatch since_save_;
};

void Watch::begin() {
  const std::filesystem::path file = command_.out / kSnapshotName;
  const auto found = read_snapshot(file);
  if (found) {
    require_same_options(found->about.at("options"));
    window_.emplace(found->window, command_.variant, command_.window);
    done_ = progress_of(found->about.at("progress"));
    input_.resume(done_.position, files_of(found->about.at("progress")));
    command_.source.messages.tell("{}: goes on after {} of {}", command_.out.string(),
                                  format_count(done_.steps, "step"), format_count(done_.position.rows, "row"));
  } else {
    require_unused(command_.out);
    window_.emplace(command_.source.columns.size(), command_.variant, command_.window);
  }
  current_ = done_;
  is_saved_ = found.has_value();
  is_consistent_ = true;
  // Without a snapshot no other file is in the folder, so that a run that ends early can be repeated.
  save(true);
  output_.emplace(
      command_.out, done_.sizes,
      WatchOutputOptions{
          .columns = command_.source.columns, .metric = command_.metric, .all_events = command_.all_events});
  if (command_.page) page_.emplace(command_.out, command_.source.columns);
  show(true);
}

void Watch::require_same_options(const nlohmann::ordered_json& options) const {
  for (const auto& [name, value] : command_.fixed) {
    const std::string before = options.value(name, "");
    if (before == value) continue;
    throw usage_error("{} is {}, and was {} in the run that began {}: give the same, or choose another folder", name,
                      value, before, command_.out.string());
  }
}

bool Watch::take_all() {
  StreamRow row;
  while (!interrupt_.token().cancelled()) {
    const InputPosition before = input_.position();
    switch (input_.next(row)) {
      case InputEvent::row:
        take(row, before);
        break;
      case InputEvent::file_end:
        if (command_.steps_are_files()) finish_step(input_.position());
        break;
      case InputEvent::end:
        finish_step(input_.position());
        return true;
      case InputEvent::interrupted:
        return false;
    }
  }
  return false;
}

void Watch::take(const StreamRow& row, const InputPosition& before) {
  const std::optional<double> earlier = current_.latest;
  const double latest = earlier ? std::max(*earlier, row.time) : row.time;
  if (row.time < latest - command_.late) {
    if (current_.late++ == 0) {
      command_.source.messages.tell(
          "{}: the time is more than {} before the latest one: such rows are left out and counted; sort the rows by "
          "time, or raise --late",
          input_.where(), format_number(command_.late));
    }
    return;
  }
  const double width = command_.step_width;
  if (width > 0 && earlier && std::floor(latest / width) != std::floor(*earlier / width)) finish_step(before);
  current_.latest = latest;
  require_point(row);
  points_.insert(points_.end(), row.x.begin(), row.x.end());
  times_.push_back(row.time);
  require_step_fits();
  if (times_.size() == command_.step_rows) finish_step(input_.position());
}

void Watch::require_point(const StreamRow& row) {
  try {
    require_points(window_->options().metric, PointsView(std::span(row.x), row.x.size()));
  } catch (const InputError& error) {
    constexpr std::string_view kOnlyRow = "row 0, ";
    std::string fault = error.what();
    if (const std::size_t at = fault.find(kOnlyRow); at != fault.npos) fault.erase(at, kOnlyRow.size());
    input_.throw_of_line(fault);
  }
}

void Watch::require_step_fits() const {
  const std::uint64_t bytes = (points_.size() + times_.size()) * sizeof(double);
  const std::uint64_t all = window_->options().engine.memory;
  if (bytes <= all / 4) return;
  throw ResourceError(fmt::format(
      "{}: the rows since the last step take {}, more than a quarter of the memory of {}: raise --memory, or end steps "
      "earlier with --step or --step-rows, in another folder",
      input_.where(), format_bytes(bytes), format_bytes(all)));
}

void Watch::finish_step(const InputPosition& position) {
  if (!times_.empty()) {
    const StepSummary step =
        window_->step({.arriving = PointsView(std::span(std::as_const(points_)), window_->dims()), .times = times_},
                      &interrupt_.token());
    is_consistent_ = false;
    const std::uint64_t unused = step.too_old + step.too_many;
    if (unused > 0 && current_.unused == 0) {
      command_.source.messages.tell(
          "step {}: {} of its {} leave at once, as the step is larger than the window: such rows are counted; choose "
          "shorter steps to see their clusters",
          current_.steps, format_count(unused), format_count(step.arrived, "row"));
    }
    current_.unused += unused;
    output_->add(current_.steps++, *window_);
    points_.clear();
    times_.clear();
  }
  current_.position = position;
  current_.sizes = output_->sizes();
  done_ = current_;
  is_consistent_ = true;
  is_saved_ = false;
  is_shown_ = false;
  show_and_save();
}

void Watch::save(bool now) {
  if (is_saved_ || !is_consistent_ || (!now && since_save_.seconds() < command_.snapshot_seconds)) return;
  if (output_) output_->sync();
  nlohmann::ordered_json about{{"options", nlohmann::ordered_json::object()},
                               {"progress", json_of(done_, input_.files())}};
  for (const auto& [name, value] : command_.fixed) about["options"][name] = value;
  write_snapshot(command_.out / kSnapshotName, {.about = std::move(about), .window = window_->state()});
  is_saved_ = true;
  since_save_ = {};
}

void Watch::show(bool running) {
  if (!page_ || !is_consistent_) return;
  page_->write(*window_, done_, running);
  is_shown_ = true;
}

void Watch::show_and_save() {
  save(false);
  if (page_ && !is_shown_ && page_->is_due()) show(true);
}

void Watch::print(bool stopped) const {
  const std::uint64_t clusters = window_->results().front().clusters.size();
  const Messages& messages = command_.source.messages;
  if (messages.json) {
    print_json({{"steps", done_.steps},
                {"rows", done_.position.rows},
                {"late", done_.late},
                {"unused", done_.unused},
                {"skipped", done_.position.skipped},
                {"points", window_->size()},
                {"clusters", clusters}});
  } else if (!messages.quiet) {
    print_result("{} of {}: {} in the window, in {}; {} late, {} skipped, {} unused\n",
                 format_count(done_.steps, "step"), format_count(done_.position.rows, "row"),
                 format_count(window_->size(), "point"), format_count(clusters, "cluster"), format_count(done_.late),
                 format_count(done_.position.skipped), format_count(done_.unused));
  }
  if (stopped) messages.tell("interrupted; the same command goes on with {}", command_.out.string());
}

int Watch::run() {
  begin();
  bool complete = false;
  try {
    complete = take_all();
  } catch (const Cancelled&) {  // the window is the one after the last step, as is the snapshot
  } catch (const std::exception&) {
    is_saved_ = false;  // the snapshot names the faulty file
    try {
      save(true);
      show(false);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the first error is the cause
    }
    throw;
  }
  save(true);
  show(false);
  print(!complete);
  return complete || interrupt_.signal() == SIGTERM ? kDone : kInterrupted;
}

int run_watch(const Arguments& arguments) {
  const WatchCommand command = parse_watch(arguments);
  const InterruptGuard interrupt;
  return Watch(command, interrupt).run();
}

std::vector<OptionGroup> watch_groups() {
  std::vector<OptionSpec> input{
      text_option("columns", "A,B", "names of the columns of the coordinates"),
      text_option("time", "COLUMN", "the column of the time: numbers, or dates as 2026-01-31T12:00:00Z"),
      spec_of<io::ReadOptions>("on-nan"),
      text_option("settle", "TIME", "a file of a folder is read once its size has been the same for this time", "1s"),
      flag("once", "end when all files of the folder are read")};
  std::vector<OptionSpec> steps{
      text_option("window", "AGE", "points leave once they are older than the latest time by more than this"),
      count_option("keep", 1, "", "instead: keep the last N points"),
      text_option("step", "TIME", "a step ends when the latest time passes a multiple of this"),
      count_option("step-rows", 1, "",
                   "a step ends after N rows; without this and --step, each file is a step, or 10,000 rows of - are"),
      text_option("late", "AGE",
                  "rows that are older than the latest time by more than this are left out and counted; without it, "
                  "--window")};
  steps[1].most = kMaxPoints;
  return {{"Rows to read", std::move(input)},
          {"What to cluster", variant_options()},
          {"Window and steps", std::move(steps)},
          metric_options(),
          {"Results",
           {folder_option("out", "folder for the results", true),
            flag("all-events", "list clusters that only continue in events.jsonl, too"),
            flag("page", "keep a page for a browser, window.html: the points, and the lives of the clusters"),
            text_option("snapshot", "TIME", "the time between two snapshots, at least", "10s")}},
          machine_options(),
          message_options()};
}

}  // namespace

Command watch_command() {
  return {.name = "watch",
          .summary = "cluster a window over points that keep arriving, and report what changes",
          .usage = "FILE …|FOLDER|- --columns X,Y --time T --eps E --minpts N --window AGE --out OUT",
          .about =
              "Clusters the points of a moving window with DBSCAN after each step. Clusters keep their ids while they\n"
              "move, merge and split. Reads CSV with a header or JSON lines: files in the given order; the files\n"
              "(*.csv, *.jsonl) of a folder in the order of their names, and new ones as they appear; or - for\n"
              "standard input. Times may be out of order.\n\n"
              "Appends to events.jsonl (clusters that are born, merge, split and end), catalog.csv (the clusters of\n"
              "each step) and tracks.csv. The same command with the same folder goes on after the last snapshot, also\n"
              "after a crash, and writes the same files as one run; send standard input again from its start then.\n"
              "SIGTERM ends the program with exit code 0, Ctrl-C with 130.\n\n"
              "An AGE or TIME is a number in the unit of the times, or has s, m, h or d after it: 90s, 5m, 24h, 7d.",
          .example = "epsflow watch points.csv --columns x,y --time t --eps 0.5 --minpts 5 --window 24h --out live",
          .operand = {"FILE …"},
          .groups = watch_groups(),
          .run = run_watch};
}

}  // namespace epsflow::cli

#include <cmath>

#include <epsflow/cli/out_of_core_rows.hpp>
#include <epsflow/pipeline/plan.hpp>

namespace epsflow::cli {
namespace {

const char* way_of(const GroupPlan& group) {
  if (group.strategy == Strategy::direct) return "direct";
  return group.packed ? "packed table" : "csr table";
}

/// Returns a count, or "-" if it is unknown (0).
std::string count_or_dash(std::uint64_t count) { return count == 0 ? "-" : format_count(count); }

/// The way in which engines would share the sweep.
struct SharingPlan {
  std::size_t engines = 1;
  bool host = false;
  parts::SharingAnswer answer;
};

std::string_view word_of_sharing(parts::Sharing sharing) {
  if (sharing == parts::Sharing::one) return "one";
  return sharing == parts::Sharing::eps ? "eps" : "parts";
}

void print_sharing(const SharingPlan& sharing) {
  const parts::Sharing how = sharing.answer.sharing;
  const std::size_t count = sharing.answer.parts;
  if (sharing.engines < 2 && how == parts::Sharing::one) return;
  std::string what = "the first would do all";
  if (how == parts::Sharing::eps) what = "each would take some of the eps, with all points";
  if (how == parts::Sharing::parts) what = "each would take a part of space";
  if (count > sharing.engines) what = fmt::format("{} of space would take turns", format_count(count, "part"));
  // Ghosts are the points outside a part on which its clusters depend. They are counted after the parts are cut.
  const char* ghosts = sharing.host && count > 1 ? "; if their ghosts take too much, all is clustered at once" : "";
  print_result("{}: {}, as {}{}\n", sharing.host ? "the CPU" : format_count(sharing.engines, "GPU"), what,
               sharing.answer.reason, ghosts);
}

/// Returns an estimate with two digits, which is its precision.
std::string seconds_or_dash(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.2g}", *seconds) : "-";
}

void print_plan(const std::vector<GroupPlan>& groups) {
  std::vector<Words> rows{{"eps", "variants", "way", "index", "decide", "cells", "candidates", "passes", "memory",
                           "fits", "seconds", "because"}};
  for (const GroupPlan& g : groups) {
    rows.push_back({format_number(g.eps), format_count(g.minpts.size()), way_of(g), std::string(word_of(g.index)),
                    std::string(word_of(g.decide)), count_or_dash(g.cells), count_or_dash(g.candidates),
                    format_count(g.passes), format_bytes(g.bytes), g.fits ? "yes" : "no", seconds_or_dash(g.seconds),
                    g.reason});
  }
  print_columns(rows);
  if (const std::optional<double> total = total_seconds(groups)) {
    print_result("about {} s in all, without reading and writing\n", seconds_or_dash(total));
  } else {
    print_result("no estimate of the time: it is for the CPU, and for what fits the memory\n");
  }
}

void print_plan_as_json(const std::vector<GroupPlan>& groups, const SharingPlan& sharing,
                        const io::PointsOrigin& origin, std::uint64_t n, const Metric& metric) {
  nlohmann::ordered_json json{{"points", n}};
  add_input(json, origin, &metric);
  json["sharing"] = {{"engines", sharing.engines},
                     {"by", word_of_sharing(sharing.answer.sharing)},
                     {"parts", sharing.answer.parts},
                     {"because", sharing.answer.reason}};
  json["groups"] = nlohmann::ordered_json::array();  // NaN becomes null
  for (const GroupPlan& g : groups) {
    json["groups"].push_back({{"eps", g.eps},
                              {"minpts", g.minpts},
                              {"strategy", g.strategy == Strategy::direct ? "direct" : "table"},
                              {"because", g.reason},
                              {"index", std::string(word_of(g.index))},
                              {"decide", std::string(word_of(g.decide))},
                              {"dense_boxes", g.dense_boxes},
                              {"cells", g.cells},
                              {"candidates", g.candidates},
                              {"passes", g.passes},
                              {"packed", g.packed},
                              {"pairs", g.pairs},
                              {"bytes", g.bytes},
                              {"fits", g.fits},
                              {"seconds", g.seconds.value_or(NAN)}});
  }
  json["seconds"] = groups.empty() ? NAN : total_seconds(groups).value_or(NAN);
  print_json(json);
}

int run_plan(const Arguments& arguments) {
  const Sweep sweep = parse_sweep(arguments);
  RunSettings settings = parse_run_settings(arguments);
  Input input = parse_input(arguments);
  const std::optional<OutOfCoreRows> left = rows_to_leave(input, sweep, settings);
  io::FilePoints points;
  if (!left) {
    points = input.read();
    input.resolve(points);
  }
  const std::uint64_t n = left ? left->file.rows.size : points.size();
  settings.resolve(n, left ? left->file.rows.dims : points.dims(), input.metric);
  const std::vector<EngineOptions> engines = parts::engines_on(settings.devices, settings.engine);
  const SharingPlan sharing{
      engines.size(), parts::on_the_host(engines.front()),
      left ? left->sharing
           : parts::choose_sharing({points, input.metric, points.weights}, sweep, engines, settings.run)};
  const InterruptGuard interrupt;
  std::vector<GroupPlan> groups;  // empty if points cannot be loaded at once
  try {
    if (!left) {
      groups = plan(input.load(points, engines.front()), sweep, {}, settings.run, {.cancel = &interrupt.token()});
    }
  } catch (const ResourceError&) {
    // Points that a GPU cannot even load are clustered in parts.
    if (sharing.answer.sharing != parts::Sharing::parts) throw;
  }
  if (input.messages.json) {
    const io::PointsOrigin& origin = left ? left->file.origin : points;
    print_plan_as_json(groups, sharing, origin, n, input.metric);
  } else if (!input.messages.quiet) {
    if (!groups.empty()) print_plan(groups);
    print_sharing(sharing);
  }
  return kDone;
}

}  // namespace

Command plan_command() {
  return {.name = "plan",
          .summary = "show what a sweep would do, and why",
          .usage = "FILE … --eps LIST --minpts LIST",
          .about =
              "Shows for each eps which way its variants would go, through a neighbour table or directly to labels,\n"
              "and why: the cells of its index, the candidates that a search of all points tests, how often a\n"
              "point's candidates are scanned at most, and the host memory that it takes, points included;\n"
              "what it takes on a GPU is not counted. On the CPU also how many seconds it takes, within a factor of\n"
              "two mostly, without reading and writing files: a sample of the points is clustered for that. A dash\n"
              "stands for what is not known before the run.",
          .example = "epsflow plan points.csv --columns x,y --eps 0.1:0.3:0.1 --minpts 4,8,16",
          .operand = {"FILE …"},
          .groups = {sweep_options(), metric_options(), input_options(), machine_options(), several_gpus_options(),
                     run_options(), search_options(), message_options()},
          .run = run_plan};
}

}  // namespace epsflow::cli

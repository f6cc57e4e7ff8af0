#include <epsflow/io/write/trace_json.hpp>

#include <nlohmann/json.hpp>

namespace epsflow::io {

std::string trace_json(const Trace& trace) {
  using nlohmann::ordered_json;
  ordered_json events = ordered_json::array();
  for (const TraceSpan& span : trace.spans()) {
    events.push_back({{"name", stage_name(span.stage)},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", span.thread},
                      {"ts", static_cast<double>(span.begin_ns) / 1000},
                      {"dur", static_cast<double>(span.end_ns - span.begin_ns) / 1000},
                      {"args", {{"eps", span.eps}, {std::string(span.detail.name), span.detail.value}}}});
  }
  ordered_json json;
  json["traceEvents"] = std::move(events);
  json["displayTimeUnit"] = "ms";
  json["otherData"] = {{"retries", std::to_string(trace.retries())},
                       {"asked", std::to_string(trace.undecided_pairs())}};
  return json.dump() + "\n";
}

}  // namespace epsflow::io

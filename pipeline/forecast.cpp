#include <epsflow/pipeline/forecast.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace epsflow {
namespace {

/// Places of the eps that are swept first, as shares of their number. Those in the middle alone tell much already.
constexpr std::array kPilots{0.5, 0.25, 0.75, 0.0, 0.95};
/// As many at a time as are under way at a time later on.
constexpr std::size_t kPilotEps = 2;
constexpr std::size_t kFewestEps = 16;
constexpr double kOfEnds = 0.3;
/// Of which logarithms are taken.
constexpr double kLeastSeconds = 1e-6;

}  // namespace

Forecast::Forecast(const Sweep& sweep, std::size_t labels, const Observer& observer)
    : observer_(observer), cells_(sweep.size()), labels_(labels) {
  std::map<double, std::vector<Variant>> by_eps;
  for (const Variant& v : sweep.variants()) by_eps[v.eps].push_back(v);
  const std::size_t count = by_eps.size();
  seconds_.resize(count);
  if (!observer.on_progress || count < kFewestEps) {
    parts_.push_back(sweep);
    return;
  }
  minpts_ = sweep.size() / count;
  std::vector<std::vector<Variant>> groups;
  groups.reserve(count);
  for (auto& [eps, variants] : by_eps) groups.push_back(std::move(variants));
  for (const double share : kPilots) {
    const auto begin = std::min(static_cast<std::size_t>(share * static_cast<double>(count)), count - kPilotEps);
    std::vector<Variant>& variants = groups[begin];
    for (std::size_t e = begin + 1; e < begin + kPilotEps; ++e) {
      variants.insert(variants.end(), groups[e].begin(), groups[e].end());
      groups[e].clear();
    }
    parts_.emplace_back(std::exchange(variants, {}));
    pilots_.push_back(begin);
  }
  std::vector<Variant> rest;
  for (const std::vector<Variant>& variants : groups) rest.insert(rest.end(), variants.begin(), variants.end());
  parts_.emplace_back(std::move(rest));
}

Observer Forecast::next() {
  run_began_ = Clock::now();
  Observer observer = observer_;
  if (!observer_.on_progress) return observer;
  if (part_ == 0 && !pilots_.empty()) {  // there is nothing to go by yet
    observer.on_progress = nullptr;
    return observer;
  }
  observer.on_progress = [this](const Progress& p) {
    Progress all = p;
    const std::size_t done = part_ < parts_.size() ? p.variants_done : 0;
    all.variants = cells_;
    all.variants_done = std::min(cells_, cells_done_ + done);
    all.seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    all.seconds_left = seconds_left(done);
    observer_.on_progress(all);
  };
  return observer;
}

void Forecast::ended() {
  if (part_ < pilots_.size()) {
    for (std::size_t k = 0; k < kPilotEps; ++k) {
      seconds_[pilots_[part_] + k] = seconds_of_run() / static_cast<double>(kPilotEps);
    }
  }
  if (part_ < parts_.size()) {
    cells_done_ += parts_[part_].size();
    ++part_;
  } else {
    labels_ -= std::min<std::size_t>(labels_, 1);
  }
}

/// Between the nearest eps that were swept first, in even ratios: costs rise and fall by factors. Until they were, the first and the last
/// of all are taken for cheaper than those in the middle, as they mostly are.
double Forecast::cost(std::size_t eps) const {
  const std::size_t last = seconds_.size() - 1;
  const auto known = [&](std::size_t e) -> std::optional<double> {
    if (seconds_[e]) return seconds_[e];
    if (e == 0 || e == last) return kOfEnds * *seconds_[pilots_.front()];
    return std::nullopt;
  };
  std::size_t before = eps, after = eps;
  while (!known(before)) --before;
  while (!known(after)) ++after;
  if (before == after) return *known(eps);
  const double share = static_cast<double>(eps - before) / static_cast<double>(after - before);
  return std::exp(std::lerp(std::log(std::max(*known(before), kLeastSeconds)),
                            std::log(std::max(*known(after), kLeastSeconds)), share));
}

double Forecast::cost_of_labels() const {
  double mean = 0;
  for (std::size_t e = 0; e < seconds_.size(); ++e) mean += cost(e) / static_cast<double>(seconds_.size());
  return static_cast<double>(labels_) * mean / static_cast<double>(minpts_);
}

std::optional<double> Forecast::seconds_left(std::size_t done) const {
  if (pilots_.empty() || !seconds_[pilots_.front()]) return std::nullopt;
  double left = 0, of_done = 0;
  std::size_t groups_done = done / minpts_;  // of the rest, by descending eps
  for (std::size_t e = seconds_.size(); e-- > 0;) {
    if (seconds_[e]) continue;
    const bool counts = part_ == pilots_.size() && groups_done > 0;
    if (counts) --groups_done;
    (counts ? of_done : left) += cost(e);
  }
  if (part_ >= parts_.size()) left = 0;
  // A long run is quicker than several short ones, and other work comes and goes.
  const double pace = of_done > 0.05 * (of_done + left) ? seconds_of_run() / of_done : 1;
  return left * pace + cost_of_labels();
}

}  // namespace epsflow

#include <epsflow/clustering/eps_per_cluster.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace epsflow {
namespace {

constexpr double kMostGrowth = 1.5;
constexpr double kMostNoiseToGrow = 0.15;
/// A life is counted from the eps at which a cluster has this share of its last core points.
constexpr double kGrownUp = 0.3;
/// Lives from this on, in units of chance, are longer than chance explains. MapScores measures lives in another way,
/// and has another limit.
constexpr double kSignificant = 4;
constexpr double kHalfCredit = 25;
/// The exponent of a cluster's number of patches, size/minpts, in the life that chance explains.
constexpr double kPatches = 0.25;
constexpr double kTieExponent = 0.1;
constexpr double kNoiseExponent = 0.75;

/// The cluster of a cell, followed along eps.
struct Followed {
  struct Link {
    std::size_t eps;
    std::uint32_t cluster;
    double core;  ///< number of its core points
  };
  std::vector<Link> links;
  bool has_split = false;  ///< it contains clusters that count
};

/// A cluster that splits no further.
struct Leaf {
  CellCluster cluster;
  double life;
  double grown_up;  ///< eps from which its life is counted
};

/// Returns the eps from which the life of a chain is counted.
double grown_up(const MapScores& scores, const Followed& chain) {
  const double enough = kGrownUp * chain.links.back().core;
  const auto at = std::ranges::find_if(chain.links, [&](const Followed::Link& l) { return l.core >= enough; });
  return scores.eps()[at->eps];
}

/// Returns the life of a chain up to an eps, in units of the life that chance explains.
double life_of(const MapScores& scores, std::size_t minpts, const Followed& chain, std::size_t end) {
  const double p = scores.points_of(minpts);
  return scores.dimension(minpts) * std::sqrt(p) * std::log(scores.eps()[end] / grown_up(scores, chain)) *
         std::pow(chain.links.back().core / p, kPatches);
}

/// Follows clusters along eps, and collects leaves.
class Splitting {
 public:
  Splitting(const MapScores& scores, std::size_t minpts, double least)
      : scores_(scores), minpts_(minpts), least_(least) {
    for (std::size_t e = 0; e < scores.eps().size(); ++e) step(e);
    const std::size_t last = scores.eps().size() - 1;
    for (const auto& [cluster, chain] : living_) end(chain, last);
  }

  [[nodiscard]] const std::vector<Leaf>& leaves() const noexcept { return leaves_; }

 private:
  using Living = std::map<std::uint32_t, Followed>;  ///< by the cluster of the last cell

  /// Makes a leaf of a chain that ends at an eps, if it counts. Returns true if it or clusters within it count.
  bool end(const Followed& chain, std::size_t eps) {
    if (chain.has_split) return true;
    const double life = life_of(scores_, minpts_, chain, eps);
    if (life < kSignificant) return false;
    leaves_.push_back({{chain.links.back().eps, chain.links.back().cluster}, life, grown_up(scores_, chain)});
    return true;
  }

  [[nodiscard]] bool counts(const Followed& chain, std::size_t eps) const {
    return chain.has_split || life_of(scores_, minpts_, chain, eps) >= kSignificant;
  }

  /// Returns the chain that goes on where chains merge.
  Followed merged(std::vector<Followed>& chains, std::size_t eps) {
    if (chains.empty()) return {};
    const auto others =
        std::partition(chains.begin(), chains.end(), [&](const Followed& chain) { return counts(chain, eps); });
    const auto counting = static_cast<std::size_t>(others - chains.begin());
    if (counting >= 2) {
      for (std::size_t i = 0; i < counting; ++i) end(chains[i], eps);
      return {.links = {}, .has_split = true};
    }
    if (counting == 1) return std::move(chains.front());
    const auto rank = [&](const Followed& chain) {
      return std::tuple(chain.links.back().core, life_of(scores_, minpts_, chain, eps));
    };
    return std::move(*std::ranges::max_element(chains, {}, rank));
  }

  void step(std::size_t eps) {
    const LineageCell& cell = scores_.cell_at({eps, minpts_});
    std::map<std::uint32_t, std::vector<Followed>> arriving;
    if (eps > 0) {
      const std::vector<std::uint32_t>& parents = scores_.cell_at({eps - 1, minpts_}).parent_eps;
      for (auto& [cluster, chain] : living_) arriving[parents[cluster]].push_back(std::move(chain));
    }
    Living next;
    for (std::uint32_t k = 0; k < cell.clusters(); ++k) {
      if (cell.core[k] < least_) continue;
      Followed chain = merged(arriving[k], eps);
      chain.links.push_back({eps, k, static_cast<double>(cell.core[k])});
      next.emplace(k, std::move(chain));
    }
    living_ = std::move(next);
  }

  const MapScores& scores_;
  std::size_t minpts_;
  double least_;
  Living living_;
  std::vector<Leaf> leaves_;
};

std::uint32_t first_core(const MapScores& scores, std::size_t minpts, const CellCluster& c) {
  return scores.cell_at({c.eps, minpts}).first_core[c.cluster];
}

}  // namespace

std::vector<std::size_t> EpsPerCluster::all_eps() const {
  std::set<std::size_t> eps;
  for (const CellCluster& c : clusters) eps.insert(c.eps);
  return {eps.begin(), eps.end()};
}

EpsPerCluster grown_clusters(const MapScores& scores, MapIndex cell) {
  const CellScore& of_cell = scores.score(cell);
  EpsPerCluster found{cell.minpts, {}, {}, of_cell.score, of_cell.noise};
  const auto count = static_cast<std::uint32_t>(scores.cell_at(cell).clusters());
  for (std::uint32_t k = 0; k < count; ++k) found.clusters.push_back({cell.eps, k});
  if (of_cell.noise > kMostNoiseToGrow) return found;
  std::vector<std::uint32_t> alone(count);   // indices of the clusters that still grow
  std::vector<std::uint32_t> inside(count);  // [clusters] the cluster of the eps before that contains each
  for (std::uint32_t k = 0; k < count; ++k) alone[k] = inside[k] = k;
  const double most = kMostGrowth * scores.eps()[cell.eps] * (1 + 1e-9);
  for (std::size_t e = cell.eps + 1; e < scores.eps().size() && scores.eps()[e] <= most && !alone.empty(); ++e) {
    const std::vector<std::uint32_t>& parents = scores.cell_at({e - 1, cell.minpts}).parent_eps;
    // The clusters of the eps before in each cluster: the big ones, and those that contain clusters of the cell.
    std::map<std::uint32_t, std::vector<std::uint32_t>> within;
    for (const std::uint32_t k : scores.big_clusters({e - 1, cell.minpts})) within[parents[k]].push_back(k);
    for (const std::uint32_t k : inside) within[parents[k]].push_back(k);
    std::erase_if(alone, [&](std::uint32_t i) {
      const std::uint32_t here = inside[i];
      return std::ranges::any_of(within[parents[here]], [&](std::uint32_t other) { return other != here; });
    });
    for (std::uint32_t& k : inside) k = parents[k];
    for (const std::uint32_t i : alone) found.clusters[i] = {e, inside[i]};
  }
  std::ranges::sort(found.clusters, {}, [&](const CellCluster& c) { return first_core(scores, cell.minpts, c); });
  return found;
}

std::optional<EpsPerCluster> split_clusters(const MapScores& scores, std::size_t minpts, double least) {
  const Splitting splitting(scores, minpts, least);
  std::vector<Leaf> leaves = splitting.leaves();
  if (leaves.size() < 2) return std::nullopt;
  std::ranges::sort(leaves, {}, [&](const Leaf& leaf) { return first_core(scores, minpts, leaf.cluster); });
  EpsPerCluster found;
  found.minpts = minpts;
  std::vector<std::pair<double, double>> terms;  // share, and its part of the score
  for (const Leaf& leaf : leaves) {
    found.clusters.push_back(leaf.cluster);
    found.log_density.push_back(-scores.dimension(minpts) * std::log(leaf.grown_up));
    const double share = scores.sizes({leaf.cluster.eps, minpts})[leaf.cluster.cluster] / scores.points();
    terms.emplace_back(share, share * (1 - share) * leaf.life * leaf.life / (leaf.life * leaf.life + kHalfCredit));
  }
  // Leaves are in the order of their rows, and sums depend on the order of their terms.
  std::ranges::sort(terms);
  double shares = 0, credits = 0;
  for (const auto& [share, credit] : terms) {
    shares += share;
    credits += credit;
  }
  found.noise = std::max(0.0, 1 - shares);
  const double tie = std::pow(std::min(scores.points_of(minpts), std::sqrt(scores.points())), kTieExponent);
  found.score = std::round(tie * std::pow(1 - found.noise, kNoiseExponent) * credits * 1e9) / 1e9;
  return found;
}

std::optional<EpsPerCluster> best_split(const MapScores& scores, MapIndex cell) {
  double least = scores.least_big();
  const LineageCell& beside = scores.cell_at(cell);
  for (const std::uint32_t k : scores.big_clusters(cell)) least = std::min<double>(least, beside.core[k]);
  least = std::max(least, MapScores::kFewestPoints);
  std::optional<EpsPerCluster> best;
  for (std::size_t m = 0; m < scores.minpts().size(); ++m) {
    std::optional<EpsPerCluster> found = split_clusters(scores, m, least);
    if (found && (!best || found->score > best->score)) best = std::move(found);
  }
  return best;
}

}  // namespace epsflow

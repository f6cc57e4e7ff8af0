#include <epsflow/index/rounded_points.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <vector>

#include <epsflow/core/parallel.hpp>
#include <epsflow/index/tile_frame.hpp>

namespace epsflow::index {
namespace {

constexpr std::size_t kPanel = RoundedPoints::kPanel;
constexpr std::size_t kPointGrain = 64;  ///< panels of a task

/// Between these values eps² is a normal number, and sums of squares are far from under- and overflow.
constexpr double kSmallestEps = 1e-140;
constexpr double kLargestEps = 1e140;

/// Larger norms are useless with E < 2: float32 decides no pairs.
constexpr double kLargestNorm = 0x1p60;

/// Multiples of larger powers of two are within kLargestNorm only if they are 0.
constexpr int kHighestBit = 31;

/// Uses the median of up to this number of points, evenly spread over the positions.
constexpr std::size_t kSample = 255;

template <class T>
std::vector<double> sample_medians(const void* const* coordinates, std::size_t n, std::size_t dims) {
  const std::size_t samples = std::min(n, kSample);
  std::vector<double> centre(dims);
  std::vector<T> values(samples);
  for (std::size_t k = 0; k < dims; ++k) {
    const T* x = static_cast<const T*>(coordinates[k]);
    for (std::size_t i = 0; i < samples; ++i) values[i] = x[i * n / samples];
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(samples / 2), values.end());
    centre[k] = static_cast<double>(values[samples / 2]);
  }
  return centre;
}

struct Summary {
  double largest_norm = 0;
  int lowest_bit = 1 << 20;  ///< all coordinates are multiples of two to this power
  bool exact = true;         ///< no coordinate was rounded
  std::size_t vague = 0;     ///< points whose own share of a pair's error bound exceeds a neighbourhood

  [[nodiscard]] Summary with(const Summary& b) const {
    return {std::max(largest_norm, b.largest_norm), std::min(lowest_bit, b.lowest_bit), exact && b.exact,
            vague + b.vague};
  }
};

/// Returns the exponent of the lowest bit that is set; a large number for 0.
int lowest_bit(float x) noexcept {
  if (x == 0) return 1 << 20;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<int>(bits >> 23 & 0xFFU) - 150 + std::countr_zero((bits & 0x7FFFFFU) | 0x800000U);
}

/// Sums for the sixteen points of a panel in construction.
struct PanelSums {
  double radius_squared[kPanel] = {};
  double norm[kPanel] = {};        ///< over all complete chunks
  double chunk_norm[kPanel] = {};  ///< over the dimensions of this chunk
  double rounded[kPanel] = {};     ///< Σ of the norms of all values that are rounded in the computation of a product

  /// Ends a chunk: its sum of products is added to the sums before it, which is one more rounding.
  void end_chunk() {
    for (std::size_t i = 0; i < kPanel; ++i) {
      norm[i] += chunk_norm[i];
      rounded[i] += norm[i];
      chunk_norm[i] = 0;
    }
  }

  /// See rounded_points.hpp; products() of tile_test-inl.hpp defines the roundings. With u = 2^-24, a value v of the
  /// sum is rounded with an error of at most u|v| beyond its earlier error, which grows by 1 + u per step. All steps
  /// together: at most u·(1 + u)^(2d) Σ|v|, and (1 + u)^(2d) < 1 + 2^-10. Each v is ⟨p, q⟩ over some of the dimensions,
  /// so |v| is at most half the sum of the two squared norms over these. The products themselves, rounded if there is
  /// no fused operation, add up to the norms over all dimensions. If products underflow, each adds less than 2^-126.
  [[nodiscard]] double product_error(std::size_t i) const noexcept {
    return 0x1p-25 * (1 + 0x1p-9) * (rounded[i] + norm[i]) + 0x1p-110;
  }
  /// Bound on |p − P|, see make(): 2^-500 covers squares that underflow, 2^-30 the rounding here.
  [[nodiscard]] double radius(std::size_t i) const noexcept {
    return (std::sqrt(radius_squared[i]) + 0x1p-500) * (1 + 0x1p-30);
  }
};

}  // namespace

RoundedPoints::RoundedPoints(const void* const* coordinates, std::size_t n, std::size_t dims, Precision precision,
                             double eps)
    : dims_(dims) {
  if (n == 0 || dims < kFewestDims || !(eps >= kSmallestEps && eps <= kLargestEps)) return;
  if (precision == Precision::float32) {
    make<float>(coordinates, n, eps);
  } else {
    make<double>(coordinates, n, eps);
  }
}

template <class T>
void RoundedPoints::make(const void* const* coordinates, std::size_t n, double eps) {
  const std::size_t filled = (n + kPanel - 1) / kPanel;
  panels_ = Buffer<float>((filled + 2) * kPanel * dims_);
  reject_ = Buffer<float>((filled + 2) * kPanel);
  accept_ = Buffer<float>((filled + 2) * kPanel);
  const std::vector<double> centre = sample_medians<T>(coordinates, n, dims_);
  const double scale = std::ldexp(1.0, -std::ilogb(eps));
  const double scaled_eps = scale * eps;

  Buffer<double> norms(filled * kPanel);
  const auto round_panel = [&](std::size_t panel, Summary summary) {
    PanelSums sums;
    float* out = panels_.data() + panel * kPanel * dims_;
    const std::size_t first = panel * kPanel;
    const std::size_t count = std::min(kPanel, n - first);
    for (std::size_t k = 0; k < dims_; ++k, out += kPanel) {
      const T* x = static_cast<const T*>(coordinates[k]) + first;
      double wide[kPanel];
      // After the last point the centre is used: its coordinates become 0.
      for (std::size_t i = 0; i < kPanel; ++i) wide[i] = i < count ? static_cast<double>(x[i]) : centre[k];
      for (std::size_t i = 0; i < kPanel; ++i) {
        const double scaled = scale * (wide[i] - centre[k]);
        out[i] = static_cast<float>(scaled);
        // The difference of a number and its float is a float64. Subtracting the centre errs by 2^-53 of it.
        const double rounded = static_cast<double>(out[i]);
        const double off = std::fabs(scaled - rounded) + 0x1p-53 * std::fabs(scaled);
        sums.radius_squared[i] += off * off;
        sums.chunk_norm[i] += rounded * rounded;
        sums.rounded[i] += sums.chunk_norm[i];
      }
      for (std::size_t i = 0; i < kPanel && summary.exact; ++i) {
        // The rounding error of the subtraction, exactly (Knuth's sum of two numbers).
        const double from_centre = wide[i] - centre[k];
        const double back = wide[i] - from_centre;
        const double lost = (wide[i] - (from_centre + back)) - (centre[k] - back);
        summary.exact = lost == 0 && static_cast<double>(out[i]) == scale * from_centre;
        summary.lowest_bit = std::min(summary.lowest_bit, lowest_bit(out[i]));
      }
      if (k % kChunk == kChunk - 1 || k + 1 == dims_) sums.end_chunk();
    }
    for (std::size_t i = 0; i < kPanel; ++i) {
      PairThresholds t = always_open();
      if (sums.norm[i] <= kLargestNorm) {
        t = pair_thresholds(sums.norm[i], sums.product_error(i), sums.radius(i), scaled_eps);
      } else {
        // Also if coordinates overflowed, and norms are not a number.
        for (std::size_t k = 0; k < dims_; ++k) panels_[(panel * dims_ + k) * kPanel + i] = 0;
        summary.exact = false;
      }
      reject_[first + i] = t.reject;
      accept_[first + i] = t.accept;
      norms[first + i] = sums.norm[i];
      summary.largest_norm = std::max(summary.largest_norm, sums.norm[i]);
      if (i < count && !(t.accept - t.reject <= scaled_eps * scaled_eps / 2)) ++summary.vague;
    }
    return summary;
  };
  const Summary all = parallel_reduce(
      filled, kPointGrain, Summary{},
      [&](std::size_t begin, std::size_t end, Summary summary) {
        for (std::size_t panel = begin; panel != end; ++panel) summary = round_panel(panel, summary);
        return summary;
      },
      [](const Summary& a, const Summary& b) { return a.with(b); });
  std::fill(panels_.begin() + filled * kPanel * dims_, panels_.end(), 0.0F);
  std::fill(reject_.begin() + filled * kPanel, reject_.end(), 0.0F);
  std::fill(accept_.begin() + filled * kPanel, accept_.end(), 0.0F);
  const double step = std::ldexp(1.0, 2 * std::min(all.lowest_bit, kHighestBit));
  const double limit = scale * scale * (eps * eps);
  if (all.exact && all.largest_norm <= 0x1p20 * step && limit <= 0x1p20 * step) {
    set_exact(norms.span(), limit, step);
  } else if (all.vague > n / 2) {
    panels_ = {};
    reject_ = {};
    accept_ = {};
  }
}

/// Sets thresholds that leave no pair undecided. norms: [all positions] of the rounded points, multiples of `step`.
void RoundedPoints::set_exact(std::span<const double> norms, double limit, double step) {
  exact_ = true;
  parallel_ranges(norms.size(), kPointGrain * kPanel, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i != end; ++i) {
      reject_[i] = accept_[i] = exact_thresholds(norms[i], limit, step).reject;
    }
  });
}

}  // namespace epsflow::index

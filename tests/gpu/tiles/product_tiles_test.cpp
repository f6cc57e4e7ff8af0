// Compares the sums that tensor cores compute for adversarial factors with the error bound of the search by tiles.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/gpu.hpp"
#include "support/random_points.hpp"

#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/tiles/tile_kernels.hpp>

namespace epsflow::gpu {
namespace {

using test::Random;

/// The first tile of factors belongs to the rows; only its first row is used. All other tiles are columns.
constexpr std::uint32_t kTiles = 5;
constexpr std::uint32_t kPaddedRows = kTiles * index::kTilePoints;
constexpr std::uint32_t kColumns = kPaddedRows - index::kTilePoints;

/// Returns the bound of tile_search.cpp: for every 16 coordinates, 17 terms each lose up to the last bit of a float.
double gamma_of(std::uint32_t dims) { return std::ceil(dims / 16.0) * 17 * 0x1p-23; }

/// Half precision has 5 bits of exponent and 10 of fraction, fewer below 2^-14. Digits that do not fit are dropped.
std::uint16_t half_bits(double value) {
  const double magnitude = std::fabs(value);
  unsigned bits = 0;
  if (magnitude >= 0x1p-14) {
    const int exponent = std::ilogb(magnitude);
    bits = static_cast<unsigned>(exponent + 15) << 10U |
           static_cast<unsigned>((std::ldexp(magnitude, -exponent) - 1) * 1024);
  } else {
    bits = static_cast<unsigned>(magnitude * 0x1p24);
  }
  return static_cast<std::uint16_t>(bits | (std::signbit(value) ? 0x8000U : 0U));
}

double half_value(std::uint16_t bits) {
  const unsigned exponent = bits >> 10U & 31U;
  const unsigned fraction = bits & 1023U;
  const double magnitude =
      exponent == 0 ? fraction * 0x1p-24 : std::ldexp(1024.0 + fraction, static_cast<int>(exponent) - 25);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

/// Numbers floats in ascending order.
std::uint32_t rank_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
float float_of(std::uint32_t rank) {
  return std::bit_cast<float>((rank & 0x80000000U) != 0 ? rank & 0x7FFFFFFFU : ~rank);
}

using Launch = void (*)(const ProductTiles<float>&, const TileWork&, const PairSink&, unsigned, cudaStream_t);
struct Kernel {
  const char* name;
  Launch launch;
};

/// Returns the kernels that this GPU can run.
std::vector<Kernel> kernels() {
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  std::vector<Kernel> all{{"portable", &launch_product_tiles}};
  if (major == 9) all.push_back({"hopper", &launch_hopper_tiles});
  return all;
}

/// Multiplies a row with many columns of factors in half precision. Its [kPaddedRows × dims] values begin with the row,
/// in a tile without other values; the columns follow.
class Products {
 public:
  Products(std::uint32_t dims, const std::vector<double>& row, const std::vector<double>& columns) {
    tiles_.slices_per_tile = (dims + 63) / 64;
    tiles_.steps = (dims + 15) / 16;
    tiles_.count = kTiles;
    const std::uint64_t tile_bytes = std::uint64_t{tiles_.slices_per_tile} * kSliceBytes;
    std::vector<std::byte> bytes(kTiles * tile_bytes);
    const auto put = [&](std::uint32_t position, const double* values) {
      for (std::uint32_t k = 0; k < dims; ++k) {
        const std::uint16_t bits = half_bits(values[k]);
        std::memcpy(&bytes[position / index::kTilePoints * tile_bytes +
                           factor_offset(position % index::kTilePoints, std::uint64_t{k} * 2)],
                    &bits, sizeof(bits));
      }
    };
    put(0, row.data());
    for (std::uint32_t c = 0; c < kColumns; ++c) put(index::kTilePoints + c, &columns[std::size_t{c} * dims]);
    slices_ = {memory_, stream_.get(), bytes.size()};
    copy(slices_.data(), bytes.data(), bytes.size());
    tiles_.slices = slices_.data();
    tiles_.no = no_.data();
    tiles_.gaps = gaps_.data();
    // The first tile is multiplied with all others.
    const index::TileBlock block{0, 0, (std::uint64_t{1} << kTiles) - 2};
    copy(block_.data(), &block, sizeof(block));
  }

  /// Returns for each column 'n', '?' or 'y', for a threshold per column and one gap for all.
  std::string verdicts(const Kernel& kernel, const std::vector<float>& no, float gap) {
    set_thresholds(no_, no);
    std::vector<float> gaps(kTiles, gap);
    gaps[0] = 0;  // the tile of the row
    copy(gaps_.data(), gaps.data(), gaps.size() * sizeof(float));
    const PairCounts none{0, 0};
    copy(counts_.data(), &none, sizeof(none));
    int multiprocessors = 0;
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    const PairSink sink{pairs_.data(), pairs_.size(), open_.data(), open_.size(), counts_.data()};
    kernel.launch(tiles_, {block_.data(), 1, 0, 1}, sink, static_cast<unsigned>(multiprocessors), stream_.get());
    const PairCounts counts = read_values(counts_.data(), 1, stream_.get()).front();
    REQUIRE(counts.pairs <= pairs_.size());
    REQUIRE(counts.open <= open_.size());
    std::string verdicts(kColumns, 'n');
    bool fine = true;
    const auto note = [&](const DeviceBuffer<PointPair>& list, std::uint64_t size, char verdict) {
      for (const PointPair pair : read_values(list.data(), size, stream_.get())) {
        if (pair.first == kNoPoint) continue;
        const std::uint32_t c = pair.second - index::kTilePoints;
        fine = fine && pair.first == 0 && c < kColumns && verdicts[c] == 'n';
        if (c < kColumns) verdicts[c] = verdict;
      }
    };
    note(pairs_, counts.pairs, 'y');
    note(open_, counts.open, '?');
    REQUIRE(fine);
    return verdicts;
  }

  /// Returns the products as the kernel computes them: the largest threshold that each reaches, found bit by bit.
  std::vector<float> computed(const Kernel& kernel) {
    std::vector<std::uint32_t> lo(kColumns, rank_of(-std::numeric_limits<float>::max()));
    std::vector<std::uint32_t> hi(kColumns, rank_of(std::numeric_limits<float>::infinity()));
    std::vector<float> threshold(kColumns);
    for (int bit = 0; bit < 32; ++bit) {
      const auto middle = [&](std::size_t c) { return lo[c] + (hi[c] - lo[c]) / 2; };
      for (std::size_t c = 0; c < kColumns; ++c) threshold[c] = float_of(middle(c));
      const std::string found = verdicts(kernel, threshold, std::numeric_limits<float>::infinity());
      for (std::size_t c = 0; c < kColumns; ++c) (found[c] == 'n' ? hi : lo)[c] = middle(c);
    }
    std::vector<float> products(kColumns);
    for (std::size_t c = 0; c < kColumns; ++c) {
      REQUIRE(hi[c] == lo[c] + 1);
      products[c] = float_of(lo[c]);
    }
    return products;
  }

 private:
  void copy(void* to, const void* from, std::uint64_t bytes) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_.get()));
    stream_.synchronize();
  }
  /// The threshold of the row is 0, so a sum of two thresholds is the column's. Other rows reach no threshold.
  void set_thresholds(DeviceBuffer<float>& to, const std::vector<float>& of_columns) {
    std::vector<float> all(kPaddedRows, std::numeric_limits<float>::infinity());
    all[0] = 0;
    std::copy(of_columns.begin(), of_columns.end(), all.begin() + index::kTilePoints);
    copy(to.data(), all.data(), all.size() * sizeof(float));
  }

  DeviceMemory memory_{0, 1ULL << 28};
  Stream stream_;
  DeviceBuffer<std::byte> slices_;
  DeviceBuffer<float> no_{memory_, stream_.get(), kPaddedRows};
  DeviceBuffer<float> gaps_{memory_, stream_.get(), kTiles};
  DeviceBuffer<index::TileBlock> block_{memory_, stream_.get(), 1};
  DeviceBuffer<PairCounts> counts_{memory_, stream_.get(), 1};
  DeviceBuffer<PointPair> pairs_{memory_, stream_.get(), 1 << 21};
  DeviceBuffer<PointPair> open_{memory_, stream_.get(), 1 << 21};
  ProductTiles<float> tiles_;
  StreamDrain drain_{stream_};  // drains the stream before the memory above is freed
};

/// A row, and a function that makes a column from it. All values are then rounded to half precision.
struct Pattern {
  const char* name;
  std::function<double(Random&, std::uint32_t k)> row;
  std::function<double(Random&, std::uint32_t k, std::uint32_t column, double row)> column;
};

double sign_of(Random& random) { return random.chance(0.5) ? 1 : -1; }

/// The digits that are dropped depend on where a product begins below the largest term, so columns c vary this.
std::vector<Pattern> patterns() {
  constexpr double kBelowTwo = 2047.0 / 1024;  // all bits are 1
  const auto same = [](Random&, std::uint32_t, std::uint32_t, double row) { return row; };
  std::vector<Pattern> all{
      {"all as large as can be", [](Random&, std::uint32_t) { return 65504.0; }, same},
      {"as large as can be, signs at random", [](Random& random, std::uint32_t) { return 65504.0 * sign_of(random); },
       [](Random& random, std::uint32_t, std::uint32_t, double) { return 65504.0 * sign_of(random); }},
      {"all digits, magnitudes at random",
       [=](Random& random, std::uint32_t) {
         return std::ldexp(kBelowTwo, static_cast<int>(random.below(28)) - 14) * sign_of(random);
       },
       [=](Random& random, std::uint32_t, std::uint32_t column, double) {
         return std::ldexp(kBelowTwo, static_cast<int>(random.below(1 + column % 28)) - 14) * sign_of(random);
       }},
      {"digits at random of one magnitude", [](Random& random, std::uint32_t) { return random.uniform(-1, 1); },
       [](Random& random, std::uint32_t, std::uint32_t, double) { return random.uniform(-1, 1); }},
      {"digits at random, all positive", [](Random& random, std::uint32_t) { return random.uniform(0.5, 1); },
       [](Random& random, std::uint32_t, std::uint32_t, double) { return random.uniform(0.5, 1); }},
      {"terms that cancel, in turn", [](Random& random, std::uint32_t) { return random.uniform(0.5, 1); },
       [](Random& random, std::uint32_t k, std::uint32_t column, double row) {
         const double change = 1 + std::ldexp(random.uniform(-1, 1), -static_cast<int>(column % 11));
         return row * change * (k % 2 == 0 ? 1 : -1);
       }},
      {"terms that cancel half-way", [](Random& random, std::uint32_t) { return random.uniform(1, 2); },
       [](Random&, std::uint32_t k, std::uint32_t column, double row) {
         const std::uint32_t turn = 16 << column % 6;
         return row * (k / turn % 2 == 0 ? 1 : -1);
       }},
      {"below the normal numbers", [](Random& random, std::uint32_t) { return random.uniform(-0x1p-14, 0x1p-14); },
       [](Random& random, std::uint32_t, std::uint32_t column, double) {
         return random.uniform(-1, 1) * std::ldexp(1, -14 - static_cast<int>(column % 10));
       }},
      {"the smallest numbers and a one", [](Random&, std::uint32_t k) { return k == 0 ? 1.0 : 0x1p-24; },
       [](Random&, std::uint32_t k, std::uint32_t column, double) {
         return k == 0 ? 1.0 : std::ldexp(1, -static_cast<int>(column % 25));
       }},
      {"whole numbers up to 2048",
       [](Random& random, std::uint32_t) { return static_cast<double>(random.below(4097)) - 2048; },
       [](Random& random, std::uint32_t, std::uint32_t, double) {
         return static_cast<double>(random.below(4097)) - 2048;
       }},
  };
  // One product is large. All others have all digits just below its last bit or a few bits further down, so they vanish
  // if tensor cores drop these digits. The large product comes first, last in a step, or repeatedly.
  for (const unsigned every : {16U, 64U, 1U << 30U}) {
    for (const unsigned remainder : {0U, 15U}) {
      all.push_back(
          {"one large term and dust",
           [=](Random&, std::uint32_t k) { return k % every == remainder ? kBelowTwo * 0x1p9 : kBelowTwo * 0x1p-3; },
           [=](Random& random, std::uint32_t k, std::uint32_t column, double) {
             // Columns have one sign, the other sign, or both.
             const double sign = column % 3 == 0 ? 1 : column % 3 == 1 ? -1 : sign_of(random);
             const double large = (column / 3 % 2 == 0 ? 1 : kBelowTwo) * 0x1p9;
             if (k % every == remainder) return large;
             return sign * std::ldexp(kBelowTwo, -1 - static_cast<int>(column / 6 % 14));
           }});
    }
  }
  return all;
}

struct Worst {
  double share = 0;
  std::string where;
};

void check_products(const Pattern& pattern, std::uint32_t dims, Worst& worst) {
  Random random(dims);
  const auto rounded = [](double x) { return half_value(half_bits(x)); };
  std::vector<double> row(dims);
  std::vector<double> columns(std::size_t{kColumns} * dims);
  for (std::uint32_t k = 0; k < dims; ++k) row[k] = rounded(pattern.row(random, k));
  for (std::uint32_t c = 0; c < kColumns; ++c) {
    for (std::uint32_t k = 0; k < dims; ++k) {
      columns[std::size_t{c} * dims + k] = rounded(pattern.column(random, k, c, row[k]));
    }
  }
  Products products(dims, row, columns);
  for (const Kernel& kernel : kernels()) {
    INFO(kernel.name);
    const std::vector<float> computed = products.computed(kernel);
    for (std::uint32_t c = 0; c < kColumns; ++c) {
      // Products of half-precision numbers are exact in float64, and their sum loses at most 2^-29 of the bound.
      double exact = 0;
      double row_norm = 0;
      double column_norm = 0;
      for (std::uint32_t k = 0; k < dims; ++k) {
        const double q = columns[std::size_t{c} * dims + k];
        exact += row[k] * q;
        row_norm += row[k] * row[k];
        column_norm += q * q;
      }
      const double bound = gamma_of(dims) * std::sqrt(row_norm) * std::sqrt(column_norm);
      const double error = std::fabs(static_cast<double>(computed[c]) - exact);
      INFO("column " << c << ": computed " << computed[c] << ", exact " << exact << ", bound " << bound);
      if (!(error <= bound)) FAIL("a product is off by " << error);
      if (bound > 0 && error / bound > worst.share) {
        worst.share = error / bound;
        worst.where = std::string(pattern.name) + ", " + std::to_string(dims) + " coordinates, " + kernel.name;
      }
    }
    // The three verdicts must be right at the thresholds just found and one step above them.
    std::vector<float> above(kColumns);
    for (std::size_t c = 0; c < kColumns; ++c) above[c] = float_of(rank_of(computed[c]) + 1);
    REQUIRE(products.verdicts(kernel, computed, 0) == std::string(kColumns, 'y'));
    REQUIRE(products.verdicts(kernel, computed, std::numeric_limits<float>::denorm_min()) ==
            std::string(kColumns, '?'));
    REQUIRE(products.verdicts(kernel, above, 0) == std::string(kColumns, 'n'));
  }
}

TEST_CASE("product tiles: half precision as the tests write it") {
  CHECK(half_value(half_bits(1)) == 1);
  CHECK(half_value(half_bits(-65504)) == -65504);
  CHECK(half_value(half_bits(2047.0 / 1024)) == 2047.0 / 1024);
  CHECK(half_value(half_bits(0x1p-14)) == 0x1p-14);
  CHECK(half_value(half_bits(-0x1p-24)) == -0x1p-24);
  CHECK(half_value(half_bits(1023 * 0x1p-24)) == 1023 * 0x1p-24);
  CHECK(half_value(half_bits(1 + 0x1.8p-10)) == 1 + 0x1p-10);
  CHECK(half_value(half_bits(0)) == 0);
  CHECK(half_bits(1) == 0x3C00);
  CHECK(half_bits(-2) == 0xC000);
  for (const float x : {0.0F, 1.0F, -1.0F, 0x1p-149F, -0x1p-149F, 3e38F}) CHECK(float_of(rank_of(x)) == x);
  CHECK(rank_of(-1) < rank_of(-0x1p-149F));
  CHECK(rank_of(0x1p-149F) < rank_of(1));
}

TEST_CASE("product tiles: no product of half precision is farther off than its bound") {
  if (!test::have_gpu()) return;
  Worst worst;
  for (const Pattern& pattern : patterns()) {
    for (const std::uint32_t dims : {16U, 64U, 128U, 1024U, 4096U}) {
      INFO(pattern.name << ", " << dims << " coordinates");
      check_products(pattern, dims, worst);
    }
  }
  WARN("largest error: " << worst.share << " of the bound (" << worst.where << ")");
  CHECK(worst.share > 0);
}

}  // namespace
}  // namespace epsflow::gpu

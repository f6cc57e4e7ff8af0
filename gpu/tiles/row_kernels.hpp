// Bounds of rows and columns, and the choice among the candidates of rows (row_candidates.hpp). No function waits for
// its stream.
//
// A pair is left out if ĝ < rows.no[p] + columns.no[q] for its product ĝ. index/tile_frame.hpp derives such bounds for
// one eps; here each row has its own radius E, in units of the frame (scaled coordinates). With n the squared norm of a
// rounded point, r a bound on its rounding, e its share of the error of ĝ, and R the largest r, a pair is farther than
// E if n_p + n_q − 2(ĝ + e_p + e_q) > (E + r_p + R)². So
//
//   columns.no = ½n − e,   rows.no = ½n − e − ½(E + r + R)².
//
// The nearness of a candidate is ĝ − columns.no[q]. So the distance of the rounded points is at most
// √(n_p + 2e_p + 4e_q − 2·nearness), and the distance of the points themselves at most r_p + r_q more. The k-th largest
// nearness gives a radius that contains k points.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/gpu/tiles/row_candidates.hpp>
#include <epsflow/gpu/tiles/tile_kernels.hpp>
#include <epsflow/gpu/tiles/tile_view.hpp>

namespace epsflow::gpu {

/// The largest norm and radius of some factors, as bits of float64. [device] Zero before.
struct ShapeExtremes {
  unsigned long long norm;
  unsigned long long radius;
};
void launch_shape_extremes(const FactorShape* shapes, std::uint32_t count, ShapeExtremes* extremes,
                           cudaStream_t stream);

/// Facts about all points that the bounds need.
struct RowFrame {
  double gamma = 0;        ///< e = gamma·n / 2
  double most_norm = 0;    ///< the largest n
  double most_radius = 0;  ///< R
  int exponent = 0;        ///< scale of the frame
};

/// Writes order[i] = i · step mod size.
void launch_scatter_order(std::uint32_t size, std::uint64_t step, std::uint32_t* order, cudaStream_t stream);
/// Writes ids[i] = order[positions[i]].
void launch_ids_of(const std::uint32_t* positions, const std::uint32_t* order, std::uint32_t count, std::uint32_t* ids,
                   cudaStream_t stream);

// Real: float for half-precision factors, or double. Both are defined.

/// Writes no[q] for `count` columns, and infinity up to `padded_count`.
template <class Real>
void launch_column_bounds(const FactorShape* shapes, const RowFrame& frame, std::uint32_t count,
                          std::uint32_t padded_count, Real* no, cudaStream_t stream);

/// The rows that are compared, and within which distance. [device]
struct RowRadii {
  const FactorShape* shapes = nullptr;
  /// [count] The radius of each row in units of the frame; if `limits` is true, the squared radius in the units of the
  /// points. If infinite, the row takes all pairs, if negative none. Null: all rows take all pairs.
  const double* values = nullptr;
  bool limits = false;
  std::uint32_t count = 0;
  std::uint32_t padded_count = 0;  ///< number of rows of their tiles
};
/// Writes no[i] for the rows; infinity for rows that take no pairs, and up to `padded_count`. Also writes reach[tile]:
/// the largest radius of its rows as the bits of a float, plus 1; 0 if they take no pairs.
template <class Real>
void launch_bound_rows(const RowRadii& rows, const RowFrame& frame, Real* no, std::uint32_t* reach,
                       cudaStream_t stream);

// Order: points that share their nearest pivot are together, ascending by their distance to it.

/// The first `pivots` rows are the pivots, and the candidates of each row are the pivots other than itself. Writes for
/// each row a key to sort rows by the nearest pivot and the distance to it, and a radius in units of the frame that
/// contains `wanted` candidates, infinite if the row has fewer. The nearest pivot of a pivot is itself.
template <class Real>
void launch_pivot_keys(const FactorShape* shapes, const RowFrame& frame, const CandidateSlots<Real>& slots,
                       std::uint32_t count, std::uint32_t pivots, std::uint32_t wanted, unsigned long long* keys,
                       double* radii, cudaStream_t stream);
/// Sorts all positions by their keys, and writes to_order[i] = order[p], to_radii[i] = radii[p] for the i-th position
/// p. The keys are undefined after it.
void launch_sort_rows(unsigned long long* keys, const std::uint32_t* order, const double* radii, std::uint32_t count,
                      std::uint32_t* to_order, double* to_radii, Scratch scratch);
/// Sorts positions, ascending, in place.
void launch_sort_positions(std::uint32_t* positions, std::uint32_t count, Scratch scratch);

// Pairs of tiles.

/// A ball around the points of each tile, in units of the frame. [device]
struct TileBalls {
  double* centres = nullptr;  ///< [dims × tiles]
  double* radii = nullptr;    ///< [tiles]
  std::uint32_t count = 0;    ///< number of tiles
  std::uint32_t dims = 0;
};
/// Computes the balls. slack: a bound on the rounding of coordinates to the frame, as a distance; radii include it.
void launch_tile_balls(const OrderedPoints& points, const TileFrame& frame, double slack, const TileBalls& balls,
                       cudaStream_t stream);
/// Writes gaps[i · columns.count + j], a lower bound on the distance, in units of the frame, of a point of row tile i
/// and a point of column tile j.
void launch_tile_gaps(const TileBalls& rows, const TileBalls& columns, float* gaps, cudaStream_t stream);

/// Writes tiles[t] = the component of all points of tile t, or kMixedTile if they are in several. positions: [count]
/// the position of each row; null if row i is position i.
void launch_tile_components(const std::uint32_t* components, const std::uint32_t* positions, std::uint32_t count,
                            std::uint32_t* tiles, cudaStream_t stream);
inline constexpr std::uint32_t kMixedTile = ~0U;

/// Pairs of tiles to compare. [device]
struct TilePairs {
  std::uint32_t row_tiles = 0;
  std::uint32_t column_tiles = 0;
  const float* gaps = nullptr;           ///< [row_tiles × column_tiles] launch_tile_gaps(); null: all are 0
  const std::uint32_t* reach = nullptr;  ///< launch_bound_rows()
  /// [row_tiles] and [column_tiles] launch_tile_components(): two tiles whose points all are in one component are not
  /// compared. Both may be null.
  const std::uint32_t* row_components = nullptr;
  const std::uint32_t* column_components = nullptr;
  /// Takes column tile c if c · step mod column_tiles is at least `from` and below `to`.
  std::uint64_t step = 1;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  /// The band of a row tile: the column tiles whose numbers differ from its own by at most 1. `alone` compares row
  /// tiles with these only, `without` with all others only, `with` with all.
  enum class Band : std::uint8_t { with, alone, without } band = Band::with;
};
/// Lists the blocks with pairs within reach, in any order, and writes *count = their number. blocks: can hold all.
void launch_list_blocks(const TilePairs& pairs, index::TileBlock* blocks, unsigned long long* count,
                        cudaStream_t stream);

/// The state of rows whose nearest columns are searched. [device]
struct NearestRows {
  const FactorShape* shapes = nullptr;
  std::uint32_t count = 0;
  std::uint32_t wanted = 0;           ///< how many nearest columns
  double* radii = nullptr;            ///< [count] in units of the frame
  double* retry = nullptr;            ///< [count] the radius of rows that lost candidates, −1 of others
  std::uint32_t* retained = nullptr;  ///< [count] number of candidates that launches before have left
};
/// Lowers the radius of each row with at least `wanted` candidates to a radius that contains `wanted` of them, and
/// drops candidates beyond it. A row whose slots overflowed also drops all candidates of the last comparison, and must
/// be compared again with the radius in `retry`. *lost = the number of such rows. again: the last comparison was only
/// of such rows; other rows stay as they are.
template <class Real>
void launch_narrow(const NearestRows& rows, const RowFrame& frame, const CandidateSlots<Real>& slots, bool again,
                   std::uint32_t* lost, cudaStream_t stream);

/// Writes the nearest columns of all rows, by exact squared distances: for the i-th nearest of row p its position
/// lists[i · n + p] and its distance sums[i · n + p], for i below `length`; n is the number of points, row p is
/// position p, and of equal distances the lower position is first. *missing = the number of rows with fewer than
/// `length` candidates, whose lists are not complete.
template <class Real>
void launch_sort_candidates(const OrderedPoints& points, const CandidateSlots<Real>& slots, std::uint32_t length,
                            std::uint32_t* lists, double* sums, std::uint32_t* missing, cudaStream_t stream);

}  // namespace epsflow::gpu

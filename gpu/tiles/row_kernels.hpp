// Bounds of rows and columns, and the choice among the candidates of rows (row_candidates.hpp). None waits.
//
// A pair is left out if ĝ < rows.no[p] + columns.no[q] for its product ĝ. index/tile_frame.hpp derives such bounds for
// one eps; here each row has its own radius E, in units of the frame. With n, r and e as there, and R the largest r, a
// pair is farther than E if n_p + n_q − 2(ĝ + e_p + e_q) > (E + r_p + R)². So
//
//   columns.no = ½n − e,   rows.no = ½n − e − ½(E + r + R)².
//
// The nearness of a candidate is ĝ − columns.no[q], so its squared distance is at most n_p + 2e_p + 4e_q − 2·nearness,
// up to r_p + r_q in the distance. From k such candidates follows an E that is no less than the k-th distance.
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

/// Writes order[i], so that consecutive positions hold points from everywhere.
void launch_scatter_order(std::uint32_t size, std::uint32_t* order, cudaStream_t stream);
/// Writes ids[i] = order[positions[i]].
void launch_ids_of(const std::uint32_t* positions, const std::uint32_t* order, std::uint32_t count, std::uint32_t* ids,
                   cudaStream_t stream);

// Real: float for half-precision factors, or double. Both are defined.

/// Writes no[q] for `count` columns, and infinity up to `places`.
template <class Real>
void launch_column_bounds(const FactorShape* shapes, const RowFrame& frame, std::uint32_t count, std::uint32_t places,
                          Real* no, cudaStream_t stream);
/// Writes no[p] for rows within any distance, and infinity up to `places`.
template <class Real>
void launch_open_rows(std::uint32_t count, std::uint32_t places, Real* no, cudaStream_t stream);
/// Writes no[i] for rows that want pairs of a sum below limits[i]; infinity for rows that want none, whose limit is
/// negative, and up to `places`.
template <class Real>
void launch_bound_rows(const FactorShape* shapes, const RowFrame& frame, const double* limits, std::uint32_t count,
                       std::uint32_t places, Real* no, cudaStream_t stream);

/// The state of rows whose nearest columns are searched. [device]
template <class Real>
struct NearestRows {
  const FactorShape* shapes = nullptr;
  std::uint32_t count = 0;
  std::uint32_t wanted = 0;           ///< how many nearest columns
  Real* no = nullptr;                 ///< [places]
  Real* masked = nullptr;             ///< [places] no, or infinity for rows that lost no candidates
  std::uint8_t* overflown = nullptr;  ///< [count] rows that lost candidates
};
/// Lowers the radius of each row to what its candidates show, and removes those beyond it. Rows with more candidates
/// than room lose those from position `begin` on, and must be compared again; *lost = their number. If `again`, only
/// rows that had lost candidates were compared.
template <class Real>
void launch_narrow(const NearestRows<Real>& rows, const RowFrame& frame, const CandidateSlots<Real>& slots,
                   std::uint32_t begin, bool again, std::uint32_t* lost, cudaStream_t stream);

/// Writes the nearest columns of all rows, by exact sums: lists[i · count + p] and sums[i · count + p], for i below
/// `length`, nearest first. *missing = rows with fewer candidates.
template <class Real>
void launch_sort_candidates(const OrderedPoints& points, const CandidateSlots<Real>& slots, std::uint32_t length,
                            std::uint32_t* lists, double* sums, std::uint32_t* missing, cudaStream_t stream);

}  // namespace epsflow::gpu

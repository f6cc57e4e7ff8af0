#include <epsflow/pipeline/point_rows.hpp>

#include <algorithm>
#include <cmath>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow {

Points bring(const PointsSource& source) {
  Points points(source.size, source.dims, source.precision);
  std::byte* const to = points.data();
  parallel_ranges(source.size, 1 << 14, [&](std::size_t begin, std::size_t end) {
    source.write(begin, end, to + begin * source.row_bytes());
  });
  return points;
}

void require_row_count(const PointRows& input) {
  if (input.size() <= kMaxPoints) return;
  throw ResourceError("there are " + format_count(input.size(), "point") + ", and a process takes at most " +
                      format_count(kMaxPoints) + ": share them between several (MPI), or cluster fewer");
}

void require_finite_rows(const PointRows& input) {
  constexpr std::size_t kRows = 1 << 14;
  Buffer<std::byte> buffer;
  input.visit([&]<class T>(T /*zero*/) {
    for (std::size_t first = 0; first < input.size(); first += kRows) {
      const std::size_t last = std::min(input.size(), first + kRows);
      const auto* const values = reinterpret_cast<const T*>(input.rows(first, last, buffer));
      for (std::size_t i = 0; i < (last - first) * input.dims(); ++i) {
        if (!std::isfinite(values[i])) throw_not_finite(first + i / input.dims(), i % input.dims(), values[i]);
      }
    }
  });
}

}  // namespace epsflow

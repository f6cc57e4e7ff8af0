#include <epsflow/core/parallel.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

namespace epsflow {

void parallel_ranges(std::size_t count, std::size_t grain, RangeBody body) {
  if (count <= grain) {  // saves the microsecond of a task
    if (count > 0) body(0, count);
    return;
  }
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, grain),
                    [body](const tbb::blocked_range<std::size_t>& range) { body(range.begin(), range.end()); });
}

void parallel_tasks(std::size_t count, RangeBody body) {
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, count, 1),
      [body](const tbb::blocked_range<std::size_t>& range) { body(range.begin(), range.end()); },
      tbb::simple_partitioner());
}

void parallel_sort(std::span<double> values) { tbb::parallel_sort(values.begin(), values.end()); }
void parallel_sort(std::span<std::uint64_t> values) { tbb::parallel_sort(values.begin(), values.end()); }

}  // namespace epsflow

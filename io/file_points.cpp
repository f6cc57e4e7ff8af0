#include <epsflow/io/file_points.hpp>

namespace epsflow::io {

std::uint64_t FilePoints::dropped_rows() const noexcept {
  std::uint64_t sum = 0;
  for (const InputRows& input : inputs) sum += input.dropped.size();
  return sum;
}

}  // namespace epsflow::io

#include <epsflow/parts/exchange.hpp>

namespace epsflow::parts {

void Exchange::min(std::span<double> values) {
  for (double& value : values) value = -value;
  max(values);
  for (double& value : values) value = -value;
}

std::uint64_t Exchange::sum(std::uint64_t value) {
  sum(std::span(&value, 1));
  return value;
}

std::uint64_t Exchange::max(std::uint64_t value) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(size()));
  all[static_cast<std::size_t>(rank())] = value;
  sum(std::span(all));
  for (const std::uint64_t other : all) value = other > value ? other : value;
  return value;
}

std::uint64_t Exchange::sum_below(std::uint64_t value) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(size()));
  all[static_cast<std::size_t>(rank())] = value;
  sum(std::span(all));
  std::uint64_t below = 0;
  for (int r = 0; r < rank(); ++r) below += all[static_cast<std::size_t>(r)];
  return below;
}

}  // namespace epsflow::parts

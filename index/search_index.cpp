#include <epsflow/index/search_index.hpp>

#include <epsflow/core/parallel.hpp>

namespace epsflow::index {

std::uint64_t SearchIndex::bytes() const noexcept {
  std::uint64_t sum = order_.bytes() + bundle_starts_.bytes();
  for (const auto& c : coordinates_) sum += c.bytes();
  return sum;
}

void SearchIndex::copy_coordinates(PointsView points) {
  constexpr std::size_t kGrain = 1 << 15;
  coordinates_.reserve(dims_);
  for (std::size_t k = 0; k < dims_; ++k) coordinates_.emplace_back(points.size() * bytes_of(precision_));
  points.visit([&]<class T>(std::span<const T> values) {
    parallel_ranges(points.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = 0; k < dims_; ++k) {
        T* out = reinterpret_cast<T*>(coordinates_[k].data());
        for (std::size_t i = begin; i < end; ++i) {
          out[i] = values[std::size_t{order_[i]} * dims_ + k];
        }
      }
    });
  });
}

}  // namespace epsflow::index

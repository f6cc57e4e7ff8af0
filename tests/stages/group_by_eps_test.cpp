#include <epsflow/stages/group_by_eps.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"

namespace epsflow::stages {
namespace {

TEST_CASE("group by eps: largest eps first, largest minpts first, nothing lost") {
  const auto groups =
      group_by_eps(Sweep(std::vector<Variant>{{0.2, 4}, {0.5, 9}, {0.2, 16}, {0.5, 1}, {0.3, 2}, {0.2, 8}}));
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].eps == 0.5);
  CHECK(groups[0].minpts == std::vector<std::uint32_t>{9, 1});
  CHECK(groups[1].eps == 0.3);
  CHECK(groups[1].minpts == std::vector<std::uint32_t>{2});
  CHECK(groups[2].eps == 0.2);
  CHECK(groups[2].minpts == std::vector<std::uint32_t>{16, 8, 4});
}

TEST_CASE("group by eps: radii that differ in the last bit are two groups") {
  CHECK(group_by_eps(grid({0.1, std::nextafter(0.1, 1.0)}, {4, 5})).size() == 2);
  CHECK(group_by_eps(Sweep()).empty());
}

}  // namespace
}  // namespace epsflow::stages

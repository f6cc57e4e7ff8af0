#pragma once

#include "support/catch.hpp"

#include <epsflow/clustering/lineage.hpp>

namespace epsflow::test {

inline void check_same_lineage(const Lineage& found, const Lineage& expected) {
  REQUIRE(found.cells().size() == expected.cells().size());
  for (std::size_t i = 0; i < found.cells().size(); ++i) {
    CHECK(found.cell(i).summary == expected.cell(i).summary);
    CHECK(found.cell(i).first_core == expected.cell(i).first_core);
    CHECK(found.cell(i).core == expected.cell(i).core);
    CHECK(found.cell(i).size == expected.cell(i).size);
    CHECK(found.cell(i).parent_eps == expected.cell(i).parent_eps);
    CHECK(found.cell(i).parent_minpts == expected.cell(i).parent_minpts);
  }
}

}  // namespace epsflow::test

#include <epsflow/core/cancel.hpp>

#include "support/catch.hpp"

#include <epsflow/core/error.hpp>

namespace epsflow {
namespace {

TEST_CASE("cancel token: set once, for itself and for its children") {
  CancelToken parent;
  CancelToken child(&parent);
  CancelToken orphan(nullptr);
  CHECK_FALSE(child.cancelled());
  CHECK_NOTHROW(child.check());
  child.cancel();
  CHECK(child.cancelled());
  CHECK_FALSE(parent.cancelled());
  CHECK_THROWS_AS(child.check(), Cancelled);
  CancelToken other(&parent);
  parent.cancel();
  CHECK(other.cancelled());
  CHECK_FALSE(orphan.cancelled());
}

}  // namespace
}  // namespace epsflow

#include <epsflow/core/labels.hpp>

#include <string>
#include <type_traits>

#include "support/catch.hpp"

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/error.hpp>

namespace epsflow {
namespace {

TEST_CASE("labels: noise is -1, as in scikit-learn") { CHECK(kNoise == -1); }

TEST_CASE("labels: summaries are equal when every count is") {
  const LabelSummary summary{1, 2, 3, 4, 5};
  CHECK(summary == LabelSummary{1, 2, 3, 4, 5});
  CHECK_FALSE(summary == LabelSummary{0, 2, 3, 4, 5});
  CHECK_FALSE(summary == LabelSummary{1, 0, 3, 4, 5});
  CHECK_FALSE(summary == LabelSummary{1, 2, 0, 4, 5});
  CHECK_FALSE(summary == LabelSummary{1, 2, 3, 0, 5});
  CHECK_FALSE(summary == LabelSummary{1, 2, 3, 4, 0});
}

TEST_CASE("errors: one base, so that a caller can catch all of them") {
  static_assert(std::is_base_of_v<Error, UsageError>);
  static_assert(std::is_base_of_v<Error, InputError>);
  static_assert(std::is_base_of_v<Error, ResourceError>);
  static_assert(std::is_base_of_v<Error, Cancelled>);
  CHECK(std::string(Cancelled().what()).find("cancelled") != std::string::npos);
}

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

#include <epsflow/pipeline/admission.hpp>

#include <optional>

#include "support/catch.hpp"

#include <epsflow/core/memory.hpp>

namespace epsflow {
namespace {

TEST_CASE("admission: the first group is alone until its preparation is complete, then others join, as many as may") {
  MemoryBudget budget(1000);
  const ArenaPool pool(budget);
  Admission admission({{4, {1}}, {3, {1}}, {2, {1}}, {1, {1}}}, 2, pool);
  const auto first = admission.next();
  REQUIRE(first);
  CHECK(first->exclusive);
  CHECK_FALSE(admission.next());
  const GroupTicket ticket(first->exclusive);
  admission.complete(ticket, 100);
  const auto second = admission.next();
  REQUIRE(second);
  CHECK_FALSE(second->exclusive);
  CHECK(second->group.eps == 3);
  CHECK_FALSE(admission.next());
  admission.end(ticket, first->group);
  // A group waits if the budget has less than the last one took.
  admission.complete(GroupTicket(second->exclusive), 1000);
  CHECK_FALSE(admission.next());
  admission.end(GroupTicket(second->exclusive), second->group);
  CHECK(admission.next()->group.eps == 2);
  CHECK_FALSE(admission.done());
}

TEST_CASE("admission: a starved group is next, and exclusive; one that was that loses its table, for good") {
  MemoryBudget budget(1000);
  const ArenaPool pool(budget);
  Admission admission({{4, {1}}, {3, {1}}}, 2, pool);
  const auto first = admission.next();
  const GroupTicket done(first->exclusive);
  admission.complete(done, 10);
  auto second = admission.next();
  REQUIRE(second);
  GroupTicket shared(second->exclusive);
  shared.starve_of_table();
  CHECK(shared.starved());
  admission.end(shared, second->group);
  CHECK_FALSE(admission.next());  // an exclusive group waits for the first
  admission.end(done, first->group);
  second = admission.next();
  REQUIRE(second);
  CHECK(second->exclusive);
  CHECK(second->group.eps == 3);
  CHECK_FALSE(second->group.table_refused);
  GroupTicket alone(second->exclusive);
  alone.starve_of_table();
  admission.end(alone, second->group);
  second = admission.next();
  REQUIRE(second);
  CHECK(second->exclusive);
  CHECK(second->group.table_refused);
  admission.end(GroupTicket(second->exclusive), second->group);
  CHECK(admission.done());
}

TEST_CASE("admission: groups that runs share are asked for as there is room, and again once none is in flight") {
  MemoryBudget budget(1000);
  const ArenaPool pool(budget);
  int asked = 0, left = 2;
  bool last_is_kept = true;
  Admission admission({{9, {1}}}, 2, pool, [&](bool ahead) -> std::optional<stages::EpsGroup> {
    ++asked;
    if (left == 0 || (ahead && left == 1 && last_is_kept)) return std::nullopt;
    return stages::EpsGroup{static_cast<double>(left--), {1}};
  });
  const auto first = admission.next();
  REQUIRE(first);
  CHECK(first->group.eps == 9);
  CHECK_FALSE(admission.next());
  CHECK(asked == 0);
  const GroupTicket ticket(first->exclusive);
  admission.complete(ticket, 10);
  const auto second = admission.next();
  REQUIRE(second);
  CHECK(second->group.eps == 2);
  CHECK_FALSE(admission.next());  // two are in flight
  CHECK(asked == 1);
  admission.end(ticket, first->group);
  CHECK_FALSE(admission.next());  // it is not started ahead
  CHECK(asked == 2);
  CHECK_FALSE(admission.done());
  const GroupTicket of_second(second->exclusive);
  admission.complete(of_second, 10);
  admission.end(of_second, second->group);
  CHECK_FALSE(admission.done());  // one group is left
  const auto third = admission.next();
  REQUIRE(third);
  CHECK(third->group.eps == 1);
  admission.end(GroupTicket(third->exclusive), third->group);
  CHECK_FALSE(admission.done());  // the source has not ended yet
  CHECK_FALSE(admission.next());
  CHECK(admission.done());
}

}  // namespace
}  // namespace epsflow

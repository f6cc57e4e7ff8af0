// If any call of a backend fails, in usual or unusual ways, the flow must end with the error and never hang.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"
#include "support/watchdog.hpp"

#include <epsflow/cpu/cpu_backend.hpp>
#include <epsflow/pipeline/flow.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow::test {
namespace {

struct Injected : std::runtime_error {
  Injected() : std::runtime_error("injected") {}
};

/// The fault at the chosen call.
enum class Fault {
  throws,           ///< throws instead of doing the work
  throws_late,      ///< throws after the work is done and its completion was called
  forgets,          ///< never calls the completion (calls without one throw)
  completes_twice,  ///< calls the completion twice (calls without one do their work)
};

/// Counts the calls into a backend and selects one of them.
struct Plan {
  Fault fault = Fault::throws;
  std::uint64_t at = 0;  ///< index of the faulty call, from 0
  std::atomic<std::uint64_t> calls{0};

  [[nodiscard]] bool strikes() { return calls++ == at; }
};

/// A part of a backend, whose calls the plan counts.
template <class T>
class Counting {
 protected:
  Counting(std::unique_ptr<T> real, Plan& plan) : real_(std::move(real)), plan_(plan) {}

  /// Makes a call that has no completion.
  template <class F, class... Args>
  decltype(auto) call(F&& work, Args&&... args) const {
    if (plan_.strikes() && plan_.fault != Fault::completes_twice) {
      if (plan_.fault == Fault::throws_late) std::invoke(work, *real_, std::forward<Args>(args)...);
      throw Injected();
    }
    return std::invoke(work, *real_, std::forward<Args>(args)...);
  }

  std::unique_ptr<T> real_;
  Plan& plan_;
};

class FaultySearch final : public TableSearch, private Counting<TableSearch> {
 public:
  FaultySearch(std::unique_ptr<TableSearch> real, Plan& plan) : Counting(std::move(real), plan) {}

  [[nodiscard]] const BatchPlan& plan() const override { return call(&TableSearch::plan); }
  [[nodiscard]] std::shared_ptr<const PackedLayout> layout() const override { return call(&TableSearch::layout); }
  [[nodiscard]] RowOrder order() const override { return call(&TableSearch::order); }
  [[nodiscard]] std::pair<Batch, Batch> split(const Batch& batch) const override {
    return call(&TableSearch::split, batch);
  }
  void search(const Batch& batch, unsigned lane, NeighborTable& table, Completion done) override {
    complete(std::move(done), [&](Completion inner) { real_->search(batch, lane, table, std::move(inner)); });
  }
  void sort(unsigned lane, NeighborTable& table, Completion done) override {
    complete(std::move(done), [&](Completion inner) { real_->sort(lane, table, std::move(inner)); });
  }

 private:
  template <class F>
  void complete(Completion done, F&& work) {
    if (!plan_.strikes()) return work(std::move(done));
    const Fault fault = plan_.fault;  // after the completion, this object may be destroyed
    if (fault == Fault::throws) throw Injected();
    if (fault == Fault::forgets) return work([](const BatchResult&) {});
    work(done);
    if (fault == Fault::throws_late) throw Injected();
    done(BatchFailed{std::make_exception_ptr(Injected())});
  }
};

class FaultyClustering final : public Counted, private Counting<Counted>, private United {
 public:
  FaultyClustering(std::unique_ptr<Counted> real, Plan& plan) : Counting(std::move(real), plan) {}

  [[nodiscard]] std::size_t levels_at_once() const override { return real_->levels_at_once(); }
  [[nodiscard]] United& unite(std::uint32_t minpts) override {
    united_ = &call(&Counted::unite, minpts);
    return *this;
  }
  [[nodiscard]] std::uint64_t undecided_pairs() const override { return call(&Counted::undecided_pairs); }

 private:
  [[nodiscard]] std::vector<std::uint32_t> first_cores() override { return united_->first_cores(); }
  [[nodiscard]] std::vector<LevelResult> label(std::span<const LabelTarget> targets) override {
    return call([&](Counted&) { return united_->label(targets); });
  }

  United* united_ = nullptr;
};

class FaultyStore final : public LabelStore, private Counting<LabelStore> {
 public:
  FaultyStore(std::unique_ptr<LabelStore> real, Plan& plan) : Counting(std::move(real), plan) {}

  [[nodiscard]] LabelTarget next() override { return call(&LabelStore::next); }
  void take(VariantResult&& result, const Emit& emit) override { call(&LabelStore::take, std::move(result), emit); }
  void finish(const Emit& emit) override { call(&LabelStore::finish, emit); }
};

class FaultyIndex final : public Index, private Counting<Index> {
 public:
  FaultyIndex(std::unique_ptr<Index> real, Plan& plan) : Counting(std::move(real), plan) {}

  [[nodiscard]] IndexFigures figures() const override { return call(&Index::figures); }
  [[nodiscard]] std::uint64_t bytes() const override { return call(&Index::bytes); }
  [[nodiscard]] std::unique_ptr<TableSearch> table(const TableOptions& options) const override {
    return call([&](Index& real) { return std::make_unique<FaultySearch>(real.table(options), plan_); });
  }
  [[nodiscard]] std::uint64_t direct_bytes(const DirectOptions& options) const override {
    return call(&Index::direct_bytes, options);
  }
  [[nodiscard]] std::unique_ptr<Counted> count(const DirectOptions& options) const override {
    return call([&](Index& real) { return std::make_unique<FaultyClustering>(real.count(options), plan_); });
  }
  [[nodiscard]] std::unique_ptr<CountedPart> count_part(const DirectOptions& options) const override {
    return real_->count_part(options);
  }
  [[nodiscard]] std::unique_ptr<LabelStore> label_store(const DirectOptions& options) const override {
    return call([&](Index& real) { return std::make_unique<FaultyStore>(real.label_store(options), plan_); });
  }
};

class FaultyPoints final : public LoadedPoints, private Counting<LoadedPoints> {
 public:
  FaultyPoints(std::unique_ptr<LoadedPoints> real, Plan& plan)
      : LoadedPoints(real->size(), real->dims(), real->bytes()), Counting(std::move(real), plan) {}

  [[nodiscard]] PointsView host() const override { return call(&LoadedPoints::host); }
  [[nodiscard]] std::uint64_t index_bytes(const IndexOptions& options) const override {
    return call(&LoadedPoints::index_bytes, options);
  }
  [[nodiscard]] std::unique_ptr<Index> build_index(const IndexOptions& options,
                                                   const CancelToken& cancel) const override {
    return call(
        [&](LoadedPoints& real) { return std::make_unique<FaultyIndex>(real.build_index(options, cancel), plan_); });
  }
  void nearest_sums(std::span<const std::uint32_t> ks, double* sums, const CancelToken& cancel) const override {
    real_->nearest_sums(ks, sums, cancel);
  }
  [[nodiscard]] std::uint64_t nearest_bytes() const override { return real_->nearest_bytes(); }
};

class FaultyBackend final : public Backend, private Counting<Backend> {
 public:
  FaultyBackend(Plan& plan, bool own_threads) : Counting(cpu::make_cpu_backend(2), plan), own_threads_(own_threads) {}

  [[nodiscard]] std::unique_ptr<StoredCore> keep(const CoreInput& core, const CancelToken& cancel) override {
    return real_->keep(core, cancel);
  }
  [[nodiscard]] std::string_view name() const override { return "faulty"; }
  [[nodiscard]] unsigned lanes() const override { return call(&Backend::lanes); }
  [[nodiscard]] unsigned groups() const override { return call(&Backend::groups); }
  [[nodiscard]] std::unique_ptr<LoadedPoints> load(PointsView points, const Space& space) override {
    return std::make_unique<FaultyPoints>(real_->load(points, space), plan_);
  }
  [[nodiscard]] std::unique_ptr<LoadedPoints> load(const DevicePointsView& points, const Space& space) override {
    return real_->load(points, space);
  }
  void post(const std::function<void()>& task) override {
    const bool strikes = plan_.strikes();
    if (strikes && plan_.fault == Fault::throws) throw Injected();
    if (strikes && plan_.fault == Fault::forgets) return;
    if (own_threads_) {
      const std::scoped_lock lock(mutex_);
      threads_.emplace_back([task] { task(); });
    } else {
      task();
    }
    if (strikes && plan_.fault == Fault::throws_late) throw Injected();
  }

 private:
  bool own_threads_;
  std::mutex mutex_;
  std::vector<std::jthread> threads_;
};

struct Outcome {
  bool failed = false;
  std::size_t variants = 0;
};

Outcome run_with(Plan& plan, const RunOptions& options, bool own_threads) {
  const DataSet data = make_data("clustered", 300, 2, Precision::float64, 7);
  FaultyBackend backend(plan, own_threads);
  const auto points = backend.load(data.view(), {});
  MemoryBudget budget(1_GiB);
  ArenaPool pool(budget);
  CancelToken stop;
  const Observer observer;
  std::atomic<std::size_t> variants{0};
  const bool failed = throws<std::exception>([&] {
    run_flow({*points, nullptr, options, observer, backend, pool, 2, stop}, {{0.5, {8, 4}}, {0.3, {4}}, {0.2, {4}}},
             {.result = [&](VariantResult&&) { ++variants; }});
  });
  return {failed, variants};
}

/// Injects the fault into every call of a run in turn.
void strike_everywhere(Fault fault, const RunOptions& options, bool own_threads, const std::string& name) {
  Plan quiet{.fault = fault, .at = ~std::uint64_t{0}};
  const Outcome whole = run_with(quiet, options, own_threads);
  REQUIRE_FALSE(whole.failed);
  REQUIRE(whole.variants == 4);
  const std::uint64_t calls = quiet.calls;
  REQUIRE(calls > 20);
  std::size_t failed = 0;
  for (std::uint64_t at = 0; at < calls; ++at) {
    INFO(name << ", call " << at);
    const Watchdog watchdog(name + ", call " + std::to_string(at));
    Plan plan{.fault = fault, .at = at};
    const Outcome outcome = run_with(plan, options, own_threads);
    if (outcome.failed) {
      ++failed;
    } else {
      CHECK(outcome.variants == 4);
    }
  }
  // If an exception comes after the work was reported, the run may end first. Every other fault ends the run.
  if (fault == Fault::throws || fault == Fault::forgets) CHECK(failed == calls);
}

TEST_CASE("backend faults: an exception from any call ends the run and never hangs") {
  const bool own_threads = GENERATE(false, true);
  const Fault fault = GENERATE(Fault::throws, Fault::throws_late, Fault::forgets, Fault::completes_twice);
  // First a packed table has whole rows. Then pairs are sorted in buffers so small that batches are split.
  strike_everywhere(fault, {.strategy = StrategyChoice::table, .search = {.lanes = 2}}, own_threads, "packed");
  strike_everywhere(fault,
                    {.search = {.kernel = Kernel::global, .lanes = 2, .lane_pairs = 400, .estimate_factor = 0.2}},
                    own_threads, "pairs");
  // The next runs have no table, or choose automatically.
  strike_everywhere(fault, {.strategy = StrategyChoice::direct}, own_threads, "direct");
  strike_everywhere(fault, {}, own_threads, "automatic");
}

}  // namespace
}  // namespace epsflow::test

#include <epsflow/pipeline/flow.hpp>

#include <tbb/flow_graph.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/stages/build_index.hpp>
#include <epsflow/stages/build_table.hpp>
#include <epsflow/stages/find_neighbors.hpp>
#include <epsflow/stages/plan_batches.hpp>
#include <epsflow/stages/sort_pairs.hpp>

namespace epsflow {
namespace {

namespace fg = tbb::flow;
using stages::EpsGroup;
using stages::TableJob;

using JobPtr = std::shared_ptr<TableJob>;

struct BatchTask {
  JobPtr job;
  Batch batch;
};

using LaneTask = std::tuple<BatchTask, Lane*>;

/// A batch on a lane, after the search.
struct SearchedBatch {
  JobPtr job;
  Batch batch;
  Lane* lane = nullptr;
  std::exception_ptr error;
};

using Prepare = fg::async_node<JobPtr, JobPtr>;
using OnLane = fg::async_node<SearchedBatch, SearchedBatch>;

/// The first failure of a flow, and the flag that stops it.
class Failure {
 public:
  explicit Failure(CancelToken& stop) : stop_(stop) {}

  void record(std::exception_ptr error) noexcept {
    {
      const std::scoped_lock lock(mutex_);
      if (first_ == nullptr) first_ = std::move(error);
    }
    stop_.cancel();
  }
  /// Runs body unless the flow has stopped, and records what it throws.
  template <class F>
  void guard(F&& body) noexcept {
    if (stop_.cancelled()) return;
    try {
      body();
    } catch (...) {
      record(std::current_exception());
    }
  }
  void rethrow() const {
    if (first_ != nullptr) std::rethrow_exception(first_);
    stop_.check();
  }

 private:
  CancelToken& stop_;
  std::mutex mutex_;
  std::exception_ptr first_;
};

/// The way back from work that was handed to the backend: reserves the graph until the message has come back. Whatever
/// the backend does (throws, calls twice, forgets), exactly one message comes, or the flow fails; it never hangs.
template <class Node>
class WayBack {
 public:
  using Gateway = typename Node::gateway_type;

  WayBack(Gateway& gateway, Failure& failure) : gateway_(gateway), failure_(failure) { gateway_.reserve_wait(); }
  WayBack(const WayBack&) = delete;  // one reservation, one release
  WayBack& operator=(const WayBack&) = delete;
  ~WayBack() {
    if (used_.test_and_set()) return;
    failure_.record(
        std::make_exception_ptr(Error("the backend dropped a piece of work without a word; please report "
                                      "this defect of epsflow")));
    gateway_.release_wait();
  }

  /// True for the first who asks: whoever it is works on the message, and puts it.
  [[nodiscard]] bool claim() noexcept { return !claimed_.test_and_set(); }

  template <class Message>
  void put(const Message& message) noexcept {
    if (used_.test_and_set()) return;
    try {
      gateway_.try_put(message);
    } catch (...) {
      failure_.record(std::current_exception());
    }
    gateway_.release_wait();
  }

 private:
  Gateway& gateway_;
  Failure& failure_;
  std::atomic_flag claimed_;
  std::atomic_flag used_;
};

/// Which group goes next, and when: the token of the tables.
///
/// A job that runs out of memory beside others is started again, exclusively: alone, and nobody joins until its table
/// is complete. Only an exclusive job may say that the budget is too small. The first table is exclusive anyway, being
/// the largest.
class Admission {
 public:
  Admission(std::vector<EpsGroup> groups, unsigned most, const ArenaPool& pool)
      : waiting_(std::make_move_iterator(groups.begin()), std::make_move_iterator(groups.end())),
        most_(most),
        pool_(pool) {}

  /// The next job if there is one and it may start now, else null.
  JobPtr next() {
    const std::scoped_lock lock(mutex_);
    if (waiting_.empty() || exclusive_running_) return nullptr;
    // Groups come in descending order of eps, so the next table hardly takes more than the last one.
    const bool room = !exclusive_next_ && in_flight_ < most_ && pool_.available() > last_bytes_;
    if (in_flight_ > 0 && !room) return nullptr;
    auto job = std::make_shared<TableJob>(std::move(waiting_.front()));
    waiting_.pop_front();
    ++in_flight_;
    job->exclusive = exclusive_running_ = std::exchange(exclusive_next_, false);
    return job;
  }
  /// The job's table is complete; it and its index took so many bytes.
  void table_complete(const TableJob& job, std::uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    last_bytes_ = bytes;
    if (job.exclusive) exclusive_running_ = false;
  }
  /// The job's memory is free again.
  void finished() {
    const std::scoped_lock lock(mutex_);
    --in_flight_;
  }
  /// The job ran out of memory beside others, and its memory is free again.
  void starved(EpsGroup group) {
    const std::scoped_lock lock(mutex_);
    --in_flight_;
    waiting_.push_front(std::move(group));
    exclusive_next_ = true;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<EpsGroup> waiting_;
  unsigned most_;
  const ArenaPool& pool_;
  unsigned in_flight_ = 0;
  bool exclusive_next_ = true;
  bool exclusive_running_ = false;
  std::uint64_t last_bytes_ = 0;
};

TraceDetail units_of(const Batch& batch) { return {batch.unit == Batch::Unit::row ? "rows" : "cells", batch.units()}; }

unsigned most_lanes(const FlowContext& context) {
  return context.options.lanes > 0 ? context.options.lanes : context.backend.lanes();
}

class Flow {
 public:
  Flow(const FlowContext& context, std::vector<EpsGroup> groups, const TableConsumer& consumer)
      : context_(context),
        consumer_(consumer),
        failure_(context.stop),
        tables_(context.options.tables > 0 ? context.options.tables : context.backend.tables()),
        admission_(std::move(groups), tables_, context.pool),
        index_{context.backend, context.points, context.pool.budget(), context.stop},
        plan_{context.pool,
              {.kernel = context.options.kernel,
               .workers = context.threads,
               .lanes = most_lanes(context),
               .lane_pairs = context.options.lane_pairs,
               .estimate_factor = context.options.estimate_factor},
              context.options.format,
              consumer.bytes},
        sort_{context.options.kernel},
        build_{context.observer.trace} {
    for (unsigned i = 0; i < most_lanes(context); ++i) lanes_.push_back(context.backend.make_lane());
  }

  void run() {
    fg::graph graph;
    // What a device is asked to do is an async_node: the work is handed to the backend, and comes back through the
    // node's gateway.
    Prepare index(graph, fg::unlimited,
                  [&](const JobPtr& job, Prepare::gateway_type& gateway) { post(gateway, job, &Flow::build_index); });
    Prepare plan(graph, fg::unlimited,
                 [&](const JobPtr& job, Prepare::gateway_type& gateway) { post(gateway, job, &Flow::plan_batches); });
    fg::multifunction_node<JobPtr, std::tuple<BatchTask, JobPtr>> hand_out(
        graph, fg::unlimited, [&](const JobPtr& job, auto& out) { hand_out_batches(job, out); });
    // A token is a lane: it travels with its batch, and comes back when the rows are in the table.
    fg::queue_node<BatchTask> batches(graph);
    fg::buffer_node<Lane*> idle_lanes(graph);
    fg::join_node<LaneTask, fg::reserving> with_lane(graph);
    // Before the clustering of other tables: a lane that waits is a device that waits.
    constexpr fg::node_priority_t kLanesFirst = 1;
    fg::async_node<LaneTask, SearchedBatch> search(
        graph, fg::unlimited, [&](const LaneTask& task, OnLane::gateway_type& gateway) { start_search(task, gateway); },
        kLanesFirst);
    OnLane sort(
        graph, fg::unlimited,
        [&](const SearchedBatch& batch, OnLane::gateway_type& gateway) { start_sort(batch, gateway); }, kLanesFirst);
    fg::multifunction_node<SearchedBatch, std::tuple<Lane*, BatchTask, JobPtr>> table(
        graph, fg::unlimited, [&](const SearchedBatch& batch, auto& out) { build_table(batch, out); }, kLanesFirst);
    // Not all tables at once: they would share the threads, end at the same time, and leave nothing to do while the
    // next ones are made.
    fg::multifunction_node<JobPtr, std::tuple<JobPtr>> consume(
        graph, std::max(1U, tables_ - 1), [&](const JobPtr& job, auto& out) { consume_table(job, out); });

    fg::make_edge(index, plan);
    fg::make_edge(plan, hand_out);
    fg::make_edge(fg::output_port<0>(hand_out), batches);
    fg::make_edge(fg::output_port<1>(hand_out), consume);  // a table without rows, or a job that failed
    fg::make_edge(batches, fg::input_port<0>(with_lane));
    fg::make_edge(idle_lanes, fg::input_port<1>(with_lane));
    fg::make_edge(with_lane, search);
    fg::make_edge(search, sort);
    fg::make_edge(sort, table);
    fg::make_edge(fg::output_port<0>(table), idle_lanes);
    fg::make_edge(fg::output_port<1>(table), batches);  // halves of a batch that overflowed
    fg::make_edge(fg::output_port<2>(table), consume);
    fg::make_edge(fg::output_port<0>(consume), index);  // the next job, now that this one's memory is free

    for (const auto& lane : lanes_) idle_lanes.try_put(lane.get());
    start_next([&](const JobPtr& job) { index.try_put(job); });
    graph.wait_for_all();
    failure_.rethrow();
  }

 private:
  /// Calls put(job) for every job that may start now.
  template <class Put>
  void start_next(Put&& put) {
    while (!context_.stop.cancelled()) {
      const JobPtr job = admission_.next();
      if (job == nullptr) return;
      put(job);
    }
  }

  template <class F>
  void stage(Stage stage, const TableJob& job, TraceDetail detail, F&& body) {
    failure_.guard([&] {
      if (context_.observer.before_stage) context_.observer.before_stage(stage);
      const TraceScope scope(context_.observer.trace, stage, job.group.eps, detail);
      body();
    });
  }

  /// Runs the body where it may wait for the device, then passes the job on.
  void post(Prepare::gateway_type& gateway, const JobPtr& job, void (Flow::*body)(TableJob&)) {
    const auto way_back = std::make_shared<WayBack<Prepare>>(gateway, failure_);
    try {
      context_.backend.post([this, way_back, job, body] {
        if (!way_back->claim()) return;
        (this->*body)(*job);
        way_back->put(job);
      });
    } catch (...) {
      // The task may be running already: then it passes the job on.
      failure_.record(std::current_exception());
      if (way_back->claim()) way_back->put(job);
    }
  }

  void build_index(TableJob& job) {
    stage(Stage::build_index, job, {"points", context_.points.size()}, [&] {
      if (!index_(job, job.exclusive)) job.starved = true;
    });
  }

  void plan_batches(TableJob& job) {
    stage(Stage::plan_batches, job, {"points", context_.points.size()}, [&] {
      if (job.starved || !plan_(job, job.exclusive)) job.starved = true;
    });
  }

  template <class Ports>
  void hand_out_batches(const JobPtr& job, Ports& out) {
    if (job->starved || job->open_batches == 0) {
      std::get<1>(out).try_put(job);
      return;
    }
    // The count is final before the first batch goes: from then on other threads may finish the job.
    for (const Batch& batch : job->plan.batches) std::get<0>(out).try_put(BatchTask{job, batch});
  }

  void start_search(const LaneTask& task, OnLane::gateway_type& gateway) {
    const auto& [batch_task, lane] = task;
    const SearchedBatch batch{batch_task.job, batch_task.batch, lane, nullptr};
    lane->clear();  // a search that is skipped leaves nothing behind either
    start(Stage::find_neighbors, batch, units_of(batch.batch), gateway,
          [&](auto&& done) { find_(*batch.job, batch.batch, *batch.lane, done); });
  }

  void start_sort(const SearchedBatch& batch, OnLane::gateway_type& gateway) {
    if (batch.error != nullptr || !sort_.wanted(*batch.lane)) {
      gateway.try_put(batch);
      return;
    }
    start(Stage::sort_pairs, batch, {"pairs", batch.lane->pairs}, gateway,
          [&](auto&& done) { sort_(*batch.job, *batch.lane, done); });
  }

  /// Starts work of a lane that calls done(error) from any thread, which passes the batch on.
  template <class Work>
  void start(Stage stage, const SearchedBatch& batch, TraceDetail detail, OnLane::gateway_type& gateway, Work&& work) {
    const auto began = Trace::Clock::now();
    const auto way_back = std::make_shared<WayBack<OnLane>>(gateway, failure_);
    const auto done = [this, stage, batch, detail, began, way_back](std::exception_ptr error) {
      SearchedBatch result = batch;
      result.error = std::move(error);
      if (context_.observer.trace != nullptr && !context_.stop.cancelled()) {
        context_.observer.trace->record(stage, began, Trace::Clock::now(), result.job->group.eps, detail);
      }
      way_back->put(result);
    };
    if (context_.stop.cancelled() || batch.job->starved) return done(nullptr);
    try {
      if (context_.observer.before_stage) context_.observer.before_stage(stage);
      work(done);
    } catch (...) {
      done(std::current_exception());
    }
  }

  template <class Ports>
  void build_table(const SearchedBatch& batch, Ports& out) {
    TableJob& job = *batch.job;
    if (batch.error != nullptr && batch.lane->out_of_memory && !job.exclusive) {
      job.starved = true;  // other tables may have what the device lacks
    } else if (batch.error != nullptr) {
      failure_.record(batch.error);
    }
    if (!job.starved) {
      stage(Stage::build_table, job, units_of(batch.batch), [&] {
        const auto outcome = build_(job, batch.batch, *batch.lane);
        if (outcome.out_of_memory) {
          if (job.exclusive) {
            // More was found than the estimate said: name what the rest will need by the same measure.
            stages::throw_table_too_large(job, context_.pool, std::max(job.plan.pairs * 4, job.table->bytes()), false);
          }
          job.starved = true;
        }
        job.open_batches += outcome.retry.size();
        for (const Batch& half : outcome.retry) std::get<1>(out).try_put(BatchTask{batch.job, half});
        consumer_.moved(job.group.eps,
                        static_cast<double>(job.rows_done) / std::max(1.0, static_cast<double>(job.table->size())));
      });
    }
    std::get<0>(out).try_put(batch.lane);
    if (--job.open_batches > 0) return;
    job.table_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - job.begin).count();
    std::get<2>(out).try_put(batch.job);
  }

  template <class Ports>
  void consume_table(const JobPtr& job, Ports& out) {
    const auto put_next = [&](const JobPtr& next) { std::get<0>(out).try_put(next); };
    if (!job->starved) {
      failure_.guard([&] {
        // The next table may be made while this one is consumed.
        const std::uint64_t bytes = job->table->bytes() + job->search->bytes();
        admission_.table_complete(*job, bytes + context_.backend.index_bytes(context_.points));
        start_next(put_next);
        consumer_.consume(*job);
      });
    }
    stages::EpsGroup group = std::move(job->group);
    const bool starved = job->starved;
    job->release();
    if (starved) {
      admission_.starved(std::move(group));
    } else {
      admission_.finished();
    }
    start_next(put_next);
  }

  const FlowContext& context_;
  const TableConsumer& consumer_;
  Failure failure_;
  unsigned tables_;
  Admission admission_;
  stages::BuildIndex index_;
  stages::PlanBatches plan_;
  stages::FindNeighbors find_;
  stages::SortPairs sort_;
  stages::BuildTable build_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace

void run_flow(const FlowContext& context, std::vector<stages::EpsGroup> groups, const TableConsumer& consumer) {
  Flow(context, std::move(groups), consumer).run();
}

}  // namespace epsflow

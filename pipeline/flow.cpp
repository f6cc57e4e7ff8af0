#include <epsflow/pipeline/flow.hpp>

#include <tbb/flow_graph.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <tuple>
#include <utility>
#include <variant>

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/admission.hpp>
#include <epsflow/pipeline/failure.hpp>
#include <epsflow/stages/build_index.hpp>
#include <epsflow/stages/build_table.hpp>
#include <epsflow/stages/choose_strategy.hpp>
#include <epsflow/stages/cluster_directly.hpp>
#include <epsflow/stages/plan_batches.hpp>

namespace epsflow {
namespace {

namespace fg = tbb::flow;
using stages::EpsJob;

/// A job with the state that the graph keeps of it.
struct Scheduled : EpsJob {
  explicit Scheduled(Admission::Admitted admitted) : EpsJob(std::move(admitted.group)), ticket(admitted.exclusive) {}

  GroupTicket ticket;
  Strategy strategy = Strategy::direct;
  /// Batches that are neither in the table nor given up. A split batch counts as two.
  std::atomic<std::size_t> open_batches{0};
};
using JobPtr = std::shared_ptr<Scheduled>;
using LaneNumber = unsigned;

struct BatchTask {
  JobPtr job;
  Batch batch;
};
using LaneTask = std::tuple<BatchTask, LaneNumber>;

/// A batch on a lane, after the search.
struct SearchedBatch {
  JobPtr job;
  Batch batch;
  LaneNumber lane = 0;
  BatchResult result;
};

using OfJob = fg::async_node<JobPtr, JobPtr>;
using OnLane = fg::async_node<SearchedBatch, SearchedBatch>;

TraceDetail units_of(const Batch& batch) { return {batch.unit == Batch::Unit::row ? "rows" : "cells", batch.units()}; }

class Flow {
 public:
  Flow(const FlowContext& context, std::vector<stages::EpsGroup> groups, const FlowConsumer& consumer, MoreGroups more)
      : context_(context),
        consumer_(consumer),
        failure_(context.stop),
        choose_{consumer.table ? StrategyChoice::table : strategy_wanted(context.options),
                table_wanted(context.options), context.points.dims(), context.pool.available()},
        in_flight_(context.options.tables > 0 ? context.options.tables : context.backend.groups()),
        admission_(std::move(groups), in_flight_, context.pool, std::move(more)),
        cluster_(cluster_variants(context)),
        index_{context.points, context.pool.budget(), context.stop, index_options(context, choose_.cells())},
        plan_{context.pool, table_options(context),
              [this](std::size_t variants) {
                return consumer_.table ? 0 : cluster_.bytes(context_.points.size(), variants);
              }},
        build_{context.pool, context.observer.trace},
        direct_{context.pool.budget(), direct_options(context, {}), context.options.verify,
                cluster_.points,       context.points.space(),      context.observer.trace} {}

  void run() {
    fg::graph graph;
    // Device work is an async_node: the work is handed to the backend, and returns through the node's gateway.
    OfJob index(graph, fg::unlimited,
                [&](const JobPtr& job, OfJob::gateway_type& gateway) { post(gateway, job, &Flow::build_index); });
    fg::multifunction_node<JobPtr, std::tuple<JobPtr, JobPtr>> choose(
        graph, fg::unlimited, [&](const JobPtr& job, auto& out) { choose_strategy(job, out); });
    // The path without a table.
    OfJob direct(graph, fg::unlimited,
                 [&](const JobPtr& job, OfJob::gateway_type& gateway) { post(gateway, job, &Flow::cluster_directly); });
    // The path through a table. A lane's number travels with its batch, and returns when the rows are in the table.
    OfJob plan(graph, fg::unlimited,
               [&](const JobPtr& job, OfJob::gateway_type& gateway) { post(gateway, job, &Flow::plan_batches); });
    fg::multifunction_node<JobPtr, std::tuple<BatchTask, JobPtr>> hand_out(
        graph, fg::unlimited, [&](const JobPtr& job, auto& out) { hand_out_batches(job, out); });
    fg::queue_node<BatchTask> batches(graph);
    fg::buffer_node<LaneNumber> idle_lanes(graph);
    fg::join_node<LaneTask, fg::reserving> with_lane(graph);
    // This has priority over the clustering of other tables: a waiting lane is a waiting device.
    constexpr fg::node_priority_t kLanesFirst = 1;
    fg::async_node<LaneTask, SearchedBatch> search(
        graph, fg::unlimited, [&](const LaneTask& task, OnLane::gateway_type& gateway) { start_search(task, gateway); },
        kLanesFirst);
    OnLane sort(
        graph, fg::unlimited,
        [&](const SearchedBatch& batch, OnLane::gateway_type& gateway) { start_sort(batch, gateway); }, kLanesFirst);
    fg::multifunction_node<SearchedBatch, std::tuple<LaneNumber, BatchTask, JobPtr>> table(
        graph, fg::unlimited, [&](const SearchedBatch& batch, auto& out) { build_table(batch, out); }, kLanesFirst);
    // Tables are not clustered all at once: they would end together, and threads would idle until the next is made.
    fg::function_node<JobPtr, JobPtr> consume(graph, std::max(1U, in_flight_ - 1), [&](const JobPtr& job) {
      consume_table(*job);
      return job;
    });
    // Both paths end here.
    fg::function_node<JobPtr> finish(graph, fg::unlimited, [&](const JobPtr& job) { finish_job(*job); });

    fg::make_edge(index, choose);
    fg::make_edge(fg::output_port<0>(choose), plan);
    fg::make_edge(fg::output_port<1>(choose), direct);
    fg::make_edge(direct, finish);
    fg::make_edge(plan, hand_out);
    fg::make_edge(fg::output_port<0>(hand_out), batches);
    fg::make_edge(fg::output_port<1>(hand_out), consume);  // a table without rows, or a job that failed
    fg::make_edge(batches, fg::input_port<0>(with_lane));
    fg::make_edge(idle_lanes, fg::input_port<1>(with_lane));
    fg::make_edge(with_lane, search);
    fg::make_edge(search, sort);
    fg::make_edge(sort, table);
    fg::make_edge(fg::output_port<0>(table), idle_lanes);
    fg::make_edge(fg::output_port<1>(table), batches);  // halves of a batch that was too large
    fg::make_edge(fg::output_port<2>(table), consume);
    fg::make_edge(consume, finish);

    // If an exception leaves this function, all tasks end before the nodes that they use.
    struct Ending {
      fg::graph& graph;
      bool is_over = false;
      ~Ending() {
        if (is_over) return;
        graph.cancel();
        try {
          graph.wait_for_all();
        } catch (...) {  // NOLINT(bugprone-empty-catch): the first exception is on its way
        }
      }
    } ending{graph};
    begin_ = [&](const JobPtr& job) { index.try_put(job); };
    for (LaneNumber lane = 0; lane < plan_.options.lanes; ++lane) idle_lanes.try_put(lane);
    start_next();
    graph.wait_for_all();
    ending.is_over = true;
    failure_.rethrow();
    if (!admission_.done()) {
      throw Error("a run ended before all of its variants were clustered; please report this defect of epsflow");
    }
  }

 private:
  /// Starts every job that may start now.
  void start_next() {
    while (!context_.stop.cancelled()) {
      auto admitted = admission_.next();
      if (!admitted) return;
      begin_(std::make_shared<Scheduled>(*std::move(admitted)));
    }
  }

  /// Call it when the job's preparation is complete: the next job may be prepared while this one is clustered.
  void preparation_complete(const Scheduled& job) {
    const std::uint64_t table =
        job.table != nullptr ? job.table->bytes() : job.index->direct_bytes(direct_.of(job.group));
    admission_.complete(job.ticket, table + job.index->bytes() + context_.points.index_bytes(index_.options));
    start_next();
  }

  template <class F>
  void stage(Stage stage, const EpsJob& job, TraceDetail detail, F&& body) {
    failure_.guard([&] {
      if (context_.observer.before_stage) context_.observer.before_stage(stage);
      const TraceScope scope(context_.observer.trace, stage, job.group.eps, detail);
      body();
    });
  }

  /// Runs the body on a thread that may wait for the device, then passes the job on.
  void post(OfJob::gateway_type& gateway, const JobPtr& job, void (Flow::*body)(Scheduled&)) {
    const auto way_back = std::make_shared<WayBack<OfJob>>(gateway, failure_);
    try {
      context_.backend.post([this, way_back, job, body] {
        if (!way_back->claim()) return;
        (this->*body)(*job);
        way_back->put(job);
      });
    } catch (...) {
      // If the task is already running, it passes the job on.
      failure_.record(std::current_exception());
      if (way_back->claim()) way_back->put(job);
    }
  }

  void build_index(Scheduled& job) {
    stage(Stage::build_index, job, {"points", context_.points.size()}, [&] {
      if (!index_(job, job.ticket.exclusive())) return job.ticket.starve();
      const IndexFigures figures = choose_.open() ? job.index->figures() : IndexFigures{};
      job.strategy = choose_(job.group, job.index->bytes(), figures).strategy;
    });
  }

  template <class Ports>
  void choose_strategy(const JobPtr& job, Ports& out) {
    if (job->strategy == Strategy::table) {
      std::get<0>(out).try_put(job);
    } else {
      std::get<1>(out).try_put(job);
    }
  }

  void cluster_directly(Scheduled& job) {
    if (job.ticket.starved()) return;
    stage(Stage::cluster_directly, job, {"variants", job.group.minpts.size()}, [&] {
      const auto counted = [&] { preparation_complete(job); };
      if (!direct_(job, job.ticket.exclusive(), counted, consumer_.result)) job.ticket.starve();
    });
  }

  void plan_batches(Scheduled& job) {
    if (job.ticket.starved()) return;
    stage(Stage::plan_batches, job, {"points", context_.points.size()}, [&] {
      if (!plan_(job, table_is_exclusive(job))) return job.ticket.starve_of_table();
      job.open_batches = job.search->plan().batches.size();
    });
  }

  /// Returns true if a table that does not fit is an error. Otherwise the group starts again, exclusively, or without a
  /// table if it was already exclusive.
  [[nodiscard]] bool table_is_exclusive(const Scheduled& job) const {
    return job.ticket.exclusive() && !choose_.open();
  }

  template <class Ports>
  void hand_out_batches(const JobPtr& job, Ports& out) {
    if (job->ticket.starved() || job->open_batches == 0) {
      std::get<1>(out).try_put(job);
      return;
    }
    // The number of batches is final before the first is sent: then other threads may finish the job and free the plan.
    const std::vector<Batch> batches = job->search->plan().batches;
    for (const Batch& batch : batches) std::get<0>(out).try_put(BatchTask{job, batch});
  }

  void start_search(const LaneTask& task, OnLane::gateway_type& gateway) {
    const auto& [batch_task, lane] = task;
    const SearchedBatch batch{batch_task.job, batch_task.batch, lane, {}};
    start(Stage::find_neighbors, batch, units_of(batch.batch), gateway,
          [&](auto&& done) { batch.job->search->search(batch.batch, batch.lane, *batch.job->table, done); });
  }

  void start_sort(const SearchedBatch& batch, OnLane::gateway_type& gateway) {
    const auto* pairs = std::get_if<UnsortedPairs>(&batch.result);
    if (pairs == nullptr) {
      gateway.try_put(batch);
      return;
    }
    start(Stage::sort_pairs, batch, {"pairs", pairs->count}, gateway,
          [&](auto&& done) { batch.job->search->sort(batch.lane, *batch.job->table, done); });
  }

  /// Starts work of a lane. It calls done(result) from any thread, which passes the batch on.
  template <class Work>
  void start(Stage stage, const SearchedBatch& batch, TraceDetail detail, OnLane::gateway_type& gateway, Work&& work) {
    const auto began = Trace::Clock::now();
    const auto way_back = std::make_shared<WayBack<OnLane>>(gateway, failure_);
    const auto done = [this, stage, batch, detail, began, way_back](BatchResult result) {
      SearchedBatch searched = batch;
      searched.result = std::move(result);
      if (context_.observer.trace != nullptr && !context_.stop.cancelled()) {
        context_.observer.trace->record(stage, began, Trace::Clock::now(), batch.job->group.eps, detail);
      }
      way_back->put(searched);
    };
    if (context_.stop.cancelled() || batch.job->ticket.starved()) return done({});
    try {
      if (context_.observer.before_stage) context_.observer.before_stage(stage);
      work(done);
    } catch (...) {
      done(BatchFailed{std::current_exception()});
    }
  }

  template <class Ports>
  void build_table(const SearchedBatch& batch, Ports& out) {
    Scheduled& job = *batch.job;
    const auto* full = std::get_if<DeviceFull>(&batch.result);
    const auto* failed = std::get_if<BatchFailed>(&batch.result);
    if (full != nullptr && !job.ticket.exclusive()) {
      job.ticket.starve();  // other tables may hold the device memory that it lacks
    } else if (full != nullptr || failed != nullptr) {
      failure_.record(full != nullptr ? full->error : failed->error);
    }
    if (!job.ticket.starved()) {
      stage(Stage::build_table, job, units_of(batch.batch), [&] {
        const auto outcome = build_(job, batch.batch, batch.result, table_is_exclusive(job));
        if (outcome.table_full) job.ticket.starve_of_table();
        job.open_batches += outcome.retry.size();
        for (const Batch& half : outcome.retry) std::get<1>(out).try_put(BatchTask{batch.job, half});
        consumer_.progress(job.group.eps,
                           static_cast<double>(job.rows_done) / std::max(1.0, static_cast<double>(job.table->size())));
      });
    }
    std::get<0>(out).try_put(batch.lane);
    if (--job.open_batches > 0) return;
    job.table_seconds = job.seconds();
    if (context_.observer.trace != nullptr)
      context_.observer.trace->count_undecided_pairs(job.search->undecided_pairs());
    job.search.reset();  // its lanes hold memory that the next table needs
    std::get<2>(out).try_put(batch.job);
  }

  void consume_table(Scheduled& job) {
    if (job.ticket.starved()) return;
    failure_.guard([&] {
      preparation_complete(job);
      if (consumer_.table) return consumer_.table(job);
      if (context_.observer.before_stage) context_.observer.before_stage(Stage::cluster_variants);
      cluster_(job, consumer_.result);
    });
  }

  void finish_job(Scheduled& job) {
    stages::EpsGroup group = std::move(job.group);
    job.release();
    admission_.end(job.ticket, std::move(group));
    start_next();
  }

  const FlowContext& context_;
  const FlowConsumer& consumer_;
  Failure failure_;
  stages::ChooseStrategy choose_;
  unsigned in_flight_;
  Admission admission_;
  stages::ClusterVariants cluster_;
  stages::BuildIndex index_;
  stages::PlanBatches plan_;
  stages::BuildTable build_;
  stages::ClusterDirectly direct_;
  std::function<void(const JobPtr&)> begin_;
};

}  // namespace

TableOptions table_options(const FlowContext& context) {
  const SearchOptions& search = context.options.search;
  return {.format = search.format,
          .kernel = search.kernel,
          .workers = context.threads,
          .lanes = search.lanes > 0 ? search.lanes : context.backend.lanes(),
          .lane_pairs = search.lane_pairs,
          .estimate_factor = search.estimate_factor};
}

IndexOptions index_options(const FlowContext& context, Cells cells) noexcept {
  const RunOptions& options = context.options;
  const bool labels_alone = options.keep == Keep::labels && options.labels == MemorySpace::host && !options.clusters &&
                            context.weights == nullptr;
  return {.cells = cells,
          .index = options.search.index,
          .decide = options.search.decide,
          .pairs = labels_alone && cells == Cells::dense_box};
}

DirectOptions direct_options(const FlowContext& context, std::span<const std::uint32_t> minpts) noexcept {
  return {.minpts = minpts,
          .core_mask = context.options.core_mask,
          .labels = context.options.labels,
          .keep = context.options.keep,
          .clusters = context.options.clusters,
          .weights = context.weights};
}

stages::ClusterVariants cluster_variants(const FlowContext& context) {
  const RunOptions& options = context.options;
  return {.method = options.method,
          .verify = options.verify,
          .core_mask = options.core_mask,
          .keep = options.keep,
          .clusters = options.clusters,
          .points = options.verify ? context.points.host() : PointsView{},
          .space = context.points.space(),
          .weights = whole_of(context.weights),
          .workers = context.threads,
          .cancel = context.stop,
          .trace = context.observer.trace};
}

void run_flow(const FlowContext& context, std::vector<stages::EpsGroup> groups, const FlowConsumer& consumer,
              MoreGroups more) {
  Flow(context, std::move(groups), consumer, std::move(more)).run();
}

}  // namespace epsflow

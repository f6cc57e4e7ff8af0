// DBSCAN of one eps from the pairs of a search by tiles, for high dimensions.
#pragma once

#include <cstdint>
#include <memory>

#include <epsflow/gpu/direct/direct_task.hpp>
#include <epsflow/gpu/tiles/tile_search.hpp>

namespace epsflow::gpu {

/// Pairs of neighbours are read once for the counts or sums of weights, and for each minpts once for unions and, if
/// border points are required, once for them: from the list that the search cached, or, if it did not fit, from another
/// search.
class TileClustering final : public DeviceClustering {
 public:
  /// `task` need not outlive the call, but everything that it refers to must.
  TileClustering(const DirectTask& task, std::unique_ptr<TileSearch> search);

  ~TileClustering() override { release(); }

  [[nodiscard]] const Stream& stream() const override { return search_->stream(); }
  [[nodiscard]] std::uint64_t undecided_pairs() const override { return search_->figures().undecided_pairs; }

 private:
  void unite_level(std::uint32_t minpts) override;
  LabelSummary label_level(const LabelTarget& target) override;
  Numbering final_numbering() override { return arrays_.numbering(); }
  [[nodiscard]] LabelledLevel labelled_level() const override {
    return {nodes_, arrays_.numbering(), nullptr, size_, size_};
  }

  DirectTask task_;
  std::unique_ptr<TileSearch> search_;
  std::uint32_t size_;
  TallyPair tally_;
  // [n] number of neighbours, the point itself included; with weights, the largest minpts that their sum reaches
  DeviceBuffer<std::uint32_t> counts_;
  DeviceBuffer<std::uint32_t> core_bits_;
  DeviceBuffer<std::uint32_t> core_before_;
  DeviceBuffer<std::uint32_t> lowest_;  // [n] lowest number of a core neighbour, for points that are not core
  NodeArrays arrays_;
  Nodes nodes_;
  std::uint32_t minpts_ = 0;              // of the last level; 0 before the first
  StreamDrain drain_{search_->stream()};  // waits before the memory above is freed
};

}  // namespace epsflow::gpu

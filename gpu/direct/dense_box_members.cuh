// Access of kernels to the core points of dense-box cells.
#pragma once

#include <cstdint>

#include <epsflow/gpu/direct/dense_box_view.cuh>
#include <epsflow/gpu/direct/tally.cuh>

namespace epsflow::gpu {

/// The points of a cell, with the test for core points.
struct Members {
  Span span;
  bool whole;  ///< true if all are core because of their number; else is_core() reads bits

  __device__ Members(const Nodes& nodes, std::uint32_t cell)
      : span{__ldg(nodes.starts + cell), __ldg(nodes.starts + cell + 1)},
        whole(span.end - span.begin >= nodes.minpts) {}

  __device__ std::uint32_t size() const { return span.end - span.begin; }
  __device__ bool is_core(const Nodes& nodes, std::uint32_t position) const {
    return whole || bit_of(nodes.core, position);
  }
  __device__ bool has_core(const Nodes& nodes) const {
    if (whole) return true;
    for (std::uint32_t w = span.begin / 32; w <= (span.end - 1) / 32; ++w) {
      if (word_within(nodes.core, w, span.begin, span.end) != 0) return true;
    }
    return false;
  }
};

/// Whether a search found a core point within eps: no, yes, or unknown because it gave up.
enum class Verdict : std::uint8_t { apart, near, open };

}  // namespace epsflow::gpu

#include "runtime/host/blocks/block_run.h"

#include <algorithm>

#include "heddle/error.h"

#include "ir/types/scalar.h"

namespace heddle::runtime::host {

using passes::Mapping;

Walk walk_of(const BlockKernel& kernel, const BlockFrame& frame, std::int64_t part) {
  namespace reduce = heddle_scalar::reduce;
  if (kernel.segment >= 0) {
    const ReductionCode& one = kernel.reductions[static_cast<std::size_t>(kernel.segment)];
    return {frame.integer(one.first), frame.integer(one.last)};
  }
  const std::int64_t inner = frame.size(kernel.inner_total);
  if (kernel.parts_of >= 0) {
    const std::int64_t whole = frame.size(kernel.parts_of);
    const std::int64_t chunk = reduce::part_length(whole, kernel.least_part, inner);
    return {0, (whole + chunk - 1) / chunk};
  }
  if (kernel.split == 1) return {0, inner};
  const std::int64_t chunk =
      kernel.least_part > 0    ? reduce::part_length(inner, kernel.least_part, kernel.split)
      : kernel.part_length > 0 ? kernel.part_length
                               : (inner + kernel.split - 1) / kernel.split;  // of a scan
  return {part * chunk, std::min((part + 1) * chunk, inner)};
}

std::int64_t run_length(const BlockKernel& kernel, const BlockFrame& frame) {
  namespace reduce = heddle_scalar::reduce;
  if (kernel.segment >= 0) return reduce::segment_run_length;
  return reduce::run_length(frame.size(kernel.inner_total));
}

void run_elements(const BlockKernel& kernel, BlockFrame& frame, std::int64_t begin,
                  std::int64_t end) {
  frame.set_most_lanes(std::min(kernel.lanes, end - begin));
  frame.run_once(kernel.fixed);
  frame.for_blocks(0, kernel.outer, begin, end,
                   [&](std::int64_t, std::int64_t n) { frame.run(kernel.all, n); });
}

/// A unit is a tile of the last loop and the tiled one; what is read across stays in the cache.
void run_tiles(const BlockKernel& kernel, BlockFrame& frame, std::int64_t begin, std::int64_t end) {
  const auto last = static_cast<int>(kernel.outer.size()) - 1;
  const std::int64_t edge = kernel.tile_edge;
  const std::int64_t last_extent = frame.size(kernel.outer.back().extent);
  const std::int64_t across_extent =
      frame.size(kernel.outer[static_cast<std::size_t>(kernel.tile_loop)].extent);
  const std::int64_t last_tiles = (last_extent + edge - 1) / edge;
  const std::int64_t across_tiles = (across_extent + edge - 1) / edge;
  frame.set_most_lanes(std::min(kernel.lanes, edge));
  frame.run_once(kernel.fixed);
  for (std::int64_t unit = begin; unit < end; ++unit) {
    const std::int64_t last_begin = unit % last_tiles * edge;
    const std::int64_t across_begin = unit / last_tiles % across_tiles * edge;
    std::int64_t batch = unit / (last_tiles * across_tiles);
    for (int i = last; i-- > 0;) {
      if (i == kernel.tile_loop) continue;
      const std::int64_t extent = frame.size(kernel.outer[static_cast<std::size_t>(i)].extent);
      frame.set_loop(i, batch % extent);
      batch /= extent;
    }
    const std::int64_t across_end = std::min(across_begin + edge, across_extent);
    for (std::int64_t across = across_begin; across < across_end; ++across) {
      frame.set_loop(kernel.tile_loop, across);
      const std::int64_t stop = std::min(last_begin + edge, last_extent);
      for (std::int64_t at = last_begin; at < stop; at += kernel.lanes) {
        frame.set_lanes(last, at);
        frame.run(kernel.all, std::min(kernel.lanes, stop - at));
      }
    }
  }
}

void BlockKernel::run(void* const* buffers, const std::int64_t* scalars, std::int64_t begin,
                      std::int64_t end) const {
  if (begin >= end) return;
  BlockFrame frame(*this, buffers, scalars);
  switch (mapping) {
    case Mapping::elements:
      return run_elements(*this, frame, begin, end);
    case Mapping::tiles:
      return run_tiles(*this, frame, begin, end);
    case Mapping::rows:
      return run_rows(*this, frame, begin, end);
    case Mapping::columns:
      return run_columns(*this, frame, begin, end);
    case Mapping::scan_rows:
      return run_scan_rows(*this, frame, begin, end);
    case Mapping::scan_columns:
      return run_scan_columns(*this, frame, begin, end);
    default:
      throw InternalError("blocks cannot run this mapping");
  }
}

}  // namespace heddle::runtime::host

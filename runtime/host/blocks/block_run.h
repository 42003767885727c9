#pragma once

#include "runtime/host/blocks/block_frame.h"

namespace heddle::runtime::host {

// The mappings of kernel plans, executed block by block. Units of work are those of compiled
// kernels: `begin` to `end` are what HostFunction gets.

void run_elements(const BlockKernel& kernel, BlockFrame& frame, std::int64_t begin,
                  std::int64_t end);
void run_tiles(const BlockKernel& kernel, BlockFrame& frame, std::int64_t begin, std::int64_t end);
void run_rows(const BlockKernel& kernel, BlockFrame& frame, std::int64_t begin, std::int64_t end);
void run_columns(const BlockKernel& kernel, BlockFrame& frame, std::int64_t begin,
                 std::int64_t end);
void run_scan_rows(const BlockKernel& kernel, BlockFrame& frame, std::int64_t begin,
                   std::int64_t end);
void run_scan_columns(const BlockKernel& kernel, BlockFrame& frame, std::int64_t begin,
                      std::int64_t end);

/// The inner iterations [begin, end) of one part of a row or column.
struct Walk {
  std::int64_t begin = 0, end = 0;
};
Walk walk_of(const BlockKernel& kernel, const BlockFrame& frame, std::int64_t part);
/// The number of elements that are combined in sequence, in the order of columns.
std::int64_t run_length(const BlockKernel& kernel, const BlockFrame& frame);

}  // namespace heddle::runtime::host

#pragma once

#include <cstddef>
#include <cstdint>

#include "heddle/dtype.h"

#include "runtime/host/blocks/lane_index.h"

namespace heddle::runtime::host {

// Copies between arrays and blocks of lanes. `bytes` is the size of an element: 1, 2, 4, 8 or 16.

/// to[k] = *from. `from` may be `to`.
void fill_lanes(std::byte* to, const std::byte* from, std::size_t bytes, std::int64_t n);
/// to[k] = array[at(k)]
void gather_lanes(std::byte* to, const std::byte* array, const LaneIndex& at, std::size_t bytes,
                  std::int64_t n);
/// As gather_lanes where guard[k] is not 0; else to[k] is 0.
void gather_guarded_lanes(std::byte* to, const std::byte* array, const LaneIndex& at,
                          const unsigned char* guard, std::size_t bytes, std::int64_t n);
/// array[at(k)] = from[k], in the order of k. Nothing is copied if `from` is there already.
void scatter_lanes(std::byte* array, const LaneIndex& at, const std::byte* from, std::size_t bytes,
                   std::int64_t n);
/// Adds from[k] to array[at(k)], or takes the greater, where guard[k] is not 0. Threads may do so
/// at the same time. `dtype` is an integer type of 32 or 64 bits.
void combine_lanes(std::byte* array, const LaneIndex& at, const std::byte* from,
                   const unsigned char* guard, DType dtype, bool adds, std::int64_t n);

/// to[k] = at(k)
void write_indices(std::int64_t* to, const LaneIndex& at, std::int64_t n);

// Operations on indices, as passes::Instruction defines them.
void within_lanes(std::byte* to, const LaneIndex& at, std::int64_t begin, std::int64_t end,
                  std::int64_t step, std::int64_t n);
void position_lanes(std::byte* to, const std::int64_t* from, std::int64_t extent, std::int64_t n);
void inside_lanes(std::byte* to, const std::int64_t* from, std::int64_t extent, std::int64_t n);
void bound_lanes(std::byte* to, const std::int64_t* from, std::int64_t extent, bool is_unsigned,
                 std::int64_t n);

}  // namespace heddle::runtime::host

#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::runtime {

__extension__ using Key128 = unsigned __int128;

/// Sorts `count` keys in ascending order, on this thread: with Highway's vqsort if that library is
/// found (highway.h), else with an LSD radix sort by 8-bit digits. The radix sort starts at bit
/// `low_bit`: the bits below are already in ascending order, or irrelevant. `scratch` has room for
/// `count` keys.
void sort_run(std::uint16_t* keys, std::uint16_t* scratch, std::size_t count, int low_bit = 0);
void sort_run(std::uint32_t* keys, std::uint32_t* scratch, std::size_t count, int low_bit = 0);
void sort_run(std::uint64_t* keys, std::uint64_t* scratch, std::size_t count, int low_bit = 0);
void sort_run(Key128* keys, Key128* scratch, std::size_t count, int low_bit = 0);

/// Whether Highway is used.
bool sorts_by_vectors();

}  // namespace heddle::runtime

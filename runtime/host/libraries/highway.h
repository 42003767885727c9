#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle::runtime::highway {

__extension__ using Key128 = unsigned __int128;

/// An object of Highway's class Sorter, which holds one pointer.
struct Sorter {
  void* state = nullptr;
};
struct SortAscending {};  ///< hwy::SortAscending: an empty argument

/// Functions of Highway's vqsort. They have C++ linkage: highway.cpp has their mangled names.
struct Api {
  void (*create)(Sorter* sorter) = nullptr;
  void (*destroy)(Sorter* sorter) = nullptr;
  void (*sort16)(const Sorter*, std::uint16_t* keys, std::size_t count, SortAscending) = nullptr;
  void (*sort32)(const Sorter*, std::uint32_t* keys, std::size_t count, SortAscending) = nullptr;
  void (*sort64)(const Sorter*, std::uint64_t* keys, std::size_t count, SortAscending) = nullptr;
  void (*sort128)(const Sorter*, Key128* keys, std::size_t count, SortAscending) = nullptr;
};

/// Why Highway cannot be used; empty if it can. It is loaded at first use, because its initialiser
/// measures the resolution of the clock for 4 ms.
const std::string& unavailable_reason();
/// DeviceError if Highway cannot be used.
const Api& api();

}  // namespace heddle::runtime::highway

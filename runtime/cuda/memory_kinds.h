#pragma once

#include <cstddef>

#include "runtime/device/backend.h"

/// Managed memory, and memory of the driver's own pool. The functions are those of Backend.
namespace heddle::runtime::cuda {

void* reserve_managed(int ordinal, std::size_t bytes);
void release_managed(int ordinal, void* pointer, std::size_t bytes) noexcept;
void prefetch(const void* pointer, std::size_t bytes, Device to, const Stream& stream);
void advise(int ordinal, const void* pointer, std::size_t bytes, int advice, Device on);

void* reserve_ordered(int ordinal, std::size_t bytes);
void release_ordered(int ordinal, void* pointer) noexcept;
OrderedPool ordered_pool(int ordinal);
void trim_ordered(int ordinal, std::size_t keep);

}  // namespace heddle::runtime::cuda

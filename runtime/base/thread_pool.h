#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace heddle::runtime {

/// Threads that parallel_for uses, the caller included: HEDDLE_NUM_THREADS, else the processors
/// that this process may run on.
int thread_count();

namespace detail {
using RangeFunction = void (*)(void* context, std::int64_t begin, std::int64_t end);
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, RangeFunction function,
                  void* context);
}  // namespace detail

/// Calls function(b, e) for the pieces [begin, begin + grain), [begin + grain, ...) ... of
/// [begin, end), on several threads and in no fixed order, and returns when all are done. Where
/// the pieces are cut depends on nothing but the arguments. A call from inside a piece runs its
/// own pieces on that thread. When pieces throw, no new ones start, and the exception of the one
/// with the lowest begin is thrown here. After a fork the child has threads of its own.
template <class Function>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, Function&& function) {
  using Callable = std::remove_reference_t<Function>;
  auto call = [](void* context, std::int64_t b, std::int64_t e) {
    (*static_cast<Callable*>(context))(b, e);
  };
  detail::parallel_for(begin, end, grain, call,
                       const_cast<void*>(static_cast<const void*>(std::addressof(function))));
}

}  // namespace heddle::runtime

#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace heddle::runtime {

/// The number of threads that parallel_for uses, including the caller: HEDDLE_NUM_THREADS if set,
/// else the number of processors that this process may run on.
int thread_count();

namespace detail {
using RangeFunction = void (*)(void* context, std::int64_t begin, std::int64_t end);
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, RangeFunction function,
                  void* context);
}  // namespace detail

/// Calls function(b, e) for the pieces [begin, begin + grain), [begin + grain, ...) ... of [begin,
/// end), on several threads and in no fixed order, and returns when all are done. The split into
/// pieces depends only on the arguments. A nested call from inside a piece runs on that thread
/// alone. When a piece throws, no new pieces start, and the exception of the failed piece with the
/// lowest begin is rethrown. After a fork the child starts its own threads.
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

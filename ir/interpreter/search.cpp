#include <algorithm>

#include "ir/interpreter/functions.h"
#include "ir/types/element.h"

namespace heddle::ir::interpreter {
namespace {

template <class T, bool right>
void run_search(const std::byte* sorted, std::size_t length, const std::byte* values,
                std::byte* result, std::size_t count) {
  const T* from = reinterpret_cast<const T*>(sorted);
  const T* value = reinterpret_cast<const T*>(values);
  auto* places = reinterpret_cast<long long*>(result);
  for (std::size_t i = 0; i < count; ++i) {
    const auto* end = from + length;
    const T* place = right ? std::upper_bound(from, end, value[i], heddle_scalar::precedes<T>)
                           : std::lower_bound(from, end, value[i], heddle_scalar::precedes<T>);
    places[i] = place - from;
  }
}

}  // namespace

SearchFunction search_function(Op op, DType dtype) {
  return with_element(dtype, [op]<class T>(std::type_identity<T>) -> SearchFunction {
    return op == Op::searchsorted_right ? &run_search<T, true> : &run_search<T, false>;
  });
}

}  // namespace heddle::ir::interpreter

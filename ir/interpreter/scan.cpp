#include "ir/element.h"
#include "ir/interpreter/functions.h"

namespace heddle::ir::interpreter {
namespace {

template <class R, class T>
void scan_row(const T* row, typename R::Result* result, std::size_t length) {
  heddle_scalar::scan::Running<R> running{};
  for (std::size_t i = 0; i < length; ++i) {
    auto state = R::lift(row[i], static_cast<long long>(i));
    running.add(&state);
    result[i] = R::finish(state);
  }
}

template <class R, class T>
void run_scan(const std::byte* operand, std::byte* result, std::size_t rows, std::size_t length) {
  const auto* from = reinterpret_cast<const T*>(operand);
  auto* to = reinterpret_cast<typename R::Result*>(result);
  for (std::size_t i = 0; i < rows; ++i) scan_row<R>(from + i * length, to + i * length, length);
}

template <class T>
ScanFunction scan_function_of(Op op) {
  constexpr DTypeSet type = set_of(dtype_of<T>);
  switch (op) {
#define HD_SCAN(name, dtypes, numpy)                     \
  case Op::name:                                         \
    if constexpr (((dtypes) & type) != 0) {              \
      return &run_scan<heddle_scalar::scan::name<T>, T>; \
    } else {                                             \
      return nullptr;                                    \
    }
#include "heddle/scans.def"
#undef HD_SCAN
    default:
      return nullptr;
  }
}

}  // namespace

ScanFunction scan_function(Op op, DType dtype) {
  const ScanFunction function =
      with_element(dtype, [op]<class T>(std::type_identity<T>) { return scan_function_of<T>(op); });
  if (function == nullptr) {
    throw InternalError(fmt::format("{} has no meaning for {}", info(op).name, name_of(dtype)));
  }
  return function;
}

}  // namespace heddle::ir::interpreter

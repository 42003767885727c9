#include "ir/interpreter/functions.h"
#include "ir/types/element.h"

namespace heddle::ir::interpreter {
namespace {

/// `lift(i)` is the accumulator of element i alone.
template <class R, class Lift>
void scan_row(const Lift& lift, typename R::Result* result, std::size_t length) {
  heddle_scalar::scan::Running<R> running{};
  for (std::size_t i = 0; i < length; ++i) {
    auto state = lift(i);
    running.add(&state);
    result[i] = R::finish(state);
  }
}

template <class R, class T>
void run_scan(const std::byte* operand, const std::byte* begins, std::byte* result,
              std::size_t rows, std::size_t length) {
  using Segmented = heddle_scalar::scan::Segmented<R>;
  auto* to = reinterpret_cast<typename R::Result*>(result);
  for (std::size_t start = 0; start < rows * length; start += length) {
    const auto* row = reinterpret_cast<const T*>(operand) + start;
    const auto* anew = reinterpret_cast<const bool*>(begins) + (begins == nullptr ? 0 : start);
    const auto index = [](std::size_t i) { return static_cast<long long>(i); };
    if (begins == nullptr) {
      scan_row<R>([&](std::size_t i) { return R::lift(row[i], index(i)); }, to + start, length);
    } else {
      scan_row<Segmented>([&](std::size_t i) { return Segmented::lift(row[i], anew[i], index(i)); },
                          to + start, length);
    }
  }
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
    throw InternalError(fmt::format("{} is not defined for {}", info(op).name, name_of(dtype)));
  }
  return function;
}

}  // namespace heddle::ir::interpreter

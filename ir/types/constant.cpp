#include "ir/types/constant.h"

#include <cmath>
#include <cstring>

#include "heddle/error.h"

#include "ir/types/element.h"

namespace heddle::ir {

ElementBits constant_bits(DType dtype, double value) {
  return with_element(dtype, [&]<class T>(std::type_identity<T>) {
    const T converted = heddle_scalar::cast<T>(value);
    ElementBits bits;
    std::memcpy(bits.bytes(), &converted, sizeof converted);
    return bits;
  });
}

std::optional<std::int64_t> integer_of(DType dtype, const ElementBits& bits) {
  if (dtype == DType::boolean) return std::nullopt;
  const ElementBits real = is_complex(dtype) ? complex_parts(dtype, bits).real : bits;
  const double value = with_element(real_dtype(dtype), [&]<class T>(std::type_identity<T>) {
    T element;
    std::memcpy(&element, real.bytes(), sizeof element);
    return heddle_scalar::cast<double>(element);
  });
  if (!(std::abs(value) < 0x1p53)) return std::nullopt;  // nor NaN
  const auto integer = static_cast<std::int64_t>(value);
  return constant_bits(dtype, static_cast<double>(integer)) == bits ? std::optional(integer)
                                                                    : std::nullopt;
}

std::size_t reduction_state_bytes(Op reduction, DType dtype, bool segmented) {
  return with_element(dtype, [&]<class T>(std::type_identity<T>) -> std::size_t {
    switch (reduction) {
#define HD_REDUCTION(name, ...) \
  case Op::name:                \
    return sizeof(typename heddle_scalar::reduce::name<T>::State);
#include "heddle/reductions.def"
#undef HD_REDUCTION
#define HD_SCAN(name, ...)                                                                         \
  case Op::name:                                                                                   \
    return segmented                                                                               \
               ? sizeof(                                                                           \
                     typename heddle_scalar::scan::Segmented<heddle_scalar::scan::name<T>>::State) \
               : sizeof(typename heddle_scalar::scan::name<T>::State);
#include "heddle/scans.def"
#undef HD_SCAN
      default:
        throw InternalError("neither a reduction nor a scan");
    }
  });
}

}  // namespace heddle::ir

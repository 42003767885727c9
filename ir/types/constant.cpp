#include "ir/types/constant.h"

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

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heddle/dtype.h"

#include "ir/types/op.h"

namespace heddle::codegen {

/// The C++ type of an element in kernel text: "bool", "signed char" ... "long long", "half",
/// "bfloat16", "float", "double", "complex64", "complex128".
std::string_view element_type(DType dtype);

/// The sections that kernel text needs to use elements of `dtype`: "half", "bfloat16" or "complex"
/// for these types, none for built-in C++ types.
std::vector<std::string> sections_of(DType dtype);
/// Whether element_type(dtype) is a type of heddle_scalar rather than a built-in C++ type.
bool is_library_type(DType dtype);
/// Whether it is f16 or bf16, which are computed in float.
inline bool is_soft(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

/// The sections that kernel text needs to call `heddle_scalar::<op>`, or
/// `heddle_scalar::reduce::<op>` for a reduction, on elements of `operand_dtype`; without the
/// sections that these need in turn. A cast also needs the sections of its result's dtype. Throws
/// InternalError for an op that is neither elementwise nor a reduction.
std::vector<std::string> sections_of(ir::Op op, DType operand_dtype);

}  // namespace heddle::codegen

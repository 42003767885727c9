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

/// The sections that kernel text needs to mention elements of `dtype`: "half", "bfloat16" or
/// "complex" for those, none for the types of the language.
std::vector<std::string> sections_of(DType dtype);
/// Whether element_type(dtype) is a name of heddle_scalar rather than of the language.
bool is_library_type(DType dtype);

/// The sections that kernel text needs to call `heddle_scalar::<op>` on elements of
/// `operand_dtype`, or for a reduction `heddle_scalar::reduce::<op>`, what they need in turn not
/// included. A cast also needs those of its result's dtype. Throws InternalError for an op that is
/// neither elementwise nor a reduction.
std::vector<std::string> sections_of(ir::Op op, DType operand_dtype);

}  // namespace heddle::codegen

#include "codegen/common/scalar_code.h"

#include <fmt/format.h>

#include "heddle/error.h"

#include "codegen/common/sections.h"

namespace heddle::codegen {

std::string_view element_type(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return "bool";
    case DType::i8:
      return "signed char";
    case DType::i16:
      return "short";
    case DType::i32:
      return "int";
    case DType::i64:
      return "long long";
    case DType::u8:
      return "unsigned char";
    case DType::u16:
      return "unsigned short";
    case DType::u32:
      return "unsigned int";
    case DType::u64:
      return "unsigned long long";
    case DType::f16:
      return "half";
    case DType::bf16:
      return "bfloat16";
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    case DType::c64:
      return "complex64";
    case DType::c128:
      return "complex128";
  }
  throw InternalError(fmt::format("kernels have no element type for {}", name_of(dtype)));
}

std::vector<std::string> sections_of(DType dtype) {
  if (dtype == DType::f16) return {"half"};
  if (dtype == DType::bf16) return {"bfloat16"};
  if (is_complex(dtype)) return {"complex"};
  return {};
}

bool is_library_type(DType dtype) { return !sections_of(dtype).empty(); }

std::vector<std::string> sections_of(ir::Op op, DType operand_dtype) {
  const std::string_view name = ir::info(op).name;
  const Section* definition = nullptr;
  if (is_complex(operand_dtype)) definition = library_sections().defining(name, Operands::complex);
  if (operand_dtype == DType::f16) definition = library_sections().defining(name, Operands::half);
  if (definition == nullptr) definition = library_sections().defining(name);
  if (definition == nullptr) {
    throw InternalError(fmt::format("no library section defines {}", name));
  }
  std::vector<std::string> names = sections_of(operand_dtype);
  names.emplace_back(definition->name);
  return names;
}

}  // namespace heddle::codegen

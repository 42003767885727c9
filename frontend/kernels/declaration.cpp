#include "frontend/kernels/declaration.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "heddle/reductions.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/record.h"
#include "ir/base/split.h"
#include "ir/base/words.h"
#include "ir/calls/calls.h"
#include "ir/infer/infer.h"

namespace heddle::frontend {

namespace {

void check_name(std::string_view kernel, std::string_view name) {
  if (!ir::is_identifier(name)) {
    throw ValueError(fmt::format(
        "{}: '{}' is not a parameter; write a type and a name, such as 'float32 x'", kernel, name));
  }
  if (name == "i" || name.starts_with('_')) {
    throw ValueError(fmt::format(
        "{}: the name '{}' is reserved: i is the element's number, names that begin with _ are "
        "Heddle's; choose another name",
        kernel, name));
  }
}

KernelParameter parse_parameter(std::string_view kernel, std::string_view text) {
  std::vector<std::string_view> words = ir::split(text, ' ');
  KernelParameter made;
  if (!words.empty() && words.front() == "raw") {
    made.raw = true;
    words.erase(words.begin());
  }
  if (words.size() != 2) {
    throw ValueError(fmt::format(
        "{}: '{}' is not a parameter; write a type and a name, such as 'float32 x'", kernel, text));
  }
  made.type = words[0];
  made.name = words[1];
  check_name(kernel, made.name);
  if (made.type.size() == 1 && ir::is_identifier(made.type)) return made;
  made.dtype = dtype_of_type(made.type, false);
  if (!made.dtype) {
    throw DTypeError(fmt::format(
        "{}: '{}' is not a dtype; parameters have a dtype of NumPy, such as float32, or a letter "
        "that stands for any",
        kernel, made.type));
  }
  return made;
}

}  // namespace

std::optional<DType> dtype_of_type(std::string_view type, bool of_c) {
  using Names = std::vector<std::pair<std::string_view, DType>>;
  static const Names c_names = {{"float", DType::f32},
                                {"double", DType::f64},
                                {"int", DType::i32},
                                {"unsigned", DType::u32},
                                {"unsigned int", DType::u32},
                                {"short", DType::i16},
                                {"unsigned short", DType::u16},
                                {"char", DType::i8},
                                {"signed char", DType::i8},
                                {"unsigned char", DType::u8},
                                {"long", DType::i64},
                                {"unsigned long", DType::u64},
                                {"long long", DType::i64},
                                {"unsigned long long", DType::u64},
                                {"size_t", DType::u64},
                                {"ptrdiff_t", DType::i64},
                                {"complex<float>", DType::c64},
                                {"complex<double>", DType::c128}};
  static const Names numpy_names = {
      {"bool_", DType::boolean}, {"int", DType::i64},      {"uint", DType::u64},
      {"intp", DType::i64},      {"uintp", DType::u64},    {"float", DType::f64},
      {"complex", DType::c128},  {"byte", DType::i8},      {"ubyte", DType::u8},
      {"short", DType::i16},     {"ushort", DType::u16},   {"intc", DType::i32},
      {"uintc", DType::u32},     {"longlong", DType::i64}, {"half", DType::f16},
      {"single", DType::f32},    {"double", DType::f64}};
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (numpy_name_of(dtype) == type) return dtype;
  }
  const Names& names = of_c ? c_names : numpy_names;
  const auto found = std::ranges::find(names, type, &Names::value_type::first);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

std::vector<KernelParameter> parse_parameters(std::string_view kernel, std::string_view text) {
  std::string spaces(text);
  std::ranges::replace_if(spaces, [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  std::vector<KernelParameter> parameters;
  if (spaces.find_first_not_of(' ') == std::string::npos) return parameters;
  for (std::size_t at = 0; at <= spaces.size();) {
    const std::size_t end = std::min(spaces.find(',', at), spaces.size());
    parameters.push_back(parse_parameter(kernel, std::string_view(spaces).substr(at, end - at)));
    at = end + 1;
  }
  return parameters;
}

void KernelTypes::bind(const KernelParameter& parameter, DType dtype) {
  DType wanted = dtype;
  if (parameter.dtype) {
    wanted = *parameter.dtype;
  } else {
    wanted = letters_.try_emplace(parameter.type, dtype).first->second;
  }
  if (wanted == dtype) return;
  throw DTypeError(
      at(fmt::format("{}: '{}' is {}, but the array is {}; cast it with astype", kernel_,
                     parameter.name, numpy_name_of(wanted), numpy_name_of(dtype)),
         site_));
}

void KernelTypes::suggest(const KernelParameter& parameter, DType dtype) {
  if (!parameter.dtype) letters_.try_emplace(parameter.type, dtype);
}

DType KernelTypes::of(const KernelParameter& parameter) const {
  if (parameter.dtype) return *parameter.dtype;
  const auto found = letters_.find(parameter.type);
  if (found != letters_.end()) return found->second;
  throw DTypeError(
      at(fmt::format("{}: no argument has type {}, that of '{}'; pass an output array, "
                     "or declare a dtype",
                     kernel_, parameter.type, parameter.name),
         site_));
}

std::vector<ir::UserFunction::Named> KernelTypes::letters() const {
  std::vector<ir::UserFunction::Named> named;
  for (const auto& [letter, dtype] : letters_) named.push_back({letter, dtype});
  return named;
}

std::string KernelTypes::key() const {
  std::string key;
  for (const auto& [letter, dtype] : letters_) {
    key += letter;
    key += static_cast<char>('0' + static_cast<int>(dtype));
  }
  return key;
}

KernelDeclaration::KernelDeclaration(std::string_view in_params, std::string_view out_params,
                                     std::string_view operation, std::string_view name,
                                     std::string_view preamble)
    : name(name),
      operation(operation),
      preamble(preamble),
      in(parse_parameters(name, in_params)),
      out(parse_parameters(name, out_params)) {
  if (!ir::is_identifier(name)) {
    throw ValueError(
        fmt::format("'{}' is not a name for a kernel; choose one that is a name in C++", name));
  }
  if (out.empty()) throw ValueError(fmt::format("{}: a kernel has at least one output", name));
  std::set<std::string_view> names;
  for (const std::vector<KernelParameter>* const list : {&in, &out}) {
    for (const KernelParameter& one : *list) {
      if (!names.insert(one.name).second)
        throw ValueError(fmt::format("{}: two parameters are named '{}'", name, one.name));
    }
  }
  const auto mentions = [&](std::string_view word) {
    return ir::mentions(this->operation, word) || ir::mentions(this->preamble, word);
  };
  words_ = {mentions("i"), mentions("n"), mentions("_ind")};
  const auto raw = std::ranges::find_if(out, &KernelParameter::raw);
  writes = raw != out.end();
  if (writes && out.size() > 1) {
    throw ValueError(fmt::format(
        "{}: the output '{}' is raw, so it must be the only output; make a kernel for each", name,
        raw->name));
  }
}

std::vector<NodeRef> KernelDeclaration::nodes(std::span<const Operand> inputs, KernelTypes& types,
                                              const Site& site) const {
  if (inputs.size() != in.size()) {
    throw ValueError(
        at(fmt::format("{}: takes {} inputs, not {}", name, in.size(), inputs.size()), site));
  }
  std::vector<NodeRef> nodes(in.size());
  for (std::size_t k = 0; k < in.size(); ++k) {
    if (inputs[k].array() == nullptr) continue;
    nodes[k] = node_of(name, inputs[k]);
    types.bind(in[k], nodes[k]->dtype);
  }
  for (std::size_t k = 0; k < in.size(); ++k) {
    if (inputs[k].array() == nullptr) types.suggest(in[k], default_dtype(inputs[k].scalar()));
  }
  for (std::size_t k = 0; k < in.size(); ++k) {
    if (inputs[k].array() != nullptr) continue;
    if (in[k].raw) {
      throw DTypeError(
          at(fmt::format("{}: '{}' is raw, so it takes an array", name, in[k].name), site));
    }
    nodes[k] = node_of(name, inputs[k], types.of(in[k]));
  }
  return nodes;
}

std::optional<ir::Shape> KernelDeclaration::shape(std::span<const Operand> inputs,
                                                  std::span<const NodeRef> nodes,
                                                  const Site& site) const {
  std::optional<ir::Shape> shape;
  bool has_scalars = false, has_raw = writes;
  for (std::size_t k = 0; k < in.size(); ++k) {
    has_raw |= in[k].raw;
    has_scalars |= inputs[k].array() == nullptr;
    if (in[k].raw || inputs[k].array() == nullptr) continue;
    shape = located(
        site, [&] { return ir::broadcast_shapes(shape.value_or(ir::Shape()), nodes[k]->shape); });
  }
  if (!shape && has_scalars && !has_raw) return ir::Shape();
  return shape;
}

std::vector<ir::UserFunction::Named> KernelDeclaration::outputs(const KernelTypes& types) const {
  std::vector<ir::UserFunction::Named> named;
  for (const KernelParameter& one : out) named.push_back({one.name, types.of(one)});
  return named;
}

std::vector<ir::UserFunction::Parameter> KernelDeclaration::inputs() const {
  std::vector<ir::UserFunction::Parameter> parameters;
  for (const KernelParameter& one : in) parameters.push_back({one.name, one.raw});
  return parameters;
}

UserCalls user_calls(const UserMap& map) {
  UserCalls calls;
  for (std::size_t k = 0; k < map.outputs.size(); ++k) {
    calls.push_back(
        {ir::call_attributes(map.writes ? ir::calls::user_write() : ir::calls::user_map(),
                             {{"name", std::string(map.name)},
                              {"inputs", ir::list_text(map.inputs)},
                              {"outputs", ir::list_text(map.outputs)},
                              {"types", ir::list_text(map.types)},
                              {"operation", std::string(map.operation)},
                              {"preamble", std::string(map.preamble)},
                              {"initial", map.has_initial},
                              {"result", static_cast<std::int64_t>(k)}}),
         map.outputs[k].dtype});
  }
  return calls;
}

std::vector<NodeRef> record_user_calls(const UserCalls& calls, std::span<const NodeRef> operands,
                                       const std::optional<ir::Shape>& shape, const Site& site) {
  std::vector<NodeRef> results;
  results.reserve(calls.size());
  for (const auto& [attributes, dtype] : calls) {
    results.push_back(shape ? record_valid_call(operands, attributes, {dtype, *shape}, site)
                            : record_call(operands, attributes, site).front());
  }
  return results;
}

NodeRef element_numbers(const ir::Shape& shape, const Site& site) {
  const NodeRef flat = record_iota({ir::element_count(shape)}, 0, DType::i64, site);
  return reshape_to(flat, shape, site);
}

NodeRef element_count(const ir::Shape& shape, const SourceLocation& where) {
  const ir::Dim count = ir::element_count(shape);
  if (count.is_constant())
    return record_constant(DType::i64, static_cast<double>(count.constant()));
  const NodeRef ones = broadcast_to_shape(record_constant(DType::i64, 1), {count}, where);
  return Access::node(sum(Operand(Access::make(ones), where)), where);
}

}  // namespace heddle::frontend

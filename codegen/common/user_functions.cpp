#include "codegen/common/user_functions.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "codegen/common/scalar_code.h"
#include "codegen/common/sections.h"
#include "ir/base/words.h"
#include "ir/calls/calls.h"
#include "ir/calls/user_map.h"

namespace heddle::codegen {

namespace {

/// The type in which an element passes to and from the function.
std::string carrier(DType dtype) {
  if (is_soft(dtype)) return "float";
  if (!is_complex(dtype)) return user_type(dtype);
  return fmt::format("heddle_scalar::{}", element_type(dtype));
}

/// Text of the user, whose lines compilers then name as lines of `what`.
std::string users_lines(std::string_view what, std::string_view text) {
  return fmt::format("#line 1 \"{}\"\n{}\n#line 1 \"around {}\"\n", what, text, what);
}

std::string_view without_indent(std::string_view line) {
  const auto first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : line.substr(first);
}

/// The rest of a line that is the directive, such as `define`, of the preprocessor.
std::optional<std::string_view> after_directive(std::string_view line, std::string_view directive) {
  line = without_indent(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = without_indent(line.substr(1));
  if (!line.starts_with(directive)) return std::nullopt;
  return without_indent(line.substr(directive.size()));
}

/// Splits a preamble into the #include lines at its beginning, which are outside of namespaces, and
/// the rest, in which empty lines stand for them.
struct Preamble {
  std::string includes, rest;
  explicit Preamble(std::string_view text) {
    bool at_beginning = true;
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      const bool includes_file = after_directive(line, "include").has_value();
      at_beginning &= includes_file || without_indent(line).empty();
      if (at_beginning && includes_file) {
        includes += line;
        includes += '\n';
      } else {
        rest += line;
      }
      rest += '\n';
      text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
  }
};

/// Ends the macros that the text defines, so that they change no other text of the kernel.
std::string undefine_macros(std::string_view text) {
  std::string made;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (const auto rest = after_directive(line, "define")) {
      const auto end = std::ranges::find_if_not(*rest, ir::is_word_part) - rest->begin();
      made += fmt::format("#undef {}\n", rest->substr(0, static_cast<std::size_t>(end)));
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return made;
}

std::string signature(const ir::UserFunction& function, const std::string& name,
                      const std::vector<DType>& operands, bool writes) {
  std::string templates, parameters;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const bool is_raw = k < function.inputs.size() ? function.inputs[k].raw : writes;
    if (is_raw) templates += fmt::format("{}class A{}", templates.empty() ? "" : ", ", k);
    parameters += fmt::format("{}{} _a{}", k == 0 ? "" : ", ",
                              is_raw ? fmt::format("A{}", k) : carrier(operands[k]), k);
  }
  return fmt::format("{}HD_SCALAR {} {}({}) {{\n",
                     templates.empty() ? "" : fmt::format("template <{}>\n", templates),
                     writes ? "bool" : carrier(function.outputs[function.result].dtype), name,
                     parameters);
}

bool names_a_parameter(const ir::UserFunction& function, std::string_view name) {
  return std::ranges::find(function.inputs, name, &ir::UserFunction::Parameter::name) !=
             function.inputs.end() ||
         std::ranges::find(function.outputs, name, &ir::UserFunction::Named::name) !=
             function.outputs.end();
}

/// The variables that the user's text reads and assigns.
std::string variables(const ir::UserFunction& function, const std::vector<DType>& operands,
                      bool initial, bool writes) {
  std::string text;
  bool has_index = false, has_count = false;  // the element's number, and how many there are
  for (std::size_t k = 0; k < function.inputs.size(); ++k) {
    const auto& [name, is_raw] = function.inputs[k];
    has_index |= name == "_i";
    has_count |= name == "_n";
    if (is_raw) {
      text += fmt::format("  const A{0}& {1} = _a{0};\n", k, name);
    } else {
      text += fmt::format("  const {} {}(_a{});\n", user_type(operands[k]), name, k);
    }
  }
  if (has_index) text += "  const ptrdiff_t i = _i;\n";
  if (has_count && !names_a_parameter(function, "n")) text += "  const ptrdiff_t n = _n;\n";
  if (has_index && has_count) text += "  const ::heddle_user::Indexer _ind{_i, _n};\n";
  if (writes) {
    return text + fmt::format("  const A{0}& {1} = _a{0};\n", function.inputs.size(),
                              function.outputs[0].name);
  }
  for (std::size_t k = 0; k < function.outputs.size(); ++k) {
    const auto& [name, dtype] = function.outputs[k];
    const std::string value =
        initial ? fmt::format("(_a{})", function.inputs.size() + k) : std::string("{}");
    text += fmt::format("  {} {}{};\n", user_type(dtype), name, value);
  }
  return text;
}

}  // namespace

std::string user_type(DType dtype) {
  if (dtype == DType::f16) return "float16";
  if (dtype == DType::bf16) return "bfloat16";
  if (is_complex(dtype)) return dtype == DType::c64 ? "complex<float>" : "complex<double>";
  return std::string(element_type(dtype));
}

std::string user_section(DType dtype) {
  if (dtype == DType::f16) return "user_half";
  if (dtype == DType::bf16) return "user_bfloat16";
  return is_complex(dtype) ? "user_complex" : "user_functions";
}

std::vector<std::string> host_math_sections(const ir::CallData& user_map, bool with_complex) {
  constexpr std::string_view prefix = "user_math_";
  constexpr std::string_view of_complex = "cos cosh exp log log10 pow sin sinh sqrt tan tanh";
  const std::string text =
      user_map.get<std::string>("operation") + ' ' + user_map.get<std::string>("preamble");
  std::vector<std::string> sections;
  for (const Section& section : all_sections()) {
    if (!section.name.starts_with(prefix)) continue;
    const std::string name(section.name.substr(prefix.size()));
    if (ir::mentions(text, name) || ir::mentions(text, name + 'f') ||
        (with_complex && ir::mentions(of_complex, name)))
      sections.emplace_back(section.name);
  }
  return sections;
}

std::string UserFunctions::use(const ir::CallRef& user_map, const std::vector<DType>& operands) {
  const ir::UserFunction function = ir::user_function(*user_map);
  ir::Hasher hasher;
  hasher.bytes(user_map.hash().hex());
  for (const DType dtype : operands) hasher.bytes(name_of(dtype));
  const std::string hash = hasher.finish().hex().substr(0, 8);
  const auto& name = user_map->get<std::string>("name");
  // The function's own name differs from those that its text may call.
  const std::string own_name = '_' + name;
  std::string full_name = fmt::format("heddle_user::user_{}::{}", hash, own_name);
  if (std::ranges::find(names_, full_name) != names_.end()) return full_name;
  names_.push_back(full_name);
  const Preamble preamble(user_map->get<std::string>("preamble"));
  std::string text = fmt::format("{}namespace heddle_user::user_{} {{\n", preamble.includes, hash);
  for (const auto& [type, dtype] : function.types)
    text += fmt::format("using {} = {};\n", type, user_type(dtype));
  if (!preamble.rest.empty()) text += users_lines(name + " (preamble)", preamble.rest);
  const bool writes = user_map->op == &ir::calls::user_write();
  text += signature(function, own_name, operands, writes);
  text += variables(function, operands, user_map->get<bool>("initial"), writes);
  // `continue` ends an element, as in CuPy.
  text += "  do {\n" + users_lines(name, user_map->get<std::string>("operation") + ";");
  text += fmt::format(
      "  }} while (false);\n  return {};\n}}\n}}\n",
      writes ? "true"
             : fmt::format("::heddle_user::carried({})", function.outputs[function.result].name));
  for (const char* const part : {"preamble", "operation"})
    text += undefine_macros(user_map->get<std::string>(part));
  texts_.push_back(std::move(text));
  return full_name;
}

}  // namespace heddle::codegen

#include "frontend/python/signature.h"

#include <algorithm>
#include <stdexcept>

namespace heddle::python {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Position of `wanted` outside of brackets and quotes; npos if there is none.
std::size_t find_outside(std::string_view text, char wanted) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (depth == 0 && c == wanted) return i;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
  }
  return std::string_view::npos;
}

std::vector<std::string_view> split_parameters(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!trimmed(text).empty()) {
    const std::size_t comma = find_outside(text, ',');
    parts.push_back(trimmed(text.substr(0, comma)));
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
  return parts;
}

/// The value of a default, kept for the lifetime of the process.
PyObject* literal(std::string_view text) {
  const nb::object evaluate = nb::module_::import_("ast").attr("literal_eval");
  return evaluate(nb::str(text.data(), text.size())).release().ptr();
}

Parameter parse_parameter(std::string_view part, Parameter::Kind kind, std::string& text) {
  const std::size_t colon = find_outside(part, ':');
  const std::string_view rest = colon == std::string_view::npos ? part : part.substr(colon);
  const std::size_t equals = find_outside(rest, '=');
  Parameter parameter;
  std::string_view name = trimmed(part.substr(0, std::min(colon, find_outside(part, '='))));
  if (const std::size_t bar = name.find('|'); bar != std::string_view::npos) {
    parameter.alias = PyUnicode_InternFromString(std::string(name.substr(bar + 1)).c_str());
    name = name.substr(0, bar);
  }
  text += name;
  if (name.starts_with("**")) {
    name.remove_prefix(2);
    kind = Parameter::Kind::keywords;
    parameter.fallback = PyDict_New();
  } else if (name.starts_with('*')) {
    name.remove_prefix(1);
    kind = Parameter::Kind::variadic;
    parameter.fallback = PyTuple_New(0);
  }
  parameter.name = name;
  parameter.kind = kind;
  parameter.key = PyUnicode_InternFromString(parameter.name.c_str());
  if (equals != std::string_view::npos) {
    const std::string_view value = trimmed(rest.substr(equals + 1));
    parameter.fallback = literal(value);
    text += '=';
    text += value;
  }
  return parameter;
}

/// The declaration without the aliases of parameters.
std::string without_aliases(std::string_view declaration,
                            const std::vector<Parameter>& parameters) {
  std::string result(declaration);
  for (const Parameter& parameter : parameters) {
    if (parameter.alias == nullptr) continue;
    const std::string alias = std::string("|") + PyUnicode_AsUTF8(parameter.alias);
    result.erase(result.find(parameter.name + alias) + parameter.name.size(), alias.size());
  }
  return result;
}

}  // namespace

Signature parse_signature(std::string_view declaration) {
  const std::size_t open = declaration.find('(');
  const std::size_t close = declaration.rfind(") -> ");
  if (open == std::string_view::npos || close == std::string_view::npos) {
    throw std::invalid_argument("no declaration: " + std::string(declaration));
  }
  Signature result;
  result.name = declaration.substr(0, open);
  result.text = "(";
  Parameter::Kind kind = Parameter::Kind::plain;
  for (std::string_view part : split_parameters(declaration.substr(open + 1, close - open - 1))) {
    if (result.text.size() > 1) result.text += ", ";
    if (part == "/") {
      for (Parameter& before : result.parameters) before.kind = Parameter::Kind::positional_only;
      result.text += part;
    } else if (part == "*") {
      kind = Parameter::Kind::keyword_only;
      result.text += part;
    } else {
      result.parameters.push_back(parse_parameter(part, kind, result.text));
      // A NumPy array as `out` is handled by the function itself.
      const bool is_out = result.parameters.back().name == "out" &&
                          part.find("numpy.ndarray") == std::string_view::npos;
      if (is_out) result.out = static_cast<int>(result.parameters.size()) - 1;
      if (result.parameters.back().kind == Parameter::Kind::variadic) {
        kind = Parameter::Kind::keyword_only;
      } else if (kind != Parameter::Kind::keyword_only &&
                 result.parameters.back().kind != Parameter::Kind::keywords) {
        ++result.positional;
      }
    }
  }
  result.text += ")";
  result.declaration = without_aliases(declaration, result.parameters);
  return result;
}

}  // namespace heddle::python

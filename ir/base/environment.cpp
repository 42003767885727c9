#include "ir/base/environment.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <numeric>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/byte_size.h"
#include "ir/base/split.h"

namespace heddle::ir {

namespace {

using Kind = VariableForm::Kind;

/// The forms, under the names that environment.def uses.
namespace forms {

constexpr VariableForm text{}, flag{Kind::flag}, bytes{Kind::bytes};
constexpr VariableForm number(std::int64_t least, std::int64_t most) {
  return {Kind::number, least, most};
}
constexpr VariableForm one_of(std::string_view names) { return {Kind::one_of, 0, 0, names}; }
constexpr VariableForm list_of(std::string_view names) { return {Kind::list_of, 0, 0, names}; }

constexpr VariableInfo table[] = {
#define HEDDLE_VARIABLE(id, name, form, values, otherwise, meaning) \
  {name, form, values, otherwise, meaning},
#include "ir/base/environment.def"
#undef HEDDLE_VARIABLE
};

}  // namespace forms

using forms::table;

std::optional<std::int64_t> parse_number(std::string_view text, const VariableForm& form) {
  std::int64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || value < form.least || value > form.most)
    return std::nullopt;
  return value;
}

bool is_one_of(std::string_view text, std::string_view names) {
  const std::vector<std::string_view> all = split(names, ',');
  return std::ranges::find(all, text) != all.end();
}

bool has_form(std::string_view text, const VariableForm& form) {
  if (text.empty()) return true;
  const std::vector<std::string_view> words = split(text, ',');
  switch (form.kind) {
    case Kind::flag:
      return text == "0" || text == "1";
    case Kind::number:
      return parse_number(text, form).has_value();
    case Kind::bytes:
      return parse_byte_size(text).has_value();
    case Kind::one_of:
      return is_one_of(text, form.names);
    case Kind::list_of:
      return std::ranges::all_of(
          words, [&](std::string_view word) { return is_one_of(word, form.names); });
    case Kind::text:
      break;
  }
  return true;
}

/// The variable's value. Throws ValueError if it does not have the variable's form.
std::string checked(Variable variable) {
  const VariableInfo& known = info(variable);
  std::string value = environment(variable);
  if (has_form(value, known.form)) return value;
  throw ValueError(fmt::format("{} is '{}'; valid values: {}", known.name, value, known.values));
}

/// Edit distance: the fewest letters to insert, delete or change to turn one word into the other.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// Throws ValueError if `name` is close to a known HEDDLE_ name, since it is then a spelling
/// mistake. Other names belong to other programs and are accepted.
void check_name(std::string_view name) {
  constexpr std::size_t near = 2;
  const VariableInfo* meant = nullptr;
  for (const VariableInfo& known : table) {
    if (name == known.name) return;
    if (std::string_view(known.name).starts_with("HEDDLE_") &&
        edits_between(name, known.name) <= near)
      meant = &known;
  }
  if (meant == nullptr) return;
  throw ValueError(fmt::format("{} is set, but there is no such variable; did you mean {} ({})?",
                               name, meant->name, meant->values));
}

}  // namespace

std::span<const VariableInfo> variables() { return table; }

const VariableInfo& info(Variable variable) { return table[static_cast<std::size_t>(variable)]; }

std::string environment(Variable variable) {
  const char* const value = std::getenv(info(variable).name);
  return value != nullptr ? value : "";
}

bool is_set(Variable variable) { return std::getenv(info(variable).name) != nullptr; }

bool flag(Variable variable, bool otherwise) {
  const std::string value = checked(variable);
  return value.empty() ? otherwise : value == "1";
}

std::optional<std::int64_t> number(Variable variable) {
  const std::string value = checked(variable);
  return value.empty() ? std::nullopt : parse_number(value, info(variable).form);
}

std::optional<std::uint64_t> bytes(Variable variable) {
  const std::string value = checked(variable);
  return value.empty() ? std::nullopt : parse_byte_size(value);
}

std::string name(Variable variable) { return checked(variable); }

std::vector<std::string> names(Variable variable) {
  const std::string value = checked(variable);
  const std::vector<std::string_view> words = split(value, ',');
  return {words.begin(), words.end()};
}

void check_environment() {
  for (std::size_t i = 0; i < std::size(table); ++i) checked(static_cast<Variable>(i));
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view line = *each;
    const std::string_view name = line.substr(0, line.find('='));
    if (name.starts_with("HEDDLE_")) check_name(name);
  }
}

}  // namespace heddle::ir

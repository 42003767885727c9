#include "runtime/cache/difference.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "runtime/cache/key.h"

namespace heddle::runtime::cache {

namespace {

using Fields = std::map<std::pair<std::string, std::size_t>, std::string>;

/// The fields, by name and index among fields of that name; `order` receives the keys in order.
Fields fields_of(std::string_view text, std::vector<Fields::key_type>& order) {
  Fields fields;
  std::map<std::string, std::size_t> counts;
  for (auto& [name, value] : parse_key(text)) {
    const Fields::key_type place{name, counts[name]++};
    if (std::find(order.begin(), order.end(), place) == order.end()) order.push_back(place);
    fields.emplace(place, std::move(value));
  }
  return fields;
}

std::optional<std::string> value_of(const Fields& fields, const Fields::key_type& place) {
  const auto found = fields.find(place);
  return found == fields.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

bool separates(char c) { return std::string_view(" ,;()[]{}=:").find(c) != std::string_view::npos; }

/// The part between the common leading and trailing words of two lines, truncated, with a note of
/// how much was left out.
std::string part_of(std::string_view line, std::size_t before, std::size_t behind) {
  constexpr std::size_t most = 80;
  std::string_view part = line.substr(before, line.size() - before - behind);
  const bool is_cut = part.size() > most;
  return fmt::format("'{}{}{}'", before > 0 ? "..." : "", part.substr(0, most),
                     behind > 0 || is_cut ? "..." : "");
}

std::string compare_lines(std::string_view wanted, std::string_view found) {
  const std::size_t shorter = std::min(wanted.size(), found.size());
  std::size_t before = 0, behind = 0;
  while (before < shorter && wanted[before] == found[before]) ++before;
  while (before > 0 && !separates(wanted[before - 1])) --before;
  while (behind < shorter - before &&
         wanted[wanted.size() - behind - 1] == found[found.size() - behind - 1]) {
    ++behind;
  }
  while (behind > 0 && !separates(wanted[wanted.size() - behind])) --behind;
  return fmt::format("expected {}, found {}", part_of(wanted, before, behind),
                     part_of(found, before, behind));
}

/// Replaces every number by the same character.
std::string without_numbers(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) out += c;
    if (is_digit && (out.empty() || out.back() != '#')) out += '#';
  }
  return out;
}

/// The share of a text's lines that do not occur in the other text.
double share_missing(std::string_view text, std::string_view other) {
  std::multiset<std::string_view> there;
  for (const std::string_view line : lines_of(other)) there.insert(line);
  const std::vector<std::string_view> lines = lines_of(text);
  std::size_t missing = 0;
  for (const std::string_view line : lines) {
    const auto found = there.find(line);
    if (found == there.end()) {
      ++missing;
    } else {
      there.erase(found);
    }
  }
  return static_cast<double>(missing) / static_cast<double>(std::max<std::size_t>(lines.size(), 1));
}

}  // namespace

std::string FieldDifference::to_string() const {
  if (!wanted) return fmt::format("{} (not expected, but present)", name);
  if (!found) return fmt::format("{} (missing)", name);
  const std::vector<std::string_view> left = lines_of(*wanted), right = lines_of(*found);
  if (left.size() < 2 && right.size() < 2)
    return fmt::format("{} ({})", name, compare_lines(*wanted, *found));
  std::size_t line = 0;
  while (line < left.size() && line < right.size() && left[line] == right[line]) ++line;
  const auto text_at = [&](const auto& lines) { return line < lines.size() ? lines[line] : ""; };
  return fmt::format("{} (line {}: {})", name, line + 1,
                     compare_lines(text_at(left), text_at(right)));
}

std::vector<FieldDifference> differences(std::string_view wanted, std::string_view found) {
  std::vector<Fields::key_type> order;
  const Fields left = fields_of(wanted, order), right = fields_of(found, order);
  std::vector<FieldDifference> result;
  for (const Fields::key_type& place : order) {
    FieldDifference each{place.first, value_of(left, place), value_of(right, place)};
    if (each.wanted != each.found) result.push_back(std::move(each));
  }
  return result;
}

double distance(std::span<const FieldDifference> differences) {
  constexpr double field = 1, other_text = 2, other_lines = 4;
  double sum = 0;
  for (const FieldDifference& each : differences) {
    sum += field;
    if (!each.wanted || !each.found || each.wanted->find('\n') == std::string::npos) continue;
    if (without_numbers(*each.wanted) == without_numbers(*each.found)) continue;
    sum += other_text + other_lines * share_missing(*each.wanted, *each.found);
  }
  return sum;
}

}  // namespace heddle::runtime::cache

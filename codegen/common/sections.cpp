#include "codegen/common/sections.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "heddle/error.h"

namespace heddle::codegen {
namespace {

constexpr std::string_view section_mark = "//! section ";
constexpr std::string_view defines_mark = "//! defines ";
constexpr std::string_view defines_complex_mark = "//! defines_complex ";
constexpr std::string_view defines_half_mark = "//! defines_half ";
constexpr std::string_view host_mark = "//! host\n";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const auto space = line.find(' ');
    if (space != 0) words.push_back(line.substr(0, space));
    line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
  }
  return words;
}

std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

Section parse_section(std::string_view text) {
  const auto heading = words_of(take_line(text).substr(section_mark.size()));
  Section result;
  result.name = heading.at(0);
  if (heading.size() > 1) result.needs.assign(heading.begin() + 2, heading.end());
  const auto take_names = [&](std::string_view mark, std::vector<std::string_view>& names) {
    while (text.starts_with(mark)) {
      for (auto op : words_of(take_line(text).substr(mark.size()))) names.push_back(op);
    }
  };
  take_names(defines_mark, result.defines);
  take_names(defines_complex_mark, result.defines_complex);
  take_names(defines_half_mark, result.defines_half);
  if (text.starts_with(host_mark)) result.side = Side::host;
  if (result.side != Side::both) take_line(text);
  while (text.ends_with("\n\n")) text.remove_suffix(1);
  result.text = text;
  return result;
}

void append_sections(std::string_view file, std::vector<Section>& sections) {
  auto start = file.find(section_mark);
  while (start != std::string_view::npos) {
    const auto next = file.find(section_mark, start + 1);
    sections.push_back(parse_section(file.substr(start, next - start)));
    start = next;
  }
}

/// Topological sort by needs. Stable: a section moves only if it must come after a section that it
/// needs.
std::vector<Section> sorted_by_needs(std::vector<Section> sections) {
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (!index.emplace(sections[i].name, i).second) {
      throw InternalError(fmt::format("two library sections are named {}", sections[i].name));
    }
  }
  std::vector<Section> sorted;
  enum class State { unseen, open, done };
  std::vector<State> states(sections.size(), State::unseen);
  auto visit = [&](auto&& self, std::size_t i) -> void {
    if (states[i] == State::done) return;
    if (states[i] == State::open) {
      throw InternalError(fmt::format("library section {} depends on itself", sections[i].name));
    }
    states[i] = State::open;
    for (auto need : sections[i].needs) {
      const auto found = index.find(need);
      if (found == index.end()) {
        throw InternalError(fmt::format("library section {} needs {}, which does not exist",
                                        sections[i].name, need));
      }
      self(self, found->second);
    }
    states[i] = State::done;
    sorted.push_back(sections[i]);
  };
  for (std::size_t i = 0; i < sections.size(); ++i) visit(visit, i);
  return sorted;
}

}  // namespace

SectionTable::SectionTable(std::span<const EmbeddedText> files) {
  std::vector<Section> sections;
  for (const EmbeddedText& file : files) append_sections(file.text, sections);
  sections_ = sorted_by_needs(std::move(sections));
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    by_name_.emplace(sections_[i].name, i);
    const auto define = [&](const std::vector<std::string_view>& ops, Operands operands) {
      for (auto op : ops) {
        if (!by_definition_[static_cast<std::size_t>(operands)].emplace(op, i).second) {
          throw InternalError(fmt::format("two library sections define {}", op));
        }
      }
    };
    define(sections_[i].defines, Operands::any);
    define(sections_[i].defines_complex, Operands::complex);
    define(sections_[i].defines_half, Operands::half);
  }
}

const Section& SectionTable::find(std::string_view name) const { return sections_[index_of(name)]; }

const Section* SectionTable::defining(std::string_view op, Operands operands) const {
  const auto& table = by_definition_[static_cast<std::size_t>(operands)];
  const auto found = table.find(op);
  return found == table.end() ? nullptr : &sections_[found->second];
}

std::size_t SectionTable::index_of(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    throw InternalError(fmt::format("there is no library section {}", name));
  }
  return found->second;
}

std::vector<std::string> SectionTable::close_over_needs(std::span<const std::string> names,
                                                        Side side) const {
  std::vector<bool> wanted(sections_.size(), false);
  for (const std::string& name : names) wanted[index_of(name)] = true;
  // A needed section always comes earlier in the order.
  for (std::size_t i = sections_.size(); i-- > 0;) {
    const Side own = sections_[i].side;
    if (own != Side::both && side != Side::both && own != side) wanted[i] = false;
    if (!wanted[i]) continue;
    for (auto need : sections_[i].needs) wanted[index_of(need)] = true;
  }
  std::vector<std::string> result;
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    if (wanted[i]) result.emplace_back(sections_[i].name);
  }
  return result;
}

const SectionTable& library_sections() {
  static const auto* const table = new SectionTable(embedded_texts());
  return *table;
}

const Section& section(std::string_view name) { return library_sections().find(name); }

std::span<const Section> all_sections() { return library_sections().all(); }

std::vector<std::string> close_over_needs(std::vector<std::string> names) {
  return library_sections().close_over_needs(names);
}

}  // namespace heddle::codegen

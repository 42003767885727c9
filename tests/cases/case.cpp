#include "tests/cases/case.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

#include "tests/cases/programs.h"
#include "tests/support/samples.h"

namespace heddle::test {
namespace {

constexpr std::uint64_t known_seeds = 4;

std::string input_text(const ir::HostArray& array) {
  for (std::uint64_t seed = 0; seed < known_seeds; ++seed) {
    if (moderate_sample(array.type.dtype, array.type.shape, seed).data == array.data) {
      return fmt::format("seed {}", seed);
    }
  }
  std::string text = "bytes ";
  for (const std::byte byte : array.data) text += fmt::format("{:02x}", std::to_integer<int>(byte));
  return text;
}

std::string flags_text(const std::vector<bool>& flags) {
  std::string text;
  for (const bool flag : flags) text += flag ? '1' : '0';
  return text;
}

std::vector<bool> flags_of(std::string_view text) {
  std::vector<bool> flags;
  for (const char c : text) flags.push_back(c == '1');
  return flags;
}

template <class Integer>
Integer number_of(std::string_view text, int base = 10) {
  Integer value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || stop != text.data() + text.size()) {
    throw ParseError(fmt::format("a case's header has '{}' for a number", text));
  }
  return value;
}

ir::HostArray input_of(std::string_view kind, std::string_view value, DType dtype,
                       const ir::Shape& shape) {
  if (kind == "seed") return moderate_sample(dtype, shape, number_of<std::uint64_t>(value));
  ir::HostArray array{{dtype, shape}, {}};
  for (std::size_t i = 0; i + 1 < value.size(); i += 2) {
    array.data.push_back(static_cast<std::byte>(number_of<unsigned>(value.substr(i, 2), 16)));
  }
  if (array.data.size() != bytes_of(array.type)) {
    throw ParseError(fmt::format("{} bytes for {}", array.data.size(), to_string(array.type)));
  }
  return array;
}

/// A line's words, without the "//" in front.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  line.remove_prefix(std::min<std::size_t>(line.size(), 2));
  while (true) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

}  // namespace

ir::Shape bound(const ir::Shape& shape, const ir::SymbolBindings& bindings) {
  ir::Shape result;
  for (const ir::Dim extent : shape) result.emplace_back(extent.evaluate(bindings));
  return result;
}

std::string to_text(const Case& one) {
  std::string text;
  if (one.options.strict) text += "// strict\n";
  if (!one.options.donated.empty()) {
    text += fmt::format("// donated {}\n", flags_text(one.options.donated));
  }
  if (!one.options.aligned.empty()) {
    text += fmt::format("// aligned {}\n", flags_text(one.options.aligned));
  }
  if (!one.options.disabled.empty()) {
    text += fmt::format("// disabled {}\n", fmt::join(one.options.disabled, " "));
  }
  for (const ir::SymbolBinding& binding : one.bindings) {
    text += fmt::format("// symbol {} {}\n", ir::symbol_name(binding.symbol), binding.value);
  }
  for (const ir::HostArray& input : one.inputs) {
    text += fmt::format("// input {}\n", input_text(input));
  }
  return text + ir::print(one.graph);
}

Case parse_case(std::string_view text) {
  Case one;
  one.graph = ir::parse(text);
  while (text.starts_with("//")) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    std::vector<std::string_view> words = words_of(line);
    if (words.empty()) continue;
    words.resize(std::max<std::size_t>(words.size(), 3));
    if (words[0] == "strict") one.options.strict = true;
    if (words[0] == "donated") one.options.donated = flags_of(words[1]);
    if (words[0] == "aligned") one.options.aligned = flags_of(words[1]);
    if (words[0] == "disabled") {
      for (std::size_t i = 1; i < words.size(); ++i) {
        if (!words[i].empty()) one.options.disabled.emplace_back(words[i]);
      }
    }
    if (words[0] == "symbol") {
      one.bindings.push_back({ir::intern_symbol(words[1]), number_of<std::int64_t>(words[2])});
    }
    if (words[0] == "input") {
      const ir::ValueId parameter = one.graph.parameters().at(one.inputs.size());
      one.inputs.push_back(input_of(words[1], words[2], one.graph.dtype(parameter),
                                    bound(one.graph.shape(parameter), one.bindings)));
    }
  }
  if (one.inputs.size() != one.graph.parameters().size()) {
    throw ParseError("a case has an input line for each parameter");
  }
  return one;
}

std::vector<bool> needed_nodes(const ir::Graph& graph) {
  std::vector<bool> needed(graph.size());
  for (const ir::ValueId output : graph.outputs) needed[ir::index_of(output)] = true;
  for (std::size_t i = graph.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const ir::ValueId operand : graph.operands(ir::ValueId(i))) {
      needed[ir::index_of(operand)] = true;
    }
  }
  return needed;
}

}  // namespace heddle::test

#include "frontend/cli/inputs.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <random>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/error.h"
#include "heddle/io.h"

#include "frontend/array/access.h"
#include "frontend/graph/record.h"
#include "ir/types/constant.h"
#include "ir/types/literal.h"

namespace heddle::cli {

ir::SymbolBinding parse_size(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::int64_t value = -1;
  if (equals != std::string::npos && equals > 0) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, value);
    if (error == std::errc() && stop == end && value >= 0) {
      return {ir::intern_symbol(text.substr(0, equals)), value};
    }
  }
  throw ValueError(fmt::format("--size {}: write NAME=EXTENT, for instance n=1000", text));
}

namespace {

std::string parameter_text(const ir::Graph& graph, std::size_t index) {
  return fmt::format("input {} ({})", index, to_string(graph.type(graph.parameters()[index])));
}

class Arguments {
 public:
  Arguments(const ir::Graph& graph, const InputOptions& options)
      : graph_(graph), options_(options) {
    for (const std::string& size : options.sizes) bindings_.push_back(parse_size(size));
    if (options.seed) random_.seed(*options.seed);
  }

  std::vector<runtime::Argument> make() {
    const std::size_t count = graph_.parameters().size();
    const std::size_t given = options_.given.size();
    if (given > count) {
      throw ValueError(
          fmt::format("{} inputs are given, but the program expects {}", given, count));
    }
    if (given < count && !options_.seed) {
      throw ValueError(fmt::format("{} is missing: add a .npy file, or --random SEED",
                                   parameter_text(graph_, given)));
    }
    std::vector<runtime::Argument> arguments;
    for (std::size_t i = 0; i < given; ++i) arguments.push_back(read(i));
    for (std::size_t i = given; i < count; ++i) arguments.push_back(random(i));
    return arguments;
  }

 private:
  runtime::Argument read(std::size_t index) {
    const ir::ValueId parameter = graph_.parameters()[index];
    const std::string& text = options_.given[index];
    if (graph_.attributes(parameter).scalar) {
      const auto bits = ir::parse_literal(graph_.dtype(parameter), text);
      if (bits) return runtime::ScalarArgument{graph_.dtype(parameter), *bits};
      throw ValueError(fmt::format("'{}' is not a value for the scalar {}", text,
                                   parameter_text(graph_, index)));
    }
    const Array array = load(text, SourceLocation());
    const runtime::DeviceArray& value = frontend::Access::raw(array)->value;
    bind(graph_.shape(parameter), value.type.shape);
    return value;
  }

  void bind(const ir::Shape& expected, const ir::Shape& given) {
    for (std::size_t axis = 0; axis < std::min(expected.size(), given.size()); ++axis) {
      std::vector<ir::SymbolId> symbols;
      expected[axis].collect_symbols(symbols);
      if (symbols.size() != 1 || !(expected[axis] == ir::Dim::symbol(symbols[0]))) continue;
      if (!is_bound(symbols[0])) bindings_.push_back({symbols[0], given[axis].constant()});
    }
  }

  bool is_bound(ir::SymbolId symbol) const {
    return std::any_of(bindings_.begin(), bindings_.end(),
                       [&](const ir::SymbolBinding& bound) { return bound.symbol == symbol; });
  }

  std::int64_t evaluate(std::size_t index, ir::Dim extent) const {
    std::vector<ir::SymbolId> symbols;
    extent.collect_symbols(symbols);
    for (const ir::SymbolId symbol : symbols) {
      if (is_bound(symbol)) continue;
      throw ValueError(fmt::format("{} has an unknown extent: add --size {}=EXTENT",
                                   parameter_text(graph_, index), symbol_name(symbol)));
    }
    return extent.evaluate(bindings_);
  }

  std::int64_t count_of(std::size_t index, const ir::Type& type) const {
    for (const ir::Dim extent : type.shape) {
      if (extent.constant() >= 0) continue;
      throw ShapeError(fmt::format("{} would be {}: pass other values to --size",
                                   parameter_text(graph_, index), to_string(type)));
    }
    static_cast<void>(byte_count(type));  // throws if the bytes do not fit 64 bits
    return element_count(type.shape).constant();
  }

  runtime::Argument random(std::size_t index) {
    const ir::ValueId parameter = graph_.parameters()[index];
    const DType dtype = graph_.dtype(parameter);
    if (graph_.attributes(parameter).scalar)
      return runtime::ScalarArgument{dtype, random_bits(dtype)};
    Shape shape;
    for (const ir::Dim extent : graph_.shape(parameter)) shape.push_back(evaluate(index, extent));
    const auto count = static_cast<std::size_t>(count_of(index, {dtype, frontend::to_ir(shape)}));
    std::vector<std::byte> data(count * size_of(dtype));
    for (std::size_t i = 0; i < count; ++i) {
      const ir::ElementBits bits = random_bits(dtype);
      std::memcpy(data.data() + i * size_of(dtype), bits.bytes(), size_of(dtype));
    }
    return frontend::Access::raw(from_memory(data.data(), count, dtype, shape, SourceLocation()))
        ->value;
  }

  /// Floats in [0, 1), integers in [0, 100).
  ir::ElementBits random_bits(DType dtype) {
    if (is_complex(dtype)) {
      const std::uint64_t real = random_bits(real_dtype(dtype)).low;
      return ir::complex_bits(dtype, {real, random_bits(real_dtype(dtype)).low});
    }
    const std::uint64_t word = random_();
    if (is_boolean(dtype)) return word >> 63;
    if (is_integer(dtype)) return word % 100;
    return ir::constant_bits(dtype, static_cast<double>(word >> 11) * 0x1p-53);
  }

  const ir::Graph& graph_;
  const InputOptions& options_;
  ir::SymbolBindings bindings_;
  std::mt19937_64 random_;
};

}  // namespace

std::vector<runtime::Argument> make_arguments(const ir::Graph& graph, const InputOptions& options) {
  return Arguments(graph, options).make();
}

}  // namespace heddle::cli

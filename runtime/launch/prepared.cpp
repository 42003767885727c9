#include "runtime/launch/prepared.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "heddle/error.h"

#include "runtime/base/per_thread.h"

namespace heddle::runtime {

namespace {

using ir::Dim;
using passes::Program;

ir::Shape evaluate(const ir::Shape& shape, const ir::SymbolBindings& bindings) {
  if (is_constant(shape)) return shape;
  ir::Shape result;
  for (const Dim extent : shape) result.emplace_back(extent.evaluate(bindings));
  return result;
}

[[noreturn]] void mismatch(const Program& program, std::size_t index, const ir::Type& given) {
  throw ShapeError(fmt::format("argument {} of {} is {}, but the program was compiled for {}",
                               index, program.name, describe(given),
                               describe(program.inputs[index].type)));
}

struct Symbols {
  std::vector<ir::SymbolId> found;
};

/// The symbols of an extent. Valid until the thread's next call.
const std::vector<ir::SymbolId>& symbols_of(const Dim& extent) {
  std::vector<ir::SymbolId>& symbols = per_thread<Symbols>().found;
  symbols.clear();
  extent.collect_symbols(symbols);
  return symbols;
}

// Solves an extent that is linear in one symbol for that symbol, given the extent's value. nullopt
// for products and sums of several symbols: see bind_rest().
std::optional<ir::SymbolBinding> solve(const Dim& extent, std::int64_t value) {
  const std::vector<ir::SymbolId>& symbols = symbols_of(extent);
  if (symbols.size() != 1) return std::nullopt;
  const ir::SymbolId symbol = symbols[0];
  const auto at = [&](std::int64_t point) {
    const ir::SymbolBinding binding{symbol, point};
    return extent.evaluate({&binding, 1});
  };
  const std::int64_t constant = at(0), slope = at(1) - constant;
  if (slope == 0 || at(2) != constant + 2 * slope || (value - constant) % slope != 0)
    return std::nullopt;
  return ir::SymbolBinding{symbol, (value - constant) / slope};
}

/// Binds symbols from one input's shape. Returns whether every extent is constant or determines its
/// symbol.
bool bind_symbols(const Program& program, std::size_t index, const ir::Type& given,
                  ir::SymbolBindings& bindings) {
  const ir::Shape& expected = program.inputs[index].type.shape;
  if (given.shape.size() != expected.size()) mismatch(program, index, given);
  bool all_solved = true;
  for (std::size_t axis = 0; axis < expected.size(); ++axis) {
    if (expected[axis].is_constant()) {
      if (!(expected[axis] == given.shape[axis])) mismatch(program, index, given);
      continue;
    }
    const auto solved = solve(expected[axis], given.shape[axis].constant());
    if (!solved) {
      all_solved = false;
      continue;
    }
    if (solved->value < 0) mismatch(program, index, given);
    const bool bound = std::any_of(bindings.begin(), bindings.end(),
                                   [&](const auto& one) { return one.symbol == solved->symbol; });
    if (!bound) bindings.push_back(*solved);
  }
  return all_solved;
}

/// Binds the symbols of extents whose other symbols are bound, such as r in n+r.
void bind_rest(const Program& program, std::span<const ArgumentView> arguments,
               ir::SymbolBindings& bindings) {
  for (std::size_t before = 0; before != bindings.size();) {
    before = bindings.size();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].array == nullptr) continue;
      const ir::Shape& expected = program.inputs[i].type.shape;
      const ir::Shape& given = arguments[i].array->type.shape;
      for (std::size_t axis = 0; axis < expected.size(); ++axis) {
        const auto solved = solve(expected[axis].with_bound(bindings), given[axis].constant());
        if (!solved) continue;
        if (solved->value < 0) mismatch(program, i, arguments[i].array->type);
        bindings.push_back(*solved);
      }
    }
  }
}

bool all_bound(std::span<const Dim> extents, const ir::SymbolBindings& bindings) {
  return std::ranges::all_of(extents, [&](const Dim& extent) {
    return std::ranges::all_of(symbols_of(extent), [&](ir::SymbolId symbol) {
      return std::ranges::find(bindings, symbol, &ir::SymbolBinding::symbol) != bindings.end();
    });
  });
}

void check_facts(const Program& program, const ir::SymbolBindings& bindings) {
  for (const ir::SymbolFact& fact : program.facts) {
    for (const ir::SymbolBinding& bound : bindings) {
      if (bound.symbol != fact.symbol) continue;
      if (bound.value < fact.minimum || bound.value % fact.multiple_of != 0) {
        throw ShapeError(fmt::format(
            "{} was compiled for {} >= {} and a multiple of {}, but it is {}", program.name,
            symbol_name(fact.symbol), fact.minimum, fact.multiple_of, bound.value));
      }
    }
  }
}

/// " (file.cpp:12)" from the caller's graph, or an empty string.
std::string place_of(const ir::Requirement& broken, const ir::Graph* graph) {
  if (graph == nullptr) return {};
  for (const ir::Requirement& one : ir::requirements(*graph)) {
    if (one.value == broken.value && one.unless_zero == broken.unless_zero &&
        !one.location.empty()) {
      return " (" + one.location + ")";
    }
  }
  return {};
}

}  // namespace

ir::SymbolBindings bind_arguments(const Program& program, std::span<const ArgumentView> arguments) {
  ir::SymbolBindings bindings;
  bind_arguments(program, arguments, bindings);
  return bindings;
}

void bind_arguments(const Program& program, std::span<const ArgumentView> arguments,
                    ir::SymbolBindings& bindings) {
  if (arguments.size() != program.inputs.size()) {
    throw ShapeError(fmt::format("{} takes {} arguments, but {} were given", program.name,
                                 program.inputs.size(), arguments.size()));
  }
  bindings.clear();
  bool all_solved = true;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const passes::ProgramInput& input = program.inputs[i];
    const DeviceArray* const array = arguments[i].array;
    const DType dtype = array != nullptr ? array->type.dtype : arguments[i].scalar.dtype;
    if (dtype != input.type.dtype) {
      throw DTypeError(fmt::format("argument {} of {} is {}, but the program was compiled for {}",
                                   i, program.name, name_of(dtype), name_of(input.type.dtype)));
    }
    if (input.scalar != (array == nullptr))
      throw InternalError("a scalar argument for an array parameter, or the reverse");
    if (array != nullptr) all_solved &= bind_symbols(program, i, array->type, bindings);
  }
  if (!all_solved) bind_rest(program, arguments, bindings);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const DeviceArray* const array = arguments[i].array;
    const ir::Shape& expected = program.inputs[i].type.shape;
    if (array == nullptr || is_constant(expected)) continue;
    const bool known = all_solved || all_bound(expected, bindings);
    if (!known || evaluate(expected, bindings) != array->type.shape)
      mismatch(program, i, array->type);
  }
  check_facts(program, bindings);
}

// Sizes are evaluated, and code runs, only if all requirements hold.
void check_requirements(const Program& program, const ir::SymbolBindings& bindings,
                        const ir::Graph* graph) {
  for (const ir::Requirement& one : program.requirements) {
    if (const Dim both[] = {one.value, one.unless_zero}; !all_bound(both, bindings)) {
      throw ShapeError(
          fmt::format("{}: {} has a symbol that no argument's shape determines: use each symbol in "
                      "the shape of a parameter{}",
                      program.name, one.value.to_string(), place_of(one, graph)));
    }
    if (one.holds(bindings)) continue;
    std::string values;
    std::vector<ir::SymbolId> symbols;
    one.value.collect_symbols(symbols);
    for (const ir::SymbolId symbol : symbols) {
      values += fmt::format("{}{}={}", values.empty() ? "" : ", ", symbol_name(symbol),
                            Dim::symbol(symbol).evaluate(bindings));
    }
    one.raise(
        fmt::format("{} with {}: {}{}", program.name, values, one.text, place_of(one, graph)));
  }
}

std::int64_t count_blocks(const passes::KernelStep& step, const ir::SymbolBindings& bindings) {
  std::int64_t all = 1;
  for (const passes::GridExtent& extent : step.grid) {
    const std::int64_t elements = extent.elements.evaluate(bindings);
    const std::int64_t blocks = (elements + extent.per_block - 1) / extent.per_block;
    all *= extent.most > 0 ? std::min(blocks, extent.most) : blocks;
  }
  return all;
}

PreparedKernel prepare_kernel(const passes::KernelStep& step, const ir::SymbolBindings& bindings) {
  PreparedKernel kernel;
  kernel.blocks = count_blocks(step, bindings);
  for (const passes::Parameter& parameter : step.parameters) {
    if (parameter.kind == passes::Parameter::Kind::size)
      kernel.sizes.push_back(parameter.value.evaluate(bindings));
  }
  return kernel;
}

Prepared prepare(const Program& program, ir::SymbolBindings bindings, const ir::Graph* graph) {
  Prepared prepared;
  prepared.bindings = std::move(bindings);
  prepare_again(prepared, program, graph);
  return prepared;
}

namespace {

/// Evaluates the sizes of an output; true if they are not those of before.
bool size_output(Prepared& prepared, std::size_t i, const passes::ProgramOutput& output) {
  const ir::Type type{output.type.dtype, evaluate(output.type.shape, prepared.bindings)};
  if (prepared.output_labels[i] && prepared.output_shapes[i] == type.shape) return false;
  prepared.output_bytes[i] = ir::byte_count(type).constant();
  prepared.output_shapes[i] = type.shape;
  return true;
}

}  // namespace

void prepare_again(Prepared& prepared, const Program& program, const ir::Graph* graph) {
  const ir::SymbolBindings& bound = prepared.bindings;
  check_requirements(program, bound, graph);
  prepared.output_shapes.resize(program.outputs.size());
  prepared.output_bytes.resize(program.outputs.size());
  prepared.output_labels.resize(program.outputs.size());
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const passes::ProgramOutput& output = program.outputs[i];
    if (!size_output(prepared, i, output)) continue;
    prepared.output_labels[i] =
        label_of({output.type.dtype, prepared.output_shapes[i]}, program.name);
  }
  bool same = prepared.temporary_bytes.size() == program.temporaries.size();
  prepared.temporary_bytes.resize(program.temporaries.size());
  for (std::size_t i = 0; i < program.temporaries.size(); ++i) {
    const std::int64_t bytes = program.temporaries[i].bytes.evaluate(bound);
    same &= prepared.temporary_bytes[i] == bytes;
    prepared.temporary_bytes[i] = bytes;
  }
  if (!prepared.arena_label)
    prepared.arena_label = std::make_shared<const std::string>("temporaries of " + program.name);
  else if (same)
    return;
  prepared.arena = passes::plan_arena(program.temporaries, prepared.temporary_bytes);
}

}  // namespace heddle::runtime

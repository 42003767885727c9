#include "frontend/jit/extent_choices.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace heddle::frontend {

namespace {

using Input = CallState::Input;

/// The symbol of which the extent consists.
std::optional<ir::SymbolId> only_symbol(ir::Dim dim) {
  std::vector<ir::SymbolId> symbols;
  dim.collect_symbols(symbols);
  if (symbols.size() != 1 || !(dim == ir::Dim::symbol(symbols[0]))) return std::nullopt;
  return symbols[0];
}

bool contains(ir::Dim dim, ir::SymbolId symbol) {
  std::vector<ir::SymbolId> symbols;
  dim.collect_symbols(symbols);
  return std::ranges::find(symbols, symbol) != symbols.end();
}

bool all_known(ir::Dim dim, const ir::SymbolBindings& values) {
  std::vector<ir::SymbolId> symbols;
  dim.collect_symbols(symbols);
  return std::ranges::all_of(symbols, [&](ir::SymbolId symbol) {
    return std::ranges::find(values, symbol, &ir::SymbolBinding::symbol) != values.end();
  });
}

/// An extent that is linear in `symbol`, with `by` in its place.
ir::Dim replaced(ir::Dim dim, ir::SymbolId symbol, ir::Dim by) {
  const auto at = [&](std::int64_t value) {
    const ir::SymbolBinding binding{symbol, value};
    return dim.with_bound({&binding, 1});
  };
  return at(0) + (at(1) - at(0)) * by;
}

/// The extents that JitOptions::dynamic makes symbols, which resolve_types() has put into types.
void add_dynamic(const JitOptions& options, const CallState& call, ir::SymbolBindings& values) {
  std::size_t position = 0;
  for (const Input& input : call.inputs) {
    if (input.kind == Input::Kind::scalar) continue;
    const std::size_t array = position++;
    if (array >= options.dynamic.size() || input.kind != Input::Kind::array) continue;
    const SpecShape& dims = options.dynamic[array];
    for (std::size_t i = 0; i < dims.size() && i < input.node->shape.size(); ++i) {
      if (dims[i].symbol.empty() || !input.node->shape[i].is_constant()) continue;
      const std::optional<ir::SymbolId> symbol = only_symbol(named_extent(dims[i].symbol));
      if (symbol) values.push_back({*symbol, input.node->shape[i].constant()});
    }
  }
}

/// A symbol that no extent of the call has.
ir::SymbolId new_symbol(std::string name, const CallState& call) {
  const auto is_used = [&](ir::SymbolId symbol) {
    return std::ranges::any_of(call.inputs, [&](const Input& input) {
      return std::ranges::any_of(input.type.shape,
                                 [&](ir::Dim extent) { return contains(extent, symbol); });
    });
  };
  while (is_used(ir::intern_symbol(name))) name += '_';
  return ir::intern_symbol(name);
}

/// The value of a symbol that has one.
std::int64_t value_of(ir::SymbolId symbol, const ir::SymbolBindings& values) {
  return std::ranges::find(values, symbol, &ir::SymbolBinding::symbol)->value;
}

}  // namespace

std::optional<ir::SymbolBindings> ExtentChoices::values(const JitOptions& options,
                                                        const CallState& call) const {
  ir::SymbolBindings values;
  add_dynamic(options, call, values);
  for (const Step& step : steps_) {
    const std::int64_t rest = value_of(step.symbol, values) - step.by.evaluate(values);
    if (step.rest ? rest < 0 : rest != 0) return std::nullopt;
    if (step.rest) values.push_back({*step.rest, rest});
  }
  return values;
}

void ExtentChoices::take(Step step, CallState& call) {
  const ir::Dim by = step.rest ? step.by + ir::Dim::symbol(*step.rest) : step.by;
  for (Input& input : call.inputs) {
    for (ir::Dim& extent : input.type.shape) {
      if (contains(extent, step.symbol)) extent = replaced(extent, step.symbol, by);
    }
  }
  steps_.push_back(step);
}

bool ExtentChoices::decide(const OpenExtents& open, const JitOptions& options, CallState& call) {
  const std::optional<ir::SymbolBindings> known = values(options, call);
  if (!known || !all_known(open.first, *known) || !all_known(open.second, *known)) return false;
  const auto fix = [&](ir::Dim dim) {
    std::vector<ir::SymbolId> symbols;
    dim.collect_symbols(symbols);
    for (const ir::SymbolId symbol : symbols)
      take({symbol, ir::Dim(value_of(symbol, *known)), std::nullopt}, call);
  };
  ir::Dim larger = open.first, smaller = open.second;
  if (larger.evaluate(*known) < smaller.evaluate(*known)) std::swap(larger, smaller);
  const std::optional<ir::SymbolId> symbol = only_symbol(larger);
  if (open.only_order && symbol && !contains(smaller, *symbol)) {
    take({*symbol, smaller, new_symbol(fmt::format("{}_rest", ir::symbol_name(*symbol)), call)},
         call);
    return true;
  }
  fix(open.first);
  if (open.only_order) fix(open.second);
  return true;
}

bool ExtentChoices::hold(const JitOptions& options, const CallState& call) const {
  return steps_.empty() || values(options, call).has_value();
}

TracedFunction trace_call(const JitOptions& options, CallState& call, const TraceBody& body) {
  resolve_types(options, call);
  ExtentChoices choices;
  take_open_extents();
  while (true) {
    try {
      TracedFunction function = trace_function(options, call, body);
      function.extents = std::make_shared<const ExtentChoices>(std::move(choices));
      return function;
    } catch (...) {
      const std::optional<OpenExtents> open = take_open_extents();
      if (!open || !choices.decide(*open, options, call)) throw;
    }
  }
}

}  // namespace heddle::frontend

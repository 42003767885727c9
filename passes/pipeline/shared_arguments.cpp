#include "passes/pipeline/shared_arguments.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "heddle/error.h"

#include "passes/plan/launch.h"

namespace heddle::passes {

namespace {

/// Marks Instruction::scalar as the number of a constant instruction.
constexpr std::uint32_t constant_mark = std::uint32_t{1} << 31;

}  // namespace

ir::SymbolId NumberSymbols::at(std::size_t number) {
  while (symbols_.size() <= number) {
    const ir::SymbolId symbol = ir::intern_symbol(fmt::format("number{}", tried_++));
    if (std::ranges::find(taken_, symbol) != taken_.end()) continue;
    numbers_[symbol] = symbols_.size();
    symbols_.push_back(symbol);
  }
  return symbols_[number];
}

std::optional<std::size_t> NumberSymbols::number_of(ir::SymbolId symbol) const {
  const auto found = numbers_.find(symbol);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

void pass_constant(KernelPlan& plan, int constant) {
  Instruction& one = plan.body[static_cast<std::size_t>(constant)];
  one.kind = Instruction::Kind::scalar;
  one.scalar = constant_mark | static_cast<std::uint32_t>(constant);
}

bool KernelScalar::is_constant() const { return (id & constant_mark) != 0; }

std::vector<KernelScalar> scalars_of(const KernelPlan& plan) {
  std::vector<KernelScalar> scalars;
  for (const std::uint32_t id : kernel_scalars(plan)) {
    const auto user = std::ranges::find_if(plan.body, [&](const Instruction& one) {
      return one.kind == Instruction::Kind::scalar && one.scalar == id;
    });
    scalars.push_back({user->dtype, id, user->bits});
  }
  return scalars;
}

SharedArguments::SharedArguments(std::span<const Occurrence> group, NumberSymbols& symbols,
                                 bool wide)
    : group_(group), symbols_(symbols), wide_(wide) {
  for (std::size_t i = 0; i < group[0].numbers.size(); ++i) {
    ir::Row& row = rows_.emplace_back();
    const bool constant = std::ranges::all_of(
        group, [&](const Occurrence& one) { return one.numbers[i].value.is_constant(); });
    for (const Occurrence& one : group) {
      if (constant) row.push_back(one.numbers[i].value.constant());
    }
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) dims_.push_back(expression(i));
}

bool SharedArguments::are_equal(std::size_t number, std::size_t other) const {
  return std::ranges::all_of(group_, [&](const Occurrence& one) {
    return one.numbers[number].value == one.numbers[other].value;
  });
}

Dim SharedArguments::expression(std::size_t number) {
  const ir::Row& row = rows_[number];
  if (!row.empty() && ir::same_in_all(row)) return row.front();
  const PlanNumber& first = group_[0].numbers[number];
  for (const Base& base : bases_) {
    const Dim dim = dims_[base.number];
    if (are_equal(base.number, number) && dim.divisible_by(first.multiple)) return dim;
  }
  // The product of extents must not have larger terms than its value.
  for (std::size_t i = 0; i < bases_.size() && !first.extent && !row.empty(); ++i) {
    const Base& base = bases_[i];
    if (rows_[base.number].empty()) continue;
    const auto line = ir::line_through(row, rows_[base.number]);
    if (!line || !is_small(*line, rows_[base.number])) continue;
    const Dim dim = Dim(line->factor) * dims_[base.number] + Dim(line->rest);
    if (dim.divisible_by(first.multiple)) return dim;
  }
  // Symbols are not negative.
  const std::int64_t start = row.empty() ? 0 : std::min<std::int64_t>(std::ranges::min(row), 0);
  bases_.push_back({number, start, first.multiple});
  return Dim(start) + Dim(first.multiple) * Dim::symbol(symbols_.at(bases_.size() - 1));
}

/// Whether the terms of the expression fit the kernel's type of indices.
bool SharedArguments::is_small(const ir::Line& line, const ir::Row& base) const {
  const std::int64_t most =
      wide_ ? std::numeric_limits<std::int64_t>::max() / 4 : std::int64_t{1} << 20;
  const auto fits = [&](std::int64_t value) { return -most < value && value < most; };
  return fits(line.rest) && std::ranges::all_of(base, [&](std::int64_t value) {
           std::int64_t product = 0;
           return !__builtin_mul_overflow(value, line.factor, &product) && fits(product);
         });
}

bool SharedArguments::is_same(std::size_t scalar) const {
  return std::ranges::all_of(group_, [&](const Occurrence& one) {
    return one.scalars[scalar].bits == group_[0].scalars[scalar].bits;
  });
}

/// The position of a scalar among those of the group's first kernel.
std::size_t SharedArguments::position_of(std::uint32_t scalar) const {
  const auto found = std::ranges::find(group_[0].scalars, scalar, &KernelScalar::id);
  return static_cast<std::size_t>(found - group_[0].scalars.begin());
}

KernelPlan SharedArguments::plan(const KernelPlan& first, IndexSpace& space) const {
  std::vector<std::optional<Dim>> wanted;  // in the order of with_numbers
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    const std::size_t visit = group_[0].visits[i];
    if (wanted.size() <= visit) wanted.resize(visit + 1);
    wanted[visit] = dims_[i];
  }
  std::size_t visit = 0;
  KernelPlan plan = *with_numbers(first, space, [&](const PlanNumber& number) {
    const std::size_t i = visit++;
    return i < wanted.size() ? wanted[i].value_or(number.value) : number.value;
  });
  for (std::size_t i = 0; i < group_[0].scalars.size(); ++i) {
    const KernelScalar& scalar = group_[0].scalars[i];
    if (!scalar.is_constant() || is_same(i)) continue;
    pass_constant(plan, static_cast<int>(scalar.id & ~constant_mark));
  }
  return plan;
}

/// What a kernel passes for a symbol of the shared plan: a number, or a symbol of its own in place
/// of that of the group's first kernel.
Dim SharedArguments::size_argument(const Occurrence& one, ir::SymbolId symbol) const {
  if (const auto number = symbols_.number_of(symbol)) {
    const Base& base = bases_[*number];
    return (one.numbers[base.number].value - Dim(base.start)).divided_by(base.multiple);
  }
  const auto found = std::ranges::find(group_[0].symbols, symbol);
  if (found == group_[0].symbols.end())
    throw InternalError("a shared kernel has a symbol that its first kernel does not have");
  return Dim::symbol(one.symbols[static_cast<std::size_t>(found - group_[0].symbols.begin())]);
}

void SharedArguments::pass(const Occurrence& one, const KernelPlan& shared) const {
  std::vector<Parameter>& parameters = one.step->parameters;
  std::erase_if(parameters, [](const Parameter& parameter) {
    return parameter.kind != Parameter::Kind::buffer;
  });
  for (const ir::SymbolId symbol : kernel_symbols(shared)) {
    Parameter& parameter = parameters.emplace_back();
    parameter.kind = Parameter::Kind::size;
    parameter.value = size_argument(one, symbol);
  }
  for (const std::uint32_t id : kernel_scalars(shared)) {
    const KernelScalar& scalar = one.scalars[position_of(id)];
    Parameter& parameter = parameters.emplace_back();
    parameter.kind = scalar.is_constant() ? Parameter::Kind::constant : Parameter::Kind::scalar;
    parameter.dtype = scalar.dtype;
    if (scalar.is_constant()) {
      parameter.bits = scalar.bits;
    } else {
      parameter.scalar = scalar.id;
    }
  }
}

}  // namespace heddle::passes

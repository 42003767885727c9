#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/graph/number_rows.h"
#include "ir/types/bits.h"
#include "passes/plan/kernel_plan.h"
#include "passes/plan/numbers.h"
#include "passes/program/step.h"

namespace heddle::passes {

/// Makes and recognises the symbols that stand for numbers of a plan.
class NumberSymbols {
 public:
  /// `taken`: the program's own symbols.
  explicit NumberSymbols(std::vector<ir::SymbolId> taken) : taken_(std::move(taken)) {}
  ir::SymbolId at(std::size_t number);
  std::optional<std::size_t> number_of(ir::SymbolId symbol) const;

 private:
  std::vector<ir::SymbolId> taken_, symbols_;
  std::size_t tried_ = 0;
  std::map<ir::SymbolId, std::size_t> numbers_;
};

/// Turns a constant of a plan into a scalar argument.
void pass_constant(KernelPlan& plan, int constant);

/// A scalar argument of a kernel: an input of the program, or a constant of the plan.
struct KernelScalar {
  DType dtype = DType::f32;
  std::uint32_t id = 0;  ///< Instruction::scalar
  ir::ElementBits bits;  ///< of a constant
  bool is_constant() const;
  friend bool operator==(const KernelScalar&, const KernelScalar&) = default;
};
std::vector<KernelScalar> scalars_of(const KernelPlan& plan);

/// A kernel that may be shared, and what it would take as arguments if its text had no numbers.
/// Kernels of equal texts have these in the same order.
struct Occurrence {
  std::uint32_t kernel = 0;
  KernelStep* step = nullptr;
  std::vector<PlanNumber> numbers;
  std::vector<std::size_t> visits;    ///< the position of each number in the order of with_numbers
  std::vector<ir::SymbolId> symbols;  ///< of the program, in what is none of these numbers
  std::vector<KernelScalar> scalars;
};

/// The arguments of a kernel that a group of kernels shares. What is equal in all of them is no
/// argument. Numbers that are a line through another one in all of them (start and stop of a slice)
/// are computed from it.
class SharedArguments {
 public:
  /// `wide`: the kernel computes addresses with 64 bits.
  SharedArguments(std::span<const Occurrence> group, NumberSymbols& symbols, bool wide);

  /// The plan of the group's first kernel, with arguments. `space` must be empty.
  KernelPlan plan(const KernelPlan& first, IndexSpace& space) const;
  /// Replaces the arguments of a kernel's step after its arrays by those of the shared plan.
  void pass(const Occurrence& one, const KernelPlan& shared) const;

 private:
  /// An argument: (number - start) / multiple.
  struct Base {
    std::size_t number;  ///< position in Occurrence::numbers
    std::int64_t start, multiple;
  };

  Dim expression(std::size_t number);
  bool are_equal(std::size_t number, std::size_t other) const;
  bool is_small(const ir::Line& line, const ir::Row& base) const;
  bool is_same(std::size_t scalar) const;
  std::size_t position_of(std::uint32_t scalar) const;
  Dim size_argument(const Occurrence& one, ir::SymbolId symbol) const;

  std::span<const Occurrence> group_;
  NumberSymbols& symbols_;
  bool wide_;
  std::vector<ir::Row> rows_;  ///< by number; empty if it is not a constant everywhere
  std::vector<Dim> dims_;      ///< by number
  std::vector<Base> bases_;
};

}  // namespace heddle::passes

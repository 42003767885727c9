#pragma once

#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/common/kernel_source.h"
#include "codegen/common/sections.h"
#include "codegen/common/writer.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::codegen {

/// What both printers share: how indices, constants and instructions are spelled, and which library
/// sections that takes. Loops are variables i0, i1 ... (outer) and r0, r1 ... (inner); instruction
/// k is v<k>, operand k is p<k>; symbols n0, n1 ..., scalars s0, s1 ..., and quotients and
/// remainders of indices q0, q1 ... are numbered in order of first use.
class Body {
 public:
  Body(const passes::KernelPlan& plan, Writer& writer);

  const passes::KernelPlan& plan() const { return plan_; }
  std::string extent(const passes::Dim& dim) const;
  /// Declares the quotients and remainders that it takes in the writer's open block, once each.
  std::string index(const passes::Index& index);
  std::string loop_variable(passes::AtomId loop) const;
  /// "float", "op::half", or the state type of the reduction whose partials the operand holds.
  std::string operand_type(const passes::KernelOperand& operand) const;
  std::string type(DType dtype) const;
  /// The type of the variable of an instruction: that of its dtype, or "op::Divisor<float>".
  std::string variable_type(int instruction) const;
  /// Quotients, inverses and roots of elements are made quickly, which sets the variable `rare`
  /// where that may be inexact.
  bool quick = false;
  /// Whether there is a quick way to do it, but by a divisor.
  bool has_quick_way(const passes::Instruction& instruction) const;
  /// What an f16 is called in the library, which is its section's name too.
  const char* half = "half";
  /// Whose kernel it is: the sections of the other side are left out.
  Side side = Side::device;
  /// The same, of a dtype that no operand or instruction has.
  std::string type_with_section(DType dtype);
  /// "2.5f", "op::half{0x3c00}", "static_cast<unsigned char>(7u)", "op::complex64(1.0f, 0.0f)";
  /// needs what its spelling needs.
  std::string constant(DType dtype, ir::ElementBits bits);

  /// "const float v3 = op::add(v1, v2);" with `load` spelling loads and, of what is searched, the
  /// element `i`.
  using LoadText = std::function<std::string(const passes::Instruction&)>;
  void declare(int instruction, const LoadText& load);

  /// Instructions whose variable is in scope.
  std::vector<bool> declared;
  /// The instructions that the roots need and that are not in scope, in order; those of the inner
  /// loops only, when `element_only`.
  std::vector<int> needed_for(const std::vector<int>& roots, bool element_only) const;
  /// The instructions in scope that the roots, and what they need beside these, use.
  std::vector<int> declared_for(const std::vector<int>& roots) const;
  /// The instructions that belong to the row, are known before `stage`, and are needed from then
  /// on.
  std::vector<int> row_values(int stage) const;

  /// "using R0 = op::reduce::sum<float>;" for every reduction and scan.
  void declare_reductions();
  /// "R0::lift(v3, r)": the state of the element `index` of a reduction or scan.
  std::string lift(std::size_t reduction, const std::string& index) const;
  /// Names outer or inner loops' variables from the flattened iteration `flat`.
  void decode(const std::vector<passes::Loop>& loops, const std::string& flat);

  /// "last_tiles" and "across_tiles": how many tiles cover the two tiled loops of a tiles mapping.
  void count_tiles();

  void need(const std::string& section) { sections_.insert(section); }
  /// The finished source: sections in order, the name with its hash in place of NAME.
  KernelSource finish(const std::string& text, const std::vector<std::string>& always) const;

  /// Variables that stand for extents of indexed axes; those without one are spelled out.
  std::unordered_map<std::string, std::string> axis_names;
  std::vector<ir::SymbolId> symbols;
  std::vector<std::uint32_t> scalars;
  std::vector<DType> scalar_dtypes;

 private:
  std::string real_constant(DType dtype, std::uint64_t bits);
  std::string value(const passes::Instruction& instruction, const LoadText& load);
  std::string term(const passes::IndexTerm& term);
  std::string atom(passes::AtomId id);

  const passes::KernelPlan& plan_;
  Writer& writer_;
  std::unordered_map<std::uint32_t, std::string> loop_names_;
  std::unordered_map<std::uint32_t, std::string> quotient_names_;
  std::set<std::string> sections_;
};

/// Where the kernel's name stands in the text until its hash is known.
inline constexpr const char* name_placeholder = "KERNEL_NAME";

}  // namespace heddle::codegen

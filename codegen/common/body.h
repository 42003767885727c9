#pragma once

#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/common/kernel_source.h"
#include "codegen/common/scalar_code.h"
#include "codegen/common/sections.h"
#include "codegen/common/user_functions.h"
#include "codegen/common/writer.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::codegen {

/// Code shared by both printers: the text of indices, constants and instructions, and the library
/// sections that it needs. Loop variables are i0, i1 ... (outer) and r0, r1 ... (inner);
/// instruction k is v<k>, operand k is p<k>. Symbols n0, n1 ..., scalars s0, s1 ..., and quotients
/// and remainders of indices q0, q1 ... are numbered in order of first use.
class Body {
 public:
  Body(const passes::KernelPlan& plan, Writer& writer);

  const passes::KernelPlan& plan() const { return plan_; }
  std::string extent(const passes::Dim& dim) const;
  /// The text of an index. Declares the quotients and remainders that it needs, each once, in the
  /// writer's open block.
  std::string index(const passes::Index& index);
  std::string loop_variable(passes::AtomId loop) const;
  /// "float", "op::half", or the state type of the reduction whose partials the operand holds.
  std::string operand_type(const passes::KernelOperand& operand) const;
  std::string type(DType dtype) const;
  /// The type of the variable of an instruction: that of its dtype, or "op::Divisor<float>".
  std::string variable_type(int instruction) const;
  /// Use fast approximations for quotients, inverses and roots of elements. They set the variable
  /// `rare` if a result may be inexact.
  bool quick = false;
  /// Whether positions and bounds branch: faster in loops that are not vectorised.
  bool branches = false;
  /// Whether truth values are computed four at a time (KernelPlan::packs_truths).
  bool packs_truths = false;
  /// Whether there is a fast approximation for the instruction; divisions by a divisor object do
  /// not count.
  bool has_quick_way(const passes::Instruction& instruction) const;
  /// The library's name for f16, which is also the name of its section.
  const char* half = "half";
  /// Whose kernel is printed: sections for the other side are left out.
  Side side = Side::device;
  /// Like type(), for a dtype that no operand or instruction has; also requests its section.
  std::string type_with_section(DType dtype);
  /// "2.5f", "op::half{0x3c00}", "static_cast<unsigned char>(7u)", "op::complex64(1.0f, 0.0f)";
  /// requests the sections that the text needs.
  std::string constant(DType dtype, ir::ElementBits bits);

  /// Declares an instruction's variable: "const float v3 = op::add(v1, v2);". `load` prints loads
  /// and, for a search, the load of element `i`. For an element loop: prints the whole loop.
  using LoadText = std::function<std::string(int)>;
  void declare(int instruction, const LoadText& load);

  /// "carry0_1": the variable of a carry of an element loop.
  static std::string carry(int loop, std::size_t carry);
  /// If the carries of the outermost element loops are arrays of lanes: the index, "i0 - part".
  std::string lane;
  /// Prints the store of an instruction of kind `put`.
  std::function<void(const passes::Instruction&)> put;
  /// Opens the loop over the steps of an element loop that has a length.
  void open_steps(int loop);

  /// Instructions whose variable is in scope.
  std::vector<bool> declared;
  /// The instructions that the roots need and that are not in scope, in order. With `element_only`,
  /// only instructions of the inner loops.
  std::vector<int> needed_for(const std::vector<int>& roots, bool element_only) const;
  /// The instructions in scope that are used by the roots, or by the out-of-scope instructions that
  /// these need.
  std::vector<int> declared_for(const std::vector<int>& roots) const;
  /// The instructions of the row that can be computed before `stage` and are needed from then on.
  std::vector<int> row_values(int stage) const;

  /// "using R0 = op::reduce::sum<float>;" for every reduction and scan.
  void declare_reductions();
  /// "R0::lift(v3, r)": the state of the element `index` of a reduction or scan.
  std::string lift(std::size_t reduction, const std::string& index) const;
  /// Declares the variables of the outer or inner loops, computed from the flattened iteration
  /// `flat`. `last` is appended to the name of the last loop's variable.
  void decode(const std::vector<passes::Loop>& loops, const std::string& flat,
              const std::string& last = "");

  /// Prints the constants of the routines of an items mapping, as arrays with the qualifiers
  /// `storage`. Returns their names, by routine.
  std::vector<std::vector<std::string>> item_tables(const char* storage);
  /// The iterations of `loops`, whose extents are constants.
  static std::int64_t constant_iterations(const std::vector<passes::Loop>& loops);
  /// The instructions that the stores of a phase need.
  std::vector<int> needed_for(const passes::ItemPhase& phase) const;

  /// Declares "last_tiles" and "across_tiles": the numbers of tiles that cover the two tiled loops
  /// of a tiles mapping.
  void count_tiles();

  /// Requests the sections of an op on operands of a dtype.
  void need(ir::Op op, DType operand) {
    for (const std::string& section : sections_of(op, operand)) need(section);
  }
  void need(const std::string& section) { sections_.insert(section); }
  /// The finished source: sections in order, and the name with its hash in place of the
  /// placeholder.
  KernelSource finish(const std::string& text, const std::vector<std::string>& always) const;

  /// Variables that hold extents of indexed axes. Extents without a variable are printed inline.
  std::unordered_map<std::string, std::string> axis_names;
  std::vector<ir::SymbolId> symbols;
  std::vector<std::uint32_t> scalars;
  std::vector<DType> scalar_dtypes;

 private:
  std::string real_constant(DType dtype, std::uint64_t bits);
  std::string value(int number, const LoadText& load);
  /// Prints an element loop, whose carries stay in scope.
  void element_loop(int number, const LoadText& load);
  std::string raw_array(const passes::Instruction& array);
  std::string user_call(const passes::Instruction& call);
  std::string term(const passes::IndexTerm& term);
  std::string atom(passes::AtomId id);
  bool is_wrapped(const passes::Atom& remainder) const;
  /// Whether the kernel's index type holds positions along an axis of this extent.
  bool fits_index(const passes::Dim& extent) const;

  const passes::KernelPlan& plan_;
  Writer& writer_;
  std::unordered_map<std::uint32_t, std::string> loop_names_;
  std::unordered_map<std::uint32_t, std::string> quotient_names_;
  std::set<std::string> sections_;
  UserFunctions functions_;
};

/// Placeholder for the kernel's name in the text until its hash is known.
inline constexpr const char* name_placeholder = "KERNEL_NAME";

}  // namespace heddle::codegen

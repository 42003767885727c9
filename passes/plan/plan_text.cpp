#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/types/literal.h"
#include "passes/plan/item_vectors.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

namespace {

class PlanText {
 public:
  explicit PlanText(const KernelPlan& plan) : plan_(plan) {}

  std::string run() {
    text_ = fmt::format("{} {} {}{}{}\n", plan_.family, plan_.name, mapping(), details(), table());
    loops("outer", plan_.outer);
    loops("inner", plan_.inner);
    if (plan_.items) {
      for (const ItemPhase& phase : plan_.items->phases) this->phase(phase);
    }
    for (std::size_t i = 0; i < plan_.operands.size(); ++i) {
      const KernelOperand& operand = plan_.operands[i];
      text_ += fmt::format("  p{}: {} {}{}{}{}{}\n", i, name_of(operand.dtype),
                           operand.written ? "out" : "in", operand.aligned ? "" : " unaligned",
                           operand.aliased ? " aliased" : "", operand.streamed ? " streamed" : "",
                           scratch(operand));
    }
    for (std::size_t i = 0; i < plan_.body.size(); ++i) instruction(i);
    for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
      const Reduction& reduction = plan_.reductions[i];
      text_ += fmt::format(
          "  t{} = {}{} {}{}{} stage {}\n", i, ir::info(reduction.op).name, about(reduction),
          reduction.value >= 0 ? fmt::format("v{}", reduction.value)
                               : fmt::format("p{}", reduction.partials),
          reduction.begins >= 0 ? fmt::format(", v{}", reduction.begins) : "",
          reduction.first >= 0 ? fmt::format(" over v{} .. v{}", reduction.first, reduction.last)
                               : "",
          reduction.stage);
    }
    for (const Store& store : plan_.stores) {
      text_ += fmt::format("  store p{}[{}] = v{}{}\n", store.operand, index(store.address),
                           store.value, store.element ? fmt::format(" stage {}", store.stage) : "");
    }
    return text_;
  }

 private:
  void phase(const ItemPhase& phase) {
    if (phase.routine) {
      text_ += fmt::format("  phase {} p{}\n", phase.routine->function,
                           fmt::join(phase.routine->arrays, " p"));
      return;
    }
    const int vector = vector_of_phase(plan_, phase);
    text_ += fmt::format("  phase stores {}{}{}\n", fmt::join(phase.stores, " "),
                         phase.across   ? " across items"
                         : phase.direct ? " direct"
                                        : "",
                         vector > 1 ? fmt::format(" vector={}", vector) : "");
    loops("batch", phase.batch);
    loops("within", phase.loops);
  }

  std::string mapping() {
    if (plan_.sort) {
      static constexpr const char* kind_names[] = {"tiles", "merge", "count", "scan", "scatter"};
      return fmt::format("{} items={} threads={} i{}",
                         kind_names[static_cast<std::size_t>(plan_.sort->kind)], plan_.sort->items,
                         plan_.threads, plan_.sort->indices ? plan_.sort->index_bits : 0);
    }
    if (plan_.attention) {
      const AttentionKernel& attention = *plan_.attention;
      return fmt::format(
          "attention depth={} width={} scale={} stages={}{}{} threads={} i{}", attention.depth,
          attention.width, attention.scale, attention.stages,
          attention.begin ? fmt::format(" from key {}", index(*attention.begin)) : "",
          attention.end ? fmt::format(" to key {}", index(*attention.end)) : "", plan_.threads,
          plan_.index_bits);
    }
    if (plan_.decides) return fmt::format("decides by {}", name_of(*plan_.decides));
    switch (plan_.mapping) {
      case Mapping::elements:
        return fmt::format(
            "elements vector={}{}{} {} threads={} i{}", plan_.vector,
            plan_.packs_truths ? " in words" : "",
            plan_.row_loops > 0 ? fmt::format(" over rows of {}", plan_.row_loops) : "",
            plan_.held > 0 ? fmt::format("held={} along {}", plan_.held, plan_.held_loop)
                           : fmt::format("unroll={}", plan_.unroll),
            plan_.threads, plan_.index_bits);
      case Mapping::tiles:
        return fmt::format("tiles along {} edge={} vector={} threads={} i{}", plan_.tile_loop,
                           plan_.tile_across == plan_.tile_last
                               ? fmt::format("{}", plan_.tile_last)
                               : fmt::format("{}x{}", plan_.tile_across, plan_.tile_last),
                           plan_.vector, plan_.threads, plan_.index_bits);
      case Mapping::rows:
        return fmt::format("rows vector={}{} lanes={} threads={} held={} {}{}{} i{}", plan_.vector,
                           plan_.skewed < 0 ? "" : fmt::format(" aligned as v{}", plan_.skewed),
                           plan_.threads_per_row, plan_.threads, plan_.held, parts(), folds(),
                           plan_.long_row > 0 ? fmt::format(" long={}", plan_.long_row) : "",
                           plan_.index_bits);
      case Mapping::scan_rows:
      case Mapping::scan_columns:
        return scan_mapping();
      case Mapping::items:
        return fmt::format(
            "items per_block={}{}{} lanes={} threads={} bytes={} i{}", plan_.items->per_block,
            plan_.items->parts > 1 ? fmt::format(" parts={}", plan_.items->parts) : "",
            plan_.items->interleaved ? " interleaved" : "", plan_.threads_per_row, plan_.threads,
            plan_.items->bytes, plan_.index_bits);
      case Mapping::columns:
        break;
    }
    return fmt::format("columns vector={} columns={} threads={} {}{}{} i{}", plan_.vector,
                       plan_.threads_per_row, plan_.threads,
                       plan_.held > 0 ? fmt::format("held={} ", plan_.held) : "", parts(), folds(),
                       plan_.index_bits);
  }

  /// The details that decide_details() chose.
  std::string details() const {
    std::string text, holds, keeps, inverts;
    for (std::size_t i = 0; i < plan_.body.size(); ++i) {
      const bool is_load = plan_.body[i].kind == Instruction::Kind::load;
      if (plan_.body[i].held && is_load) holds += fmt::format(" p{}", plan_.body[i].operand);
      if (plan_.body[i].held && !is_load) keeps += fmt::format(" v{}", i);
      if (plan_.body[i].divisor) inverts += fmt::format(" v{}", i);
    }
    if (plan_.pass_unroll > 1) text += fmt::format(", unroll={}", plan_.pass_unroll);
    if (!holds.empty()) text += ", holds" + holds;
    if (!keeps.empty()) text += ", keeps" + keeps;
    if (!inverts.empty()) text += ", inverts" + inverts;
    for (const HostPass& pass : plan_.host_passes) text += host_pass(pass);
    return text;
  }

  std::string host_pass(const HostPass& pass) const {
    std::string text, strips;
    if (!pass.reductions.empty()) text += ", pass";
    for (const int i : pass.reductions) text += fmt::format(" t{}", i);
    if (!pass.reductions.empty() && plan_.mapping == Mapping::columns) {
      text += fmt::format(" rows={}", pass.rows_at_once);
    } else if (!pass.reductions.empty()) {
      text += pass.states == 1  ? " in sequence"
              : pass.states > 0 ? fmt::format(" states={}", pass.states)
                                : " states by length";
    }
    for (const int i : pass.strip_loads) strips += fmt::format(" p{}", plan_.body[i].operand);
    for (const int i : pass.strip_stores) strips += fmt::format(" p{}", plan_.stores[i].operand);
    return strips.empty() ? text : text + ", strips" + strips;
  }

  std::string table() const {
    return plan_.table_rows > 0 ? fmt::format(", a table of {} launches", plan_.table_rows) : "";
  }

  std::string parts() const {
    if (plan_.cluster > 1) return fmt::format("cluster={}", plan_.cluster);
    if (plan_.parts_of) return fmt::format("split=1 over parts of {}", plan_.parts_of->to_string());
    if (plan_.least_part > 0)
      return fmt::format("split<={} of at least {}", plan_.split, plan_.least_part);
    return fmt::format("split={}", plan_.split);
  }

  std::string folds() const {
    if (plan_.folding.steps == 0) return "";
    return fmt::format(" {}={}", plan_.folding.compensated ? "fold" : "add", plan_.folding.steps);
  }

  std::string scan_mapping() const {
    const bool rows = plan_.mapping == Mapping::scan_rows;
    return fmt::format("scan along {} vector={} {}={} threads={} held={}{} i{}",
                       rows ? "rows" : "columns", plan_.vector, rows ? "lanes" : "columns",
                       plan_.threads_per_row, plan_.threads, plan_.held,
                       plan_.look_back   ? " in tiles"
                       : plan_.split > 1 ? fmt::format(" split={}", plan_.split)
                                         : "",
                       plan_.index_bits);
  }

  static const char* scratch(const KernelOperand& operand) {
    return operand.partials < 0 ? "" : operand.flags ? " flags" : " partials";
  }

  void loops(const char* kind, const std::vector<Loop>& loops) {
    text_ += fmt::format("  {}:", kind);
    for (const Loop& loop : loops) {
      const std::string name = fmt::format("{}{}", kind[0], loops_++);
      names_.emplace(loop.atom, name);
      text_ += fmt::format(" {}<{}", name, loop.extent.to_string());
    }
    text_ += '\n';
  }

  /// A quotient or remainder is printed on its own line, before its first use.
  std::string atom(AtomId id) {
    if (const auto found = names_.find(id); found != names_.end()) return found->second;
    const Atom& atom = plan_.space->atom(id);
    const std::string numerator = index(atom.numerator);
    std::string name = fmt::format("q{}", names_.size() - loops_);
    text_ += fmt::format("  {} = ({}) {} {}\n", name, numerator,
                         atom.kind == Atom::Kind::quotient ? '/' : '%', atom.divisor.to_string());
    return names_[id] = std::move(name);
  }

  static const char* about(const Reduction& reduction) {
    if (reduction.about == SumAbout::nothing) return "";
    return reduction.compensated ? " of exponentials, compensated, of" : " of exponentials of";
  }

  std::string index(const Index& index) {
    std::string text;
    for (const IndexTerm& term : index.terms) {
      text += text.empty() ? "" : " + ";
      text += term.coefficient == Dim(1)
                  ? atom(term.atom)
                  : fmt::format("{}*{}", term.coefficient.to_string(), atom(term.atom));
    }
    if (text.empty()) return index.offset.to_string();
    return index.offset == Dim(0) ? text : text + " + " + index.offset.to_string();
  }

  void instruction(std::size_t i) {
    const Instruction& one = plan_.body[i];
    std::string arguments;
    for (const int argument : one.arguments) arguments += fmt::format(" v{}", argument);
    std::string what;
    switch (one.kind) {
      case Instruction::Kind::load:
        what = fmt::format("load p{}[{}]{}", one.operand, index(one.address),
                           one.guarded ? fmt::format(" if v{}", one.arguments[0]) : "");
        if (one.shifted_from >= 0)
          what += fmt::format(", v{} shifted by {}", one.shifted_from, one.shift);
        if (one.shifted_rest >= 0) what += fmt::format(", the rest v{}", one.shifted_rest);
        break;
      case Instruction::Kind::constant:
        what = "constant " + ir::literal_text(one.dtype, one.bits);
        break;
      case Instruction::Kind::scalar:
        what = fmt::format("scalar {}", one.scalar);
        break;
      case Instruction::Kind::index:
        what = "index " + index(one.address);
        break;
      case Instruction::Kind::within:
        what = fmt::format("{} in [{}, {}) step {}", index(one.address), one.begin.to_string(),
                           one.end.to_string(), one.step.to_string());
        break;
      case Instruction::Kind::apply:
        what = std::string(ir::info(one.op).name) + arguments;
        break;
      case Instruction::Kind::cast:
        what = "cast" + arguments;
        break;
      case Instruction::Kind::bound:
        what = fmt::format("bound{} of {}", arguments, one.end.to_string());
        break;
      case Instruction::Kind::position:
      case Instruction::Kind::inside:
        what = fmt::format("{}{} of {}",
                           one.kind == Instruction::Kind::position ? "position" : "inside",
                           arguments, one.end.to_string());
        break;
      case Instruction::Kind::search:
        what = fmt::format("{} p{}[0:{}]{}", ir::info(one.op).name, one.operand,
                           one.end.to_string(), arguments);
        break;
      case Instruction::Kind::array:
        what = fmt::format("p{} as {}", one.operand, to_string(one.extents));
        break;
      case Instruction::Kind::user:
        what = one.function->get<std::string>("name") + arguments;
        break;
      case Instruction::Kind::reduced:
      case Instruction::Kind::scanned:
        what = fmt::format("{}t{}", one.part == StatePart::reference ? "reference of " : "",
                           one.reduction);
        break;
      case Instruction::Kind::loop:
        what = loop(plan_.element_loops[static_cast<std::size_t>(one.loop)]);
        break;
      case Instruction::Kind::looped:
      case Instruction::Kind::carried:
        what = fmt::format("loop {} {} {}", one.loop,
                           one.kind == Instruction::Kind::looped ? "result" : "carry", one.carry);
        break;
      case Instruction::Kind::step:
        what = fmt::format("loop {} step", one.loop);
        break;
      case Instruction::Kind::put:
        what = fmt::format("put p{}[{}]{}", one.operand, index(one.address), arguments);
        break;
      case Instruction::Kind::score:
        what = "score";
        break;
    }
    text_ += fmt::format("  v{} = {} : {}{}\n", i, what, name_of(one.dtype),
                         one.step_of < 0 ? "" : fmt::format(" in loop {}", one.step_of));
  }

  std::string loop(const ElementLoop& loop) const {
    const auto values = [](const std::vector<int>& list) {
      return fmt::format("v{}", fmt::join(list, " v"));
    };
    const std::string until = loop.length ? fmt::format("{} steps{}", loop.length->to_string(),
                                                        loop.reverse ? ", reversed" : "")
                                          : fmt::format("while v{}", loop.condition);
    return fmt::format("loop {}: {} -> {}, {}", plan_.body[loop.instruction].loop,
                       values(loop.initial), values(loop.next), until);
  }

  const KernelPlan& plan_;
  std::string text_;
  std::map<AtomId, std::string> names_;
  std::size_t loops_ = 0;
};

}  // namespace

std::string to_string(const KernelPlan& plan) { return PlanText(plan).run(); }

}  // namespace heddle::passes

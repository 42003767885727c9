#include "codegen/common/body.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "heddle/error.h"

#include "codegen/common/scalar_code.h"
#include "codegen/common/sections.h"
#include "ir/base/hash.h"
#include "ir/calls/calls.h"
#include "ir/calls/user_map.h"
#include "passes/plan/analyze.h"
#include "passes/plan/launch.h"

namespace heddle::codegen {

using passes::Dim;
using passes::Index;
using passes::Instruction;
using passes::Loop;

namespace {

std::string integer(std::int64_t value) {
  const bool narrow = value >= std::numeric_limits<std::int32_t>::min() &&
                      value <= std::numeric_limits<std::int32_t>::max();
  return fmt::format("{}{}", value, narrow ? "" : "ll");
}

template <class Float>
std::string decimal(Float value, const char* suffix) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + suffix;
}

}  // namespace

Body::Body(const passes::KernelPlan& plan, Writer& writer)
    : declared(plan.body.size()),
      symbols(passes::kernel_symbols(plan)),
      scalars(passes::kernel_scalars(plan)),
      plan_(plan),
      writer_(writer) {
  for (std::size_t i = 0; i < plan.outer.size(); ++i) {
    loop_names_[static_cast<std::uint32_t>(plan.outer[i].atom)] = fmt::format("i{}", i);
  }
  for (std::size_t i = 0; i < plan.inner.size(); ++i) {
    loop_names_[static_cast<std::uint32_t>(plan.inner[i].atom)] = fmt::format("r{}", i);
  }
  for (std::size_t i = 0; i < plan.element_loops.size(); ++i) {
    const std::optional<passes::AtomId> atom = plan.element_loops[i].atom;
    if (atom) loop_names_[static_cast<std::uint32_t>(*atom)] = fmt::format("place{}", i);
  }
  if (plan.items) {
    for (std::size_t i = 0; i < plan.items->phases.size(); ++i) {
      const passes::ItemPhase& phase = plan.items->phases[i];
      for (std::size_t k = 0; k < phase.batch.size(); ++k)
        loop_names_[static_cast<std::uint32_t>(phase.batch[k].atom)] = fmt::format("b{}_{}", i, k);
      for (std::size_t k = 0; k < phase.loops.size(); ++k)
        loop_names_[static_cast<std::uint32_t>(phase.loops[k].atom)] = fmt::format("e{}_{}", i, k);
    }
  }
  for (const std::uint32_t scalar : scalars) {
    const auto user =
        std::find_if(plan.body.begin(), plan.body.end(), [&](const Instruction& instruction) {
          return instruction.kind == Instruction::Kind::scalar && instruction.scalar == scalar;
        });
    scalar_dtypes.push_back(user->dtype);
  }
  for (const passes::KernelOperand& operand : plan.operands) {
    for (const std::string& section : sections_of(operand.dtype)) need(section);
  }
}

std::string Body::extent(const Dim& dim) const {
  if (dim.is_constant()) return integer(dim.constant());
  return dim.to_string([&](ir::SymbolId symbol) {
    const auto position = std::find(symbols.begin(), symbols.end(), symbol) - symbols.begin();
    return fmt::format("n{}", position);
  });
}

bool Body::fits_index(const Dim& extent) const {
  return plan_.index_bits == 64 || !extent.is_constant() ||
         extent.constant() <= std::numeric_limits<std::int32_t>::max();
}

std::string Body::loop_variable(passes::AtomId loop) const {
  return loop_names_.at(static_cast<std::uint32_t>(loop));
}

/// Whether the quotient is 0 or 1, so that a comparison gives the remainder.
bool Body::is_wrapped(const passes::Atom& remainder) const {
  const auto range = plan_.space->range(remainder.numerator);
  return range && remainder.divisor.is_constant() && range->minimum >= 0 &&
         range->maximum < 2 * remainder.divisor.constant();
}

std::string Body::atom(passes::AtomId id) {
  const passes::Atom& atom = plan_.space->atom(id);
  if (atom.kind == passes::Atom::Kind::loop) return loop_variable(id);
  if (atom.kind == passes::Atom::Kind::computed) return fmt::format("Index(v{})", atom.value);
  const auto key = static_cast<std::uint32_t>(id);
  if (const std::string_view name = writer_.name_of(key); !name.empty()) return std::string(name);
  const std::string numerator = index(atom.numerator), divisor = extent(atom.divisor);
  const std::string name =
      quotient_names_.try_emplace(key, fmt::format("q{}", quotient_names_.size())).first->second;
  const char sign = atom.kind == passes::Atom::Kind::quotient ? '/' : '%';
  // Expressions computed alongside a guarded load may divide by an extent of 0.
  const bool positive = (atom.divisor - Dim(1)).is_non_negative();
  if (atom.kind == passes::Atom::Kind::remainder && is_wrapped(atom)) {
    writer_.line("const Index {0} = {1} < {2} ? {1} : {1} - {2};", name, numerator, divisor);
  } else {
    writer_.line("const Index {} = ({}) {} ({});", name, numerator, sign,
                 positive ? divisor : fmt::format("({0}) > 0 ? ({0}) : 1", divisor));
  }
  writer_.set_name(key, name);
  return name;
}

std::string Body::term(const passes::IndexTerm& term) {
  if (term.coefficient == Dim(1)) return atom(term.atom);
  const std::string factor = extent(term.coefficient);
  return term.coefficient.is_constant() ? fmt::format("{} * {}", atom(term.atom), factor)
                                        : fmt::format("{} * ({})", atom(term.atom), factor);
}

std::string Body::index(const Index& index) {
  std::string text;
  for (const passes::IndexTerm& one : index.terms) text += (text.empty() ? "" : " + ") + term(one);
  if (text.empty()) return fmt::format("Index({})", extent(index.offset));
  if (!(index.offset == Dim(0))) text += " + " + extent(index.offset);
  return text;
}

std::string Body::type(DType dtype) const {
  if (dtype == DType::f16) return fmt::format("op::{}", half);
  const std::string name(element_type(dtype));
  return is_library_type(dtype) ? "op::" + name : name;
}

std::string Body::variable_type(int instruction) const {
  const Instruction& one = plan_.body[static_cast<std::size_t>(instruction)];
  if (packs_truths && is_boolean(one.dtype)) return "op::Truths";
  return one.divisor ? fmt::format("op::Divisor<{}>", type(one.dtype)) : type(one.dtype);
}

bool Body::has_quick_way(const Instruction& instruction) const {
  const bool known = instruction.op == ir::Op::divide || instruction.op == ir::Op::reciprocal ||
                     instruction.op == ir::Op::sqrt;
  return instruction.kind == Instruction::Kind::apply && known && instruction.dtype == DType::f32;
}

std::string Body::type_with_section(DType dtype) {
  for (const std::string& section : sections_of(dtype)) need(section);
  return type(dtype);
}

std::string Body::operand_type(const passes::KernelOperand& operand) const {
  if (operand.partials < 0 || operand.flags) return type(operand.dtype);
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    if (plan_.reductions[i].source == operand.value) return fmt::format("R{}::State", i);
  }
  throw InternalError("the kernel does not have the reduction of these partials");
}

std::string Body::constant(DType dtype, ir::ElementBits bits) {
  if (!is_complex(dtype)) return real_constant(dtype, bits.low);
  const DType part = real_dtype(dtype);
  const auto [real, imaginary] = ir::complex_parts(dtype, bits);
  return fmt::format("{}({}, {})", type(dtype), real_constant(part, real),
                     real_constant(part, imaginary));
}

std::string Body::real_constant(DType dtype, std::uint64_t bits) {
  if (dtype == DType::f32) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) return decimal(value, "f");
    need("bits");
    return fmt::format("op::float_of({:#x}u)", static_cast<std::uint32_t>(bits));
  }
  if (dtype == DType::f64) {
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) return decimal(value, "");
    need("bits");
    return fmt::format("op::float_of({:#x}ull)", bits);
  }
  if (is_floating(dtype)) return fmt::format("{}{{{:#x}}}", type(dtype), bits & 0xffff);
  if (is_boolean(dtype)) return bits != 0 ? "true" : "false";
  const auto width = 8 * size_of(dtype);
  if (is_unsigned_integer(dtype)) {
    const std::uint64_t value = width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
    if (width == 64) return fmt::format("{}ull", value);
    return fmt::format("static_cast<{}>({}u)", type(dtype), value);
  }
  const auto value = static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width);
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807ll - 1)";
  if (width == 64) return fmt::format("{}ll", value);
  return fmt::format("static_cast<{}>({})", type(dtype),
                     value == std::numeric_limits<std::int32_t>::min() ? "-2147483647 - 1"
                                                                       : fmt::to_string(value));
}

std::string Body::value(int number, const LoadText& load) {
  const Instruction& instruction = plan_.body[static_cast<std::size_t>(number)];
  const auto argument = [&](std::size_t k) { return fmt::format("v{}", instruction.arguments[k]); };
  switch (instruction.kind) {
    case Instruction::Kind::load:
      return load(number);
    case Instruction::Kind::constant:
      return constant(instruction.dtype, instruction.bits);
    case Instruction::Kind::scalar: {
      const auto position =
          std::find(scalars.begin(), scalars.end(), instruction.scalar) - scalars.begin();
      return fmt::format("s{}", position);
    }
    case Instruction::Kind::index:
      need("cast");
      return fmt::format("op::cast<{}>(static_cast<long long>({}))", type(instruction.dtype),
                         index(instruction.address));
    case Instruction::Kind::within: {
      const std::string at = index(instruction.address), begin = extent(instruction.begin);
      std::string text =
          fmt::format("({} >= {}) & ({} < {})", at, begin, at, extent(instruction.end));
      if (const Dim step = instruction.step; step != Dim(1)) {
        text += fmt::format(" & (({} - ({})) % {} == 0)", at, begin,
                            step.is_constant() ? extent(step) : '(' + extent(step) + ')');
      }
      return text;
    }
    case Instruction::Kind::apply: {
      const DType operand = plan_.body[instruction.arguments.back()].dtype;
      need(instruction.op, operand);
      std::string list;
      for (std::size_t k = 0; k < instruction.arguments.size(); ++k)
        list += (k == 0 ? "" : ", ") + argument(k);
      const bool by_divisor = plan_.body[instruction.arguments.back()].divisor;
      const bool in_a_quick_way = quick && !by_divisor && has_quick_way(instruction);
      if (in_a_quick_way) need("quick");
      return fmt::format("op::{}{}({}{})", in_a_quick_way ? "quick::" : "",
                         ir::info(instruction.op).name, list,
                         in_a_quick_way || (quick && by_divisor) ? ", rare" : "");
    }
    case Instruction::Kind::cast:
      need("cast");
      return fmt::format("op::cast<{}>({})", type(instruction.dtype), argument(0));
    case Instruction::Kind::bound:
      need(branches ? "host_position" : "position");
      return fmt::format("op::{}bound({}, {})", branches ? "likely::" : "", argument(0),
                         extent(instruction.end));
    case Instruction::Kind::position:
    case Instruction::Kind::inside: {
      const bool is_position = instruction.kind == Instruction::Kind::position;
      const bool branching = branches && is_position;
      need(branching ? "host_position" : "position");
      const auto named = axis_names.find(extent(instruction.end));
      const std::string end = named != axis_names.end() ? named->second : extent(instruction.end);
      if (!is_position)
        return fmt::format("op::is_position(static_cast<long long>({}), {})", argument(0), end);
      // Indices of the loops' type, where it holds all values of the index: half of the
      // instructions if that has 32 bits.
      const DType given = plan_.body[instruction.arguments[0]].dtype;
      const bool narrow = size_of(given) < 4 || given == DType::i32;
      const char* const type = narrow && fits_index(instruction.end) ? "Index" : "long long";
      return fmt::format("op::{0}position<{1}>(static_cast<{1}>({2}), {3})",
                         branching ? "likely::" : "", type, argument(0), end);
    }
    case Instruction::Kind::search: {
      need("search");
      const char* const type = fits_index(instruction.end) ? "Index" : "long long";
      return fmt::format(
          "op::search_sorted<{0}>(static_cast<{1}>({2}), {3}, [&]({1} i) {{ return {4}; }})",
          instruction.op == ir::Op::searchsorted_right, type, extent(instruction.end), argument(0),
          load(number));
    }
    case Instruction::Kind::array:
      return raw_array(instruction);
    case Instruction::Kind::user:
      return user_call(instruction);
    case Instruction::Kind::reduced:
      return fmt::format("R{0}::{1}(t{0})", instruction.reduction,
                         instruction.part == passes::StatePart::reference ? "reference" : "finish");
    case Instruction::Kind::scanned:
      return fmt::format("R{0}::finish(c{0})", instruction.reduction);
    case Instruction::Kind::looped:
    case Instruction::Kind::carried: {
      const auto& loop = plan_.element_loops[static_cast<std::size_t>(instruction.loop)];
      const bool is_outermost = plan_.body[loop.instruction].step_of < 0;
      const std::string name = carry(instruction.loop, static_cast<std::size_t>(instruction.carry));
      return is_outermost && !lane.empty() ? fmt::format("{}.get({})", name, lane) : name;
    }
    case Instruction::Kind::step:
      return fmt::format("static_cast<long long>(step{})", instruction.loop);
    case Instruction::Kind::score:
      return "score";
    case Instruction::Kind::loop:
    case Instruction::Kind::put:
      break;
  }
  throw InternalError("unknown kind of instruction");
}

std::string Body::raw_array(const Instruction& array) {
  need(user_section(array.dtype));
  const bool is_target = plan_.operands[array.operand].written;
  need(is_target ? "user_targets" : "user_arrays");
  need(side == Side::host ? "user_elements_host" : "user_elements");
  std::string extents;
  for (const Dim& one : array.extents) extents += ", " + extent(one);
  const bool is_users = is_soft(array.dtype) || is_complex(array.dtype);
  return fmt::format("heddle_user::{}<{}{}>(p{}{})", is_target ? "raw_target" : "raw_array",
                     is_users ? "heddle_user::" : "", user_type(array.dtype), array.operand,
                     extents);
}

std::string Body::user_call(const Instruction& call) {
  std::vector<DType> operands;
  std::string arguments;
  for (const int argument : call.arguments) {
    const Instruction& one = plan_.body[static_cast<std::size_t>(argument)];
    operands.push_back(one.dtype);
    need(user_section(one.dtype));
    const bool widens = is_soft(one.dtype) && one.kind != Instruction::Kind::array;
    arguments += fmt::format("{}{}v{}{}", arguments.empty() ? "" : ", ", widens ? "op::widen(" : "",
                             argument, widens ? ")" : "");
  }
  bool with_complex = std::ranges::any_of(operands, is_complex);
  const ir::UserFunction function = ir::user_function(*call.function);
  for (const auto* const list : {&function.outputs, &function.types}) {
    for (const ir::UserFunction::Named& named : *list) {
      need(user_section(named.dtype));
      with_complex |= is_complex(named.dtype);
    }
  }
  if (side == Side::host) {
    for (const std::string& section : host_math_sections(*call.function, with_complex))
      need(section);
  }
  const std::string text =
      fmt::format("{}({})", functions_.use(call.function, operands), arguments);
  const bool writes = call.function->op == &ir::calls::user_write();
  return is_soft(call.dtype) && !writes ? fmt::format("op::narrow<{}>({})", type(call.dtype), text)
                                        : text;
}

void Body::declare(int instruction, const LoadText& load) {
  const Instruction& one = plan_.body[static_cast<std::size_t>(instruction)];
  if (one.kind == Instruction::Kind::loop) return element_loop(one.loop, load);
  if (one.kind == Instruction::Kind::put) return put(one);
  for (const std::string& section : sections_of(one.dtype)) need(section);
  if (one.divisor) need(one.dtype == DType::f16 ? "half_divisor" : "divisor");
  const bool has_dtype =
      one.kind != Instruction::Kind::array &&
      (one.kind != Instruction::Kind::user || one.function->op != &ir::calls::user_write());
  writer_.line("const {} v{} = {};", has_dtype ? variable_type(instruction) : "auto", instruction,
               value(instruction, load));
}

std::vector<int> Body::needed_for(const std::vector<int>& roots, bool element_only) const {
  return passes::needed(plan_, roots, element_only, declared);
}

std::vector<int> Body::declared_for(const std::vector<int>& roots) const {
  std::vector<bool> needed(plan_.body.size());
  for (const int root : roots) needed[root] = true;
  std::vector<int> result;
  for (std::size_t i = plan_.body.size(); i-- > 0;) {
    if (!needed[i]) continue;
    if (declared[i]) {
      result.push_back(static_cast<int>(i));
      continue;
    }
    for (const int argument : plan_.body[i].arguments) needed[argument] = true;
  }
  std::reverse(result.begin(), result.end());
  return result;
}

std::vector<int> Body::row_values(int stage) const {
  std::vector<int> roots;
  for (const passes::Store& store : plan_.stores) roots.push_back(store.value);
  for (const passes::Reduction& reduction : plan_.reductions) {
    for (const int needed : needs_of(reduction)) roots.push_back(needed);
  }
  std::vector<int> result = needed_for(roots, false);
  std::erase_if(result,
                [&](int i) { return plan_.body[i].element || plan_.body[i].stage != stage; });
  return result;
}

void Body::declare_reductions() {
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    const passes::Reduction& reduction = plan_.reductions[i];
    for (const std::string& section : sections_of(reduction.op, reduction.dtype)) need(section);
    // States stored outside the block hold 64-bit indices.
    const bool stays = reduction.partials < 0 && plan_.cluster == 1;
    const bool own_places = ir::finds_index(reduction.op) && stays;
    std::string combines = fmt::format("op::{}::{}<{}{}>", reduction.scan ? "scan" : "reduce",
                                       ir::info(reduction.op).name, type(reduction.dtype),
                                       own_places ? ", Index" : "");
    if (reduction.about == passes::SumAbout::greatest) {
      need("exp_sum");
      combines =
          fmt::format("op::reduce::exp_sum<{}, {}>", type(reduction.dtype), reduction.compensated);
    }
    if (reduction.begins >= 0) {
      need("scan_segmented");
      combines = fmt::format("op::scan::Segmented<{}>", combines);
    }
    writer_.line("using R{} = {};", i, combines);
  }
}

std::string Body::lift(std::size_t reduction, const std::string& index) const {
  const passes::Reduction& lifted = plan_.reductions[reduction];
  const std::string begins = lifted.begins >= 0 ? fmt::format("v{}, ", lifted.begins) : "";
  return fmt::format("R{}::lift(v{}, {}{})", reduction, lifted.value, begins, index);
}

void Body::decode(const std::vector<Loop>& loops, const std::string& flat,
                  const std::string& last) {
  std::string rest = flat;
  for (std::size_t i = loops.size(); i-- > 0;) {
    const std::string name = loop_variable(loops[i].atom) + (i + 1 == loops.size() ? last : "");
    const std::string size = extent(loops[i].extent);
    if (i == 0) {
      writer_.line("const Index {} = {};", name, rest);
    } else {
      writer_.line("const Index {} = {} % ({});", name, rest, size);
      const std::string next = fmt::format("{}_outer", name);
      writer_.line("const Index {} = {} / ({});", next, rest, size);
      rest = next;
    }
  }
}

void Body::count_tiles() {
  const auto count = [&](const char* name, const Loop& loop, int edge) {
    writer_.line("const Index {} = (Index({}) + {}) / {};", name, extent(loop.extent), edge - 1,
                 edge);
  };
  count("last_tiles", plan_.outer.back(), plan_.tile_last);
  count("across_tiles", plan_.outer[static_cast<std::size_t>(plan_.tile_loop)], plan_.tile_across);
}

KernelSource Body::finish(const std::string& text, const std::vector<std::string>& always) const {
  KernelSource source;
  std::vector<std::string> wanted = always;
  wanted.insert(wanted.end(), sections_.begin(), sections_.end());
  if (sections_.contains("half")) wanted.emplace_back(half);
  source.sections = library_sections().close_over_needs(wanted, side);
  source.functions = functions_.texts();
  source.body = text;
  ir::Hasher hasher;
  hasher.bytes(source.text());
  source.name = plan_.name + "_" + hasher.finish().hex().substr(0, 8);
  const std::size_t position = source.body.find(name_placeholder);
  source.body.replace(position, std::strlen(name_placeholder), source.name);
  return source;
}

std::string KernelSource::text() const {
  std::string result;
  for (const std::string& name : sections) {
    result += section(name).text;
    result += '\n';
  }
  for (const std::string& function : functions) result += function;
  return result + body;
}

}  // namespace heddle::codegen

#include "runtime/host/blocks/block_kernel.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

#include "passes/plan/analyze.h"
#include "passes/plan/details.h"
#include "passes/plan/launch.h"

namespace heddle::runtime::host {

using passes::Dim;
using passes::Instruction;
using passes::KernelPlan;
using passes::Mapping;
using Kind = Instruction::Kind;

namespace {

/// A block of values fits the first-level cache together with a few others.
constexpr std::size_t block_bytes = 4096;

bool is_word(DType dtype) { return dtype == DType::i64 || dtype == DType::u64; }

double lane_nanoseconds(const Instruction& one) {
  const bool is_half = one.dtype == DType::f16 || one.dtype == DType::bf16;
  const double width = static_cast<double>(size_of(one.dtype)) / 64;  // of a vector
  const double slower = is_complex(one.dtype) ? 4 : is_half ? 8 : 1;
  if (one.kind == Kind::search) return 30;
  if (one.kind == Kind::apply) return slower * width * (2 + 0.6 * ir::info(one.op).cost);
  if (one.kind == Kind::load && one.address.terms.size() > 1) return 1;
  return 2 * width;
}

/// Whether a load or store depends on loops.
bool crosses_loops(const KernelPlan& plan, const passes::Index& address) {
  return std::ranges::any_of(address.terms, [&](const passes::IndexTerm& term) {
    return plan.space->atom(term.atom).kind == passes::Atom::Kind::loop;
  });
}

std::string refusal_of(const KernelPlan& plan, const Instruction& one) {
  switch (one.kind) {
    case Kind::array:
    case Kind::user:
      return "it calls a function of the user";
    case Kind::loop:
    case Kind::looped:
    case Kind::carried:
    case Kind::step:
      return "its elements run loops";
    default:
      break;
  }
  for (const passes::IndexTerm& term : one.address.terms) {
    const passes::Atom& atom = plan.space->atom(term.atom);
    if (atom.kind == passes::Atom::Kind::computed && !is_word(plan.body[atom.value].dtype))
      return "an index is no 64-bit integer";
  }
  return {};
}

}  // namespace

std::string BlockKernel::refusal(const KernelPlan& plan) {
  if (!plan.has_loops()) return "it is no kernel of loops";
  if (plan.mapping == Mapping::items) return "it calls routines on items";
  if (!plan.element_loops.empty()) return "its elements run loops";
  for (const passes::Store& store : plan.stores) {
    if (store.by_value) return "it calls a function of the user";
  }
  for (const Instruction& one : plan.body) {
    if (std::string why = refusal_of(plan, one); !why.empty()) return why;
  }
  return {};
}

namespace {

/// Numbers what a plan names, and finds the loops of its instructions.
class Numbering {
 public:
  Numbering(BlockKernel& kernel, const KernelPlan& plan, const ReadyLoops& loops)
      : kernel_(kernel), plan_(plan), loops_(loops) {}

  void run() {
    kernel_.mapping = plan_.mapping;
    kernel_.symbols = passes::kernel_symbols(plan_);
    number_loops();
    number_scalars();
    for (const Instruction& one : plan_.body) kernel_.operations.push_back(operation(one));
    mark_fixed();
    for (const passes::Store& store : plan_.stores) add_store(store);
    for (const passes::Reduction& reduction : plan_.reductions) add_reduction(reduction);
    mark_filled();
    find_alone();
    add_crossings();
    std::size_t widest = 1;
    for (const Operation& one : kernel_.operations) widest = std::max(widest, one.bytes);
    kernel_.lanes = static_cast<std::int64_t>(block_bytes / std::max<std::size_t>(widest, 4));
    kernel_.slot_bytes = static_cast<std::size_t>(kernel_.lanes) * widest + 64;
    number_shapes();
    for (const Dim& dim : kernel_.sizes) {
      if (!dim.is_constant()) return;
    }
    for (const Dim& dim : kernel_.sizes) kernel_.constant_sizes.push_back(dim.constant());
  }

 private:
  int size(const Dim& dim) {
    const auto found = std::ranges::find(kernel_.sizes, dim);
    if (found != kernel_.sizes.end()) return static_cast<int>(found - kernel_.sizes.begin());
    kernel_.sizes.push_back(dim);
    return static_cast<int>(kernel_.sizes.size()) - 1;
  }

  void number_loops() {
    for (const passes::Loop& loop : plan_.outer) {
      loop_of_[loop.atom] = static_cast<int>(kernel_.outer.size());
      kernel_.outer.push_back({size(loop.extent)});
    }
    for (const passes::Loop& loop : plan_.inner) {
      loop_of_[loop.atom] = static_cast<int>(kernel_.outer.size() + kernel_.inner.size());
      kernel_.inner.push_back({size(loop.extent)});
    }
  }

  void number_scalars() {
    auto word = static_cast<int>(kernel_.symbols.size());
    for (const std::uint32_t scalar : passes::kernel_scalars(plan_)) {
      word_of_scalar_[scalar] = word;
      const auto user = std::ranges::find_if(plan_.body, [&](const Instruction& one) {
        return one.kind == Kind::scalar && one.scalar == scalar;
      });
      word += static_cast<int>((size_of(user->dtype) + 7) / 8);
    }
  }

  int atom(passes::AtomId id) {
    if (const auto found = atom_of_.find(id); found != atom_of_.end()) return found->second;
    const passes::Atom& atom = plan_.space->atom(id);
    AtomCode code;
    code.kind = atom.kind;
    if (atom.kind == passes::Atom::Kind::loop) {
      code.loop = loop_of_.at(id);
    } else if (atom.kind == passes::Atom::Kind::computed) {
      code.instruction = static_cast<int>(atom.value);
    } else {
      code.numerator = index(atom.numerator);
      code.divisor = size(atom.divisor);
    }
    kernel_.atoms.push_back(std::move(code));
    return atom_of_[id] = static_cast<int>(kernel_.atoms.size()) - 1;
  }

  IndexCode index(const passes::Index& index) {
    IndexCode code;
    code.offset = size(index.offset);
    for (const passes::IndexTerm& term : index.terms) {
      const int number = atom(term.atom);
      const int loop = kernel_.atoms[static_cast<std::size_t>(number)].loop;
      code.terms.push_back({number, size(term.coefficient), loop});
      code.is_of_loops &= loop >= 0;
    }
    return code;
  }

  Operation operation(const Instruction& one) {
    Operation result;
    result.kind = one.kind;
    result.dtype = one.dtype;
    result.bytes = size_of(one.dtype);
    result.arguments = one.arguments;
    result.guarded = one.guarded;
    result.operand = one.operand;
    result.reduction = one.reduction;
    result.address = index(one.address);
    result.begin = size(one.begin);
    result.end = size(one.end);
    result.step = size(one.step);
    result.lane_nanoseconds = lane_nanoseconds(one);
    const auto argument = [&](std::size_t k) { return plan_.body[one.arguments[k]].dtype; };
    const auto to_index = [&](DType from) {
      return is_word(from) ? nullptr : loops_.cast(from, DType::i64);
    };
    switch (one.kind) {
      case Kind::apply:
        result.loop = loops_.map(one.op, argument(ir::typed_operand(ir::info(one.op).rule)));
        break;
      case Kind::cast:
        result.loop = argument(0) == one.dtype ? nullptr : loops_.cast(argument(0), one.dtype);
        break;
      case Kind::index:
        result.loop = one.dtype == DType::i64 ? nullptr : loops_.cast(DType::i64, one.dtype);
        break;
      case Kind::bound:
        result.is_clipped_unsigned = argument(0) == DType::u64;
        [[fallthrough]];
      case Kind::position:
      case Kind::inside:
        result.to_index = to_index(argument(0));
        break;
      case Kind::constant:
        std::memcpy(result.bits.data(), one.bits.bytes(), result.bytes);
        break;
      case Kind::search:
        result.search = loops_.search(one.op, argument(0));
        break;
      case Kind::scalar:
        result.scalar_word = word_of_scalar_.at(one.scalar);
        break;
      default:
        break;
    }
    return result;
  }

  bool has_loops(const passes::Index& index) {
    return std::ranges::any_of(index.terms, [&](const passes::IndexTerm& term) {
      const passes::Atom& atom = plan_.space->atom(term.atom);
      if (atom.kind == passes::Atom::Kind::loop) return true;
      if (atom.kind == passes::Atom::Kind::computed)
        return !kernel_.operations[atom.value].is_fixed;
      return has_loops(atom.numerator);
    });
  }

  void mark_fixed() {
    for (std::size_t i = 0; i < plan_.body.size(); ++i) {
      const Instruction& one = plan_.body[i];
      Operation& operation = kernel_.operations[i];
      operation.is_fixed =
          one.kind != Kind::reduced && one.kind != Kind::scanned && !has_loops(one.address) &&
          std::ranges::all_of(one.arguments,
                              [&](int argument) { return kernel_.operations[argument].is_fixed; });
      operation.is_of_row = plan_.mapping == Mapping::rows && !one.element;
    }
    if (plan_.mapping != Mapping::columns) return;
    // The bounds of a segment are those of all its columns.
    if (const passes::Reduction* const segment = passes::segmented(plan_)) {
      for (const int i : passes::needed(plan_, {segment->first, segment->last}, false))
        kernel_.operations[i].is_of_row = !kernel_.operations[i].is_fixed;
    }
  }

  void mark_filled() {
    const auto fill = [&](int i) {
      Operation& one = kernel_.operations[i];
      one.fills_block = one.is_fixed || one.is_of_row;
    };
    for (const Operation& one : kernel_.operations) {
      if (one.is_fixed || one.is_of_row) continue;
      for (const int argument : one.arguments) fill(argument);
    }
    for (const passes::Reduction& reduction : plan_.reductions) {
      for (const int needed : {reduction.value, reduction.begins}) {
        if (needed >= 0) fill(needed);
      }
    }
    for (const passes::Store& store : plan_.stores) {
      if (plan_.mapping == Mapping::rows && !store.element) continue;
      fill(store.value);
      if (store.guard >= 0) fill(store.guard);
    }
  }

  void add_store(const passes::Store& store) {
    StoreCode code;
    code.value = store.value;
    code.operand = store.operand;
    code.guard = store.guard;
    code.combine = store.combine;
    code.dtype = plan_.operands[store.operand].dtype;
    code.bytes = size_of(code.dtype);
    code.address = index(store.address);
    code.depends_on_values = !store.positions.empty();
    kernel_.stores.push_back(std::move(code));
  }

  void add_reduction(const passes::Reduction& reduction) {
    ReductionCode code;
    if (reduction.scan) {
      code.scan = &loops_.scan(reduction.op, reduction.dtype, reduction.begins >= 0);
    } else {
      code.loops = &loops_.reduction(reduction.op, reduction.dtype);
    }
    code.value = reduction.value;
    code.begins = reduction.begins;
    code.first = reduction.first;
    code.last = reduction.last;
    code.partials = reduction.partials;
    code.stage = reduction.stage;
    code.ordered = passes::has_order(reduction);
    code.in_columns_order = passes::order_of(reduction) == passes::CombineOrder::columns;
    code.by_extreme = passes::finds_index_by_key(reduction);
    kernel_.reductions.push_back(code);
  }

  void add_crossings() {
    for (const Instruction& one : plan_.body)
      kernel_.crossings += one.kind == Kind::load && crosses_loops(plan_, one.address) ? 1 : 0;
    for (const passes::Store& store : plan_.stores)
      kernel_.crossings += crosses_loops(plan_, store.address) ? 1 : 0;
  }

  void find_alone() {
    for (const passes::KernelOperand& operand : plan_.operands)
      kernel_.is_alone.push_back(!operand.aliased && operand.same_as < 0);
    for (const passes::KernelOperand& operand : plan_.operands) {
      if (operand.same_as >= 0) kernel_.is_alone[static_cast<std::size_t>(operand.same_as)] = false;
    }
  }

  void number_shapes() {
    kernel_.outer_total = size(passes::iterations(plan_.outer));
    kernel_.inner_total = size(passes::iterations(plan_.inner));
    kernel_.segments = size(passes::iterations(passes::segment_loops(plan_)));
    if (plan_.parts_of) kernel_.parts_of = size(*plan_.parts_of);
    kernel_.stages = plan_.stages;
    kernel_.split = plan_.split;
    kernel_.least_part = plan_.least_part;
    const bool scans = !plan_.reductions.empty() && plan_.reductions[0].scan;
    const bool in_parts = plan_.split > 1 && plan_.least_part == 0;
    kernel_.part_length = in_parts && !scans ? passes::host_part_length(plan_) : 0;
    kernel_.tile_edge = plan_.tile_last;
    kernel_.tile_loop = plan_.tile_loop;
    for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
      if (plan_.reductions[i].first >= 0) kernel_.segment = static_cast<int>(i);
      kernel_.combines_parts |= plan_.reductions[i].value < 0;
    }
    if (scans && plan_.split > 1)
      kernel_.leaves_parts = plan_.operands[plan_.reductions[0].partials].written;
    if (plan_.mapping != Mapping::columns && plan_.mapping != Mapping::scan_columns) return;
    kernel_.column_width =
        plan_.mapping == Mapping::columns ? passes::host_columns(plan_) : passes::host_scan_columns;
    kernel_.batches = size(passes::iterations({plan_.outer.begin(), plan_.outer.end() - 1}));
  }

 private:
  BlockKernel& kernel_;
  const KernelPlan& plan_;
  const ReadyLoops& loops_;
  std::unordered_map<passes::AtomId, int> loop_of_, atom_of_;
  std::unordered_map<std::uint32_t, int> word_of_scalar_;
};

}  // namespace

BlockKernel::BlockKernel(const KernelPlan& plan, const ReadyLoops& loops) {
  Numbering(*this, plan, loops).run();
  make_lists(*this, plan);
}

}  // namespace heddle::runtime::host

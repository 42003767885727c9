#include "passes/plan/narrow_integers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "ir/types/capabilities.h"

namespace heddle::passes {

namespace {

struct Range {
  std::int64_t least, greatest;
};

template <class T>
constexpr Range range_of_type = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};

/// The values of a dtype of at most 32 bits; nullopt for others.
std::optional<Range> range_of(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return Range{0, 1};
    case DType::u8:
      return range_of_type<std::uint8_t>;
    case DType::i8:
      return range_of_type<std::int8_t>;
    case DType::u16:
      return range_of_type<std::uint16_t>;
    case DType::i16:
      return range_of_type<std::int16_t>;
    case DType::u32:
      return range_of_type<std::uint32_t>;
    case DType::i32:
      return range_of_type<std::int32_t>;
    default:
      return std::nullopt;
  }
}

/// Whether a dtype may be computed as int32.
bool is_wide(DType dtype) { return dtype == DType::i64 || dtype == DType::u64; }

bool contains(const Range& outer, const Range& inner) {
  return outer.least <= inner.least && inner.greatest <= outer.greatest;
}

/// Whether results of these ranges and of sums and products of them can be computed exactly here.
bool is_small(const Range& range) { return contains(range_of_type<std::int32_t>, range); }

/// The ranges of values of a plan's instructions; nullopt where they may exceed 32 bits.
class Ranges {
 public:
  explicit Ranges(const KernelPlan& plan) : plan_(plan) {
    for (const Instruction& one : plan.body) ranges_.push_back(find(one));
  }
  const std::optional<Range>& operator[](std::size_t i) const { return ranges_[i]; }

 private:
  std::optional<Range> find(const Instruction& one) const {
    std::optional<Range> found;
    if (one.kind == Instruction::Kind::constant && is_wide(one.dtype)) {
      const auto value = static_cast<std::int64_t>(one.bits.low);
      found = Range{value, value};
    } else if (one.kind == Instruction::Kind::index) {
      if (const auto range = plan_.space->range(one.address))
        found = Range{range->minimum, range->maximum};
    } else if (one.kind == Instruction::Kind::cast) {
      found = at(one, 0);
    } else if (one.kind == Instruction::Kind::apply) {
      found = applied(one);
    }
    const std::optional<Range> all = range_of(one.dtype);
    if (all) return found && contains(*all, *found) ? found : all;
    if (!is_wide(one.dtype) || !found || !is_small(*found)) return std::nullopt;
    return one.dtype == DType::i64 || found->least >= 0 ? found : std::nullopt;
  }

  /// Of an argument that is an integer of at most 32 bits, or holds no more.
  std::optional<Range> at(const Instruction& one, std::size_t k) const {
    const auto argument = static_cast<std::size_t>(one.arguments[k]);
    const DType dtype = plan_.body[argument].dtype;
    return is_integer(dtype) || dtype == DType::boolean ? ranges_[argument] : std::nullopt;
  }

  std::optional<Range> applied(const Instruction& one) const {
    if (!is_wide(one.dtype)) return std::nullopt;
    if (one.op == ir::Op::select) {
      const auto a = at(one, 1), b = at(one, 2);
      if (!a || !b) return std::nullopt;
      return Range{std::min(a->least, b->least), std::max(a->greatest, b->greatest)};
    }
    const auto a = at(one, 0);
    if (!a || !is_small(*a)) return std::nullopt;
    if (one.op == ir::Op::negative) return Range{-a->greatest, -a->least};
    if (one.arguments.size() != 2) return std::nullopt;
    const auto b = at(one, 1);
    if (!b || !is_small(*b)) return std::nullopt;
    switch (one.op) {
      case ir::Op::add:
        return Range{a->least + b->least, a->greatest + b->greatest};
      case ir::Op::subtract:
        return Range{a->least - b->greatest, a->greatest - b->least};
      case ir::Op::multiply: {
        const std::array products = {a->least * b->least, a->least * b->greatest,
                                     a->greatest * b->least, a->greatest * b->greatest};
        return Range{std::ranges::min(products), std::ranges::max(products)};
      }
      case ir::Op::minimum:
        return Range{std::min(a->least, b->least), std::min(a->greatest, b->greatest)};
      case ir::Op::maximum:
        return Range{std::max(a->least, b->least), std::max(a->greatest, b->greatest)};
      default:
        return std::nullopt;
    }
  }

  const KernelPlan& plan_;
  std::vector<std::optional<Range>> ranges_;
};

bool compares(ir::Op op) {
  return op == ir::Op::less || op == ir::Op::less_equal || op == ir::Op::greater ||
         op == ir::Op::greater_equal || op == ir::Op::equal || op == ir::Op::not_equal;
}

/// Whether an instruction may take its 64-bit arguments in 32 bits, all or none of them.
bool takes_narrow(const Instruction& one, bool is_narrow) {
  if (one.kind == Instruction::Kind::cast) return true;
  return one.kind == Instruction::Kind::apply && (is_narrow || compares(one.op));
}

/// Instructions of 64 bits whose users all take 32 bits, with all of their 64-bit arguments.
std::vector<bool> narrow_instructions(const KernelPlan& plan, bool sums_convert) {
  const Ranges ranges(plan);
  std::vector<bool> narrow(plan.body.size());
  for (std::size_t i = 0; i < plan.body.size(); ++i) {
    const Instruction& one = plan.body[i];
    const bool computes =
        one.kind == Instruction::Kind::constant || one.kind == Instruction::Kind::index ||
        one.kind == Instruction::Kind::cast || one.kind == Instruction::Kind::apply;
    narrow[i] = computes && is_wide(one.dtype) && ranges[i].has_value();
  }
  std::vector<bool> keeps_wide(plan.body.size());
  for (const Store& store : plan.stores) {
    for (const int need : needs_of(store)) keeps_wide[static_cast<std::size_t>(need)] = true;
  }
  for (const Reduction& reduction : plan.reductions) {
    for (const int need : needs_of(reduction)) {
      const bool converts =
          sums_convert && need == reduction.value && reduction.op == ir::Op::sum && !reduction.scan;
      if (!converts) keeps_wide[static_cast<std::size_t>(need)] = true;
    }
  }
  for (std::size_t i = 0; i < plan.body.size(); ++i) narrow[i] = narrow[i] && !keeps_wide[i];
  for (bool changed = true; changed;) {
    changed = false;
    const auto widen = [&](std::size_t i) {
      changed |= narrow[i];
      narrow[i] = false;
    };
    for (std::size_t i = 0; i < plan.body.size(); ++i) {
      const Instruction& one = plan.body[i];
      bool all = true;
      for (const int argument : one.arguments) {
        const auto k = static_cast<std::size_t>(argument);
        all &= !is_wide(plan.body[k].dtype) || narrow[k];
      }
      if (one.kind == Instruction::Kind::cast) continue;  // of any dtype to any
      if (narrow[i] && !all) widen(i);
      if (all && takes_narrow(one, narrow[i])) continue;
      for (const int argument : one.arguments) widen(static_cast<std::size_t>(argument));
    }
  }
  return narrow;
}

}  // namespace

bool sums_in_32_bits(const KernelPlan& plan, int value, Dim length) {
  const auto number = static_cast<std::size_t>(value);
  constexpr Range all = range_of_type<std::int32_t>;
  if (!is_wide(plan.body[number].dtype) || !length.is_constant() ||
      length.constant() > all.greatest)
    return false;
  const std::optional<Range> each = Ranges(plan)[number];
  const std::int64_t most = length.constant();
  return each && is_small(*each) && is_small({each->least * most, each->greatest * most});
}

void narrow_integers(KernelPlan& plan, const ir::Target& target) {
  if (!plan.element_loops.empty()) return;
  // On a GPU, a sum converts its operand to its own dtype. Other reductions deduce its type.
  const bool sums_convert = ir::capabilities_of(target).blocks;
  const std::vector<bool> narrow = narrow_instructions(plan, sums_convert);
  const auto computes_narrow = [&](const Instruction& one) {
    return one.kind == Instruction::Kind::apply && !one.arguments.empty() &&
           narrow[static_cast<std::size_t>(one.arguments.back())];
  };
  if (std::ranges::none_of(plan.body, computes_narrow)) return;
  for (std::size_t i = 0; i < plan.body.size(); ++i) {
    if (narrow[i]) plan.body[i].dtype = DType::i32;
  }
}

}  // namespace heddle::passes

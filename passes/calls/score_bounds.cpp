#include "passes/calls/score_bounds.h"

#include <limits>
#include <utility>

#include "ir/types/constant.h"

namespace heddle::passes {

namespace {

using ir::Op;
using Kind = Instruction::Kind;

class Finder {
 public:
  Finder(const KernelPlan& plan, IndexSpace& space, AtomId row, AtomId column)
      : plan_(plan), space_(space), row_(row), column_(column) {}

  ScoreBounds of_score(int i) {
    const Instruction& one = plan_.body[static_cast<std::size_t>(i)];
    if (one.kind == Kind::score) return {{}, {}, true};
    if (one.kind != Kind::apply || one.op != Op::select) return {};
    const int condition = one.arguments[0], chosen = one.arguments[1], other = one.arguments[2];
    if (is_minus_infinity(other)) return meet(of_truth(condition, true), of_score(chosen));
    if (is_minus_infinity(chosen)) return meet(of_truth(condition, false), of_score(other));
    return {};
  }

 private:
  bool is_constant(int i, double value) const {
    const Instruction& one = plan_.body[static_cast<std::size_t>(i)];
    if (one.kind == Kind::cast) return is_constant(one.arguments[0], value);
    return one.kind == Kind::constant && one.bits == ir::constant_bits(one.dtype, value);
  }
  bool is_minus_infinity(int i) const {
    return is_floating(plan_.body[static_cast<std::size_t>(i)].dtype) &&
           is_constant(i, -std::numeric_limits<double>::infinity());
  }

  /// Both bounds hold. Of two begins or ends, one is kept.
  static ScoreBounds meet(ScoreBounds a, const ScoreBounds& b) {
    a.exact = a.exact && b.exact && !(a.begin && b.begin) && !(a.end && b.end);
    if (!a.begin) a.begin = b.begin;
    if (!a.end) a.end = b.end;
    return a;
  }

  /// The keys for which a condition has the value `truth`.
  ScoreBounds of_truth(int i, bool truth) {
    const Instruction& one = plan_.body[static_cast<std::size_t>(i)];
    if (one.kind != Kind::apply) return {};
    const auto argument = [&](std::size_t k) { return one.arguments[k]; };
    switch (one.op) {
      case Op::logical_not:
      case Op::invert:
        return of_truth(argument(0), !truth);
      case Op::logical_and:
      case Op::bitwise_and:
        return truth ? both(argument(0), argument(1), truth) : ScoreBounds{};
      case Op::logical_or:
      case Op::bitwise_or:
        return truth ? ScoreBounds{} : both(argument(0), argument(1), truth);
      case Op::select:
        return is_constant(argument(1), 1) && is_constant(argument(2), 0)
                   ? of_truth(argument(0), truth)
                   : ScoreBounds{};
      case Op::less:
        return truth ? ordered(argument(0), argument(1), 1) : ordered(argument(1), argument(0), 0);
      case Op::less_equal:
        return truth ? ordered(argument(0), argument(1), 0) : ordered(argument(1), argument(0), 1);
      case Op::greater:
        return truth ? ordered(argument(1), argument(0), 1) : ordered(argument(0), argument(1), 0);
      case Op::greater_equal:
        return truth ? ordered(argument(1), argument(0), 0) : ordered(argument(0), argument(1), 1);
      default:
        return {};
    }
  }

  ScoreBounds both(int a, int b, bool truth) {
    return meet(of_truth(a, truth), of_truth(b, truth));
  }

  /// The keys for which small + gap <= large.
  ScoreBounds ordered(int small, int large, std::int64_t gap) {
    const std::optional<Index> low = index_of(small), high = index_of(large);
    if (!low || !high) return {};
    Index rest = space_.add(*high, space_.scale(*low, -1));
    rest.offset = rest.offset - Dim(gap);
    if (space_.nested(rest, column_)) return {};
    const Dim step = space_.coefficient(rest, column_);
    // rest >= 0 becomes key <= rest without the key, or key >= minus that.
    if (step == Dim(-1)) {
      Index end = space_.add(rest, space_.loop(column_));
      end.offset += 1;
      return exact({}, of_query(end));
    }
    if (step != Dim(1)) return {};
    return exact(of_query(space_.add(space_.loop(column_), space_.scale(rest, -1))), {});
  }

  static ScoreBounds exact(std::optional<Index> begin, std::optional<Index> end) {
    const bool known = begin || end;
    return {std::move(begin), std::move(end), known};
  }

  std::optional<Index> of_query(const Index& index) const {
    for (const IndexTerm& term : index.terms) {
      if (term.atom != row_ || !term.coefficient.is_non_negative()) return std::nullopt;
    }
    return index;
  }

  std::optional<Index> index_of(int i) {
    const Instruction& one = plan_.body[static_cast<std::size_t>(i)];
    // Narrower integers may have wrapped.
    if (one.dtype != DType::i64 && one.dtype != DType::i32) return std::nullopt;
    if (one.kind == Kind::index) return one.address;
    if (one.kind == Kind::cast) return index_of(one.arguments[0]);
    if (one.kind == Kind::constant) return constant(one);
    if (one.kind != Kind::apply || (one.op != Op::add && one.op != Op::subtract))
      return std::nullopt;
    const std::optional<Index> a = index_of(one.arguments[0]), b = index_of(one.arguments[1]);
    if (!a || !b) return std::nullopt;
    return space_.add(*a, one.op == Op::add ? *b : space_.scale(*b, -1));
  }

  static std::optional<Index> constant(const Instruction& one) {
    const std::optional<std::int64_t> value = ir::integer_of(one.dtype, one.bits);
    return value ? std::optional(Index{Dim(*value), {}}) : std::nullopt;
  }

  const KernelPlan& plan_;
  IndexSpace& space_;
  AtomId row_, column_;
};

}  // namespace

ScoreBounds score_bounds(const KernelPlan& plan, IndexSpace& space, int instruction, AtomId row,
                         AtomId column) {
  return Finder(plan, space, row, column).of_score(instruction);
}

}  // namespace heddle::passes

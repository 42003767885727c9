#include "passes/lower/unrolled_reduction.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "heddle/error.h"

#include "ir/types/constant.h"
#include "ir/types/scalar.h"

namespace heddle::passes {

namespace {

class Combination {
 public:
  Combination(KernelPlan& plan, const UnrolledReduction& reduction)
      : plan_(plan), reduction_(reduction) {}

  int run(std::vector<int> elements) {
    const DType dtype = reduction_.dtype;
    switch (reduction_.op) {
      case ir::Op::sum: {
        const int total = in_order(ir::Op::add, widened(std::move(elements)));
        // A sum starts from 0, so that it is never -0.
        const DType summed = plan_.body[total].dtype;
        return is_integer(dtype) ? total
                                 : cast(apply(ir::Op::add, summed, {total, number(summed, 0)}));
      }
      case ir::Op::prod:
        return cast(in_order(ir::Op::multiply, widened(std::move(elements))));
      case ir::Op::min:
        return in_sequence(ir::Op::minimum, elements);
      case ir::Op::max:
        return in_sequence(ir::Op::maximum, elements);
      case ir::Op::any:
      case ir::Op::all:
        for (int& element : elements) element = cast(element, DType::boolean);
        return in_sequence(reduction_.op == ir::Op::any ? ir::Op::logical_or : ir::Op::logical_and,
                           elements);
      case ir::Op::argmin:
        return first_extreme(ir::Op::greater_equal, elements);
      case ir::Op::argmax:
        return first_extreme(ir::Op::less_equal, elements);
      default:
        throw InternalError("a reduction that is not known as arithmetic");
    }
  }

 private:
  int push(Instruction instruction) {
    instruction.source = reduction_.source;
    plan_.body.push_back(std::move(instruction));
    return static_cast<int>(plan_.body.size()) - 1;
  }

  int apply(ir::Op op, DType dtype, std::vector<int> arguments) {
    Instruction instruction = Instruction::of(Instruction::Kind::apply, dtype);
    instruction.op = op;
    instruction.arguments = std::move(arguments);
    return push(std::move(instruction));
  }

  int number(DType dtype, double value) {
    Instruction constant = Instruction::of(Instruction::Kind::constant, dtype);
    constant.bits = ir::constant_bits(dtype, value);
    return push(std::move(constant));
  }

  int cast(int value, DType dtype) {
    if (plan_.body[value].dtype == dtype) return value;
    Instruction instruction = Instruction::of(Instruction::Kind::cast, dtype);
    instruction.arguments = {value};
    return push(std::move(instruction));
  }
  int cast(int value) { return cast(value, reduction_.dtype); }

  /// Sums and products of float16 and bfloat16 are computed in float32.
  std::vector<int> widened(std::vector<int> elements) {
    if (is_floating(reduction_.dtype) && size_of(reduction_.dtype) == 2) {
      for (int& element : elements) element = cast(element, DType::f32);
    }
    return elements;
  }

  int in_sequence(ir::Op op, std::span<const int> values) {
    int result = values[0];
    for (const int value : values.subspan(1))
      result = apply(op, plan_.body[result].dtype, {result, value});
    return result;
  }

  int in_order(ir::Op op, const std::vector<int>& values) {
    return reduction_.along_columns ? by_runs(op, values) : by_lanes(op, values);
  }

  int by_lanes(ir::Op op, const std::vector<int>& values) {
    const int bytes = static_cast<int>(size_of(plan_.body[values[0]].dtype));
    const auto lanes = static_cast<std::size_t>(
        heddle_scalar::reduce::lanes_of(static_cast<long long>(values.size()), bytes));
    std::vector<int> states;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      std::vector<int> own;
      for (std::size_t i = lane; i < values.size(); i += lanes) own.push_back(values[i]);
      states.push_back(in_sequence(op, own));
    }
    for (std::size_t half = lanes / 2; half > 0; half /= 2) {
      for (std::size_t k = 0; k < half; ++k)
        states[k] = apply(op, plan_.body[states[k]].dtype, {states[k], states[k + half]});
    }
    return states[0];
  }

  /// Rows have at most two runs.
  int by_runs(ir::Op op, const std::vector<int>& values) {
    const auto run = static_cast<std::size_t>(
        heddle_scalar::reduce::run_length(static_cast<long long>(values.size())));
    std::vector<int> states;
    for (std::size_t first = 0; first < values.size(); first += run) {
      states.push_back(
          in_sequence(op, std::span(values).subspan(first, std::min(run, values.size() - first))));
    }
    return in_sequence(op, states);
  }

  /// The index of the first NaN, or else of the first extreme value. `keeps`: the comparison of an
  /// element with the best one before it that is true if the element is not better.
  int first_extreme(ir::Op keeps, const std::vector<int>& values) {
    int best = values[0], index = number(DType::i64, 0);
    for (std::size_t i = 1; i < values.size(); ++i) {
      int better = apply(ir::Op::logical_not, DType::boolean,
                         {apply(keeps, DType::boolean, {values[i], best})});
      if (is_floating(reduction_.dtype)) {
        const int is_number = apply(ir::Op::equal, DType::boolean, {best, best});
        better = apply(ir::Op::logical_and, DType::boolean, {is_number, better});
      }
      index = apply(ir::Op::select, DType::i64,
                    {better, number(DType::i64, static_cast<double>(i)), index});
      best = apply(ir::Op::select, reduction_.dtype, {better, values[i], best});
    }
    return index;
  }

  KernelPlan& plan_;
  const UnrolledReduction& reduction_;
};

}  // namespace

int add_reduction(KernelPlan& plan, const UnrolledReduction& reduction,
                  const std::vector<int>& elements) {
  return Combination(plan, reduction).run(elements);
}

}  // namespace heddle::passes

#include "passes/rewrite/gelu.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>

#include "ir/types/element.h"
#include "ir/types/scalar.h"

namespace heddle::passes {

namespace {

using ir::Graph;
using ir::Op;
using ir::ValueId;

constexpr int max_degree = 3;
/// Limit on the ops that form the function, and on the ops visited.
constexpr std::size_t max_nodes = 32;

/// Coefficients of x^i t^j, where t is the only value that is not a polynomial in x.
class Polynomial {
 public:
  static Polynomial constant(double value) { return term(0, 0, value); }
  static Polynomial term(int i, int j, double value) {
    Polynomial result;
    result.at(i, j) = value;
    return result;
  }
  double& at(int i, int j) { return coefficients_[static_cast<std::size_t>(4 * i + j)]; }
  double at(int i, int j) const { return coefficients_[static_cast<std::size_t>(4 * i + j)]; }

  Polynomial plus(const Polynomial& other, double factor) const {
    Polynomial result = *this;
    for (std::size_t k = 0; k < coefficients_.size(); ++k)
      result.coefficients_[k] += factor * other.coefficients_[k];
    return result;
  }
  /// nullopt if the degree exceeds max_degree.
  std::optional<Polynomial> times(const Polynomial& other) const {
    Polynomial result;
    for (int i = 0; i <= max_degree; ++i) {
      for (int j = 0; j <= max_degree; ++j) {
        for (int k = 0; k <= max_degree; ++k) {
          for (int l = 0; l <= max_degree; ++l) {
            const double product = at(i, j) * other.at(k, l);
            if (product == 0) continue;
            if (i + k > max_degree || j + l > max_degree) return std::nullopt;
            result.at(i + k, j + l) += product;
          }
        }
      }
    }
    return result;
  }
  /// Allows for the rounding of coefficients to the dtype in which they are written.
  bool is_near(const Polynomial& other, double epsilon) const {
    for (std::size_t k = 0; k < coefficients_.size(); ++k) {
      const double exact = other.coefficients_[k];
      if (!(std::abs(coefficients_[k] - exact) <= 4 * epsilon * std::abs(exact))) return false;
    }
    return true;
  }

 private:
  std::array<double, 16> coefficients_{};
};

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 0x1p-10;
    case DType::bf16:
      return 0x1p-7;
    case DType::f64:
      return 0x1p-52;
    default:
      return 0x1p-23;
  }
}

bool is_arithmetic(Op op) {
  return op == Op::add || op == Op::subtract || op == Op::multiply || op == Op::divide ||
         op == Op::negative || op == Op::square;
}

/// Expands values as polynomials in `x` and `t`.
class Expansion {
 public:
  Expansion(const Graph& graph, ValueId x, std::optional<ValueId> t)
      : graph_(graph), x_(x), t_(t) {}

  std::optional<Polynomial> expand(ValueId value) {
    if (value == x_) return Polynomial::term(1, 0, 1);
    if (t_ && value == *t_) return Polynomial::term(0, 1, 1);
    if (const auto number = constant_of(graph_, value)) return Polynomial::constant(*number);
    if (const auto known = known_.find(index_of(value)); known != known_.end())
      return known->second;
    // An element may only depend on the same element of x.
    const bool same_place = graph_.shape(value) == graph_.shape(x_);
    if (!is_arithmetic(graph_.op(value)) || !same_place || nodes.size() == max_nodes)
      return std::nullopt;
    nodes.push_back(value);
    return known_[index_of(value)] = combine(value);
  }

  std::vector<ValueId> nodes;

 private:
  std::optional<Polynomial> combine(ValueId value) {
    const std::span<const ValueId> operands = graph_.operands(value);
    const auto a = expand(operands[0]);
    if (!a) return std::nullopt;
    if (graph_.op(value) == Op::negative) return Polynomial().plus(*a, -1);
    if (graph_.op(value) == Op::square) return a->times(*a);
    const auto b = expand(operands[1]);
    if (!b) return std::nullopt;
    switch (graph_.op(value)) {
      case Op::add:
        return a->plus(*b, 1);
      case Op::subtract:
        return a->plus(*b, -1);
      case Op::multiply:
        return a->times(*b);
      default:
        break;
    }
    const auto divisor = constant_of(graph_, operands[1]);
    if (!divisor || *divisor == 0) return std::nullopt;
    return Polynomial().plus(*a, 1 / *divisor);
  }

  const Graph& graph_;
  ValueId x_;
  std::optional<ValueId> t_;
  std::map<std::uint32_t, std::optional<Polynomial>> known_;
};

/// The arithmetic that computes a value, down to operands that are not arithmetic, and its only
/// tanh.
struct Arithmetic {
  std::vector<ValueId> nodes;
  std::optional<ValueId> tanh;
  bool one_tanh = true;
};

Arithmetic arithmetic_under(const Graph& graph, ValueId value) {
  Arithmetic found;
  std::vector<ValueId> open{value};
  while (!open.empty() && found.nodes.size() < max_nodes) {
    const ValueId next = open.back();
    open.pop_back();
    if (std::ranges::find(found.nodes, next) != found.nodes.end()) continue;
    if (graph.op(next) == Op::tanh) {
      found.one_tanh &= !found.tanh || *found.tanh == next;
      found.tanh = next;
    }
    if (!is_arithmetic(graph.op(next))) continue;
    found.nodes.push_back(next);
    for (const ValueId operand : graph.operands(next)) open.push_back(operand);
  }
  return found;
}

}  // namespace

ValueId below_broadcasts(const Graph& graph, ValueId value) {
  while (graph.op(value) == Op::broadcast_to || graph.op(value) == Op::reshape)
    value = graph.operands(value)[0];
  return value;
}

std::optional<double> constant_of(const Graph& graph, ValueId value) {
  const ValueId source = below_broadcasts(graph, value);
  const DType dtype = graph.dtype(source);
  if (graph.op(source) != Op::constant || !is_floating(dtype)) return std::nullopt;
  const ir::ElementBits bits = graph.attributes(source).bits;
  return ir::with_element(dtype, [&]<class T>(std::type_identity<T>) -> double {
    T number;
    std::memcpy(&number, bits.bytes(), sizeof number);
    if constexpr (heddle_scalar::is_complex<T>)
      return 0;
    else
      return heddle_scalar::cast<double>(number);
  });
}

std::optional<Gelu> find_gelu(const Graph& graph, ValueId value) {
  if (!is_arithmetic(graph.op(value))) return std::nullopt;
  const Arithmetic around = arithmetic_under(graph, value);
  if (!around.tanh || !around.one_tanh) return std::nullopt;
  const ValueId tanh = *around.tanh, inside = graph.operands(tanh)[0];
  const double scale = std::sqrt(2 / std::acos(-1.0));
  const Polynomial argument =
      Polynomial::term(1, 0, scale).plus(Polynomial::term(3, 0, 1), scale * 0.044715);
  const Polynomial whole = Polynomial::term(1, 0, 0.5).plus(Polynomial::term(1, 1, 1), 0.5);
  const double epsilon = epsilon_of(graph.dtype(value));
  // x occurs both inside and outside of tanh. x itself may be the result of arithmetic.
  std::vector<ValueId> candidates = around.nodes;
  for (const ValueId node : around.nodes) {
    for (const ValueId operand : graph.operands(node)) candidates.push_back(operand);
  }
  for (const ValueId x : candidates) {
    if (x == value || x == tanh || constant_of(graph, x)) continue;
    Expansion outer(graph, x, tanh), inner(graph, x, std::nullopt);
    const auto outer_form = outer.expand(value);
    if (!outer_form || !outer_form->is_near(whole, epsilon)) continue;
    const auto inner_form = inner.expand(inside);
    if (!inner_form || !inner_form->is_near(argument, epsilon)) continue;
    Gelu gelu{x, outer.nodes};
    gelu.nodes.push_back(tanh);
    for (const ValueId node : inner.nodes) {
      if (std::ranges::find(gelu.nodes, node) == gelu.nodes.end()) gelu.nodes.push_back(node);
    }
    return gelu;
  }
  return std::nullopt;
}

}  // namespace heddle::passes

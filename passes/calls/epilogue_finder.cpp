#include "passes/calls/epilogue_finder.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ir/types/capabilities.h"
#include "passes/calls/matmul.h"
#include "passes/calls/matrix_item.h"
#include "passes/groups/cost.h"
#include "passes/rewrite/gelu.h"

namespace heddle::passes {

namespace {

using ir::Dim;
using ir::Graph;
using ir::Op;
using ir::ValueId;

/// Ops that an epilogue may contain, in the order in which the library applies them.
enum class Term : std::uint8_t { scale, residual, bias, relu, gelu, narrowing };

/// When the library can apply a term, and how its result may differ from the op's.
struct TermRule {
  Term term;
  std::string_view name;
  bool doubles;                 ///< also available for float64
  bool rounds;                  ///< its result differs if every half-precision op has to round
                                ///< separately
  std::string_view differs;     ///< how it differs from the op's semantics, in words; "": it does
                                ///< not
  bool lower_precision_allows;  ///< the difference is acceptable for products below IEEE precision
};

constexpr TermRule rules[] = {
    {Term::scale, "scale", true, true, "", false},
    {Term::residual, "residual", true, true, "", false},
    // Only along the last axis: cuBLASLt matrices are column-major, and its bias runs along a
    // column.
    {Term::bias, "bias", false, true, "", false},
    {Term::relu, "relu", false, false, "may return 0 for NaN", false},
    {Term::gelu, "gelu", false, true, "approximates tanh", true},
    {Term::narrowing, "cast", false, false, "", false},
};

const TermRule& rule_of(Term term) { return rules[static_cast<std::size_t>(term)]; }

/// The value below reshapes: a reshape uses the same memory.
ValueId in_memory(const Graph& graph, ValueId value) {
  while (graph.op(value) == Op::reshape) value = graph.operands(value)[0];
  return value;
}

/// For each node, the number of its uses as an operand of needed nodes and as an output.
std::vector<std::uint32_t> live_uses(const Graph& graph) {
  std::vector<std::uint32_t> uses(graph.size());
  for (const ValueId output : graph.outputs) ++uses[index_of(output)];
  for (std::size_t i = graph.size(); i-- > 0;) {
    if (uses[i] == 0) continue;
    for (const ValueId operand : graph.operands(static_cast<ValueId>(i))) ++uses[index_of(operand)];
  }
  return uses;
}

/// Matches a value against the epilogues of the library, from the result back to the product.
class Matcher {
 public:
  Matcher(const Graph& graph, const ir::Target& target, const EpilogueOptions& options)
      : graph_(graph),
        target_(target),
        rates_(ir::capabilities_of(target).rates),
        options_(options) {}

  bool run(ValueId stored) { return narrowed(stored) && allowed(); }

  Epilogue found;
  std::vector<ValueId> passed;  ///< reshapes between the epilogue's nodes
  std::string reason;

 private:
  bool narrowed(ValueId value);
  bool activated(ValueId value);
  bool biased(ValueId value);
  bool summed(ValueId value);
  bool scaled(ValueId value);
  bool product(ValueId value);
  bool allowed();
  bool gelu_pays() const;

  struct State {
    Epilogue found;
    std::vector<ValueId> passed;
    std::vector<Term> terms;
  };
  /// Runs `match`. If it fails, restores what it has recorded.
  template <class Match>
  bool attempt(const Match& match) {
    State before{found, passed, terms_};
    if (match()) return true;
    found = std::move(before.found);
    passed = std::move(before.passed);
    terms_ = std::move(before.terms);
    return false;
  }

  ValueId below_reshapes(ValueId value);
  ValueId operand(ValueId value, std::size_t k) const { return graph_.operands(value)[k]; }
  bool is_whole(ValueId value, ValueId of) const { return graph_.shape(value) == graph_.shape(of); }
  bool is_zero(ValueId value) const {
    const auto number = constant_of(graph_, value);
    return number && *number == 0;
  }
  std::optional<Factor> factor(ValueId value) const;
  std::optional<ValueId> column_vector(ValueId value, ValueId sum);
  ValueId residual_of(ValueId value, double sign);
  std::optional<ValueId> widened(ValueId value);
  void refuse(std::string why) {
    if (reason.empty()) reason = std::move(why);
  }

  const Graph& graph_;
  const ir::Target& target_;
  const ir::Rates& rates_;
  const EpilogueOptions& options_;
  std::vector<Term> terms_;
  bool narrows_ = false;
};

// Reshapes keep the order of elements, so they do not change the library's result in memory.
ValueId Matcher::below_reshapes(ValueId value) {
  while (graph_.op(value) == Op::reshape) {
    passed.push_back(value);
    value = operand(value, 0);
  }
  return value;
}

/// A factor that is finite and known when the program is launched. A factor of 0 would hide a NaN
/// of the product, so the constant 0 is refused; a scalar is checked at launch.
std::optional<Factor> Matcher::factor(ValueId value) const {
  if (const auto number = constant_of(graph_, value)) {
    if (!std::isfinite(*number) || *number == 0) return std::nullopt;
    return Factor{*number, std::nullopt};
  }
  const ValueId source = below_broadcasts(graph_, value);
  const ir::Attributes& attributes = graph_.attributes(source);
  if (graph_.op(source) != Op::parameter || !attributes.scalar) return std::nullopt;
  return Factor{1, attributes.index};
}

// Half-precision products that are summed in float32 are rounded when the result is stored.
bool Matcher::narrowed(ValueId value) {
  const bool closes = graph_.op(value) == Op::cast && graph_.dtype(operand(value, 0)) == DType::f32;
  const DType dtype = graph_.dtype(value);
  if (!closes || (dtype != DType::f16 && dtype != DType::bf16)) return activated(value);
  found.nodes.push_back(value);
  terms_.push_back(Term::narrowing);
  narrows_ = true;
  return activated(below_reshapes(operand(value, 0)));
}

bool Matcher::activated(ValueId value) {
  if (graph_.op(value) == Op::maximum) {
    const std::size_t x = is_zero(operand(value, 1)) ? 0 : 1;
    if (!is_zero(operand(value, 1 - x)) || !is_whole(operand(value, x), value))
      return biased(value);
    found.nodes.push_back(value);
    found.activation = Activation::relu;
    terms_.push_back(Term::relu);
    return biased(below_reshapes(operand(value, x)));
  }
  if (attempt([&] { return biased(value); })) return true;
  const std::optional<Gelu> gelu = find_gelu(graph_, value);
  if (!gelu || !is_whole(gelu->x, value)) return false;
  reason.clear();
  found.nodes.insert(found.nodes.end(), gelu->nodes.begin(), gelu->nodes.end());
  found.activation = Activation::gelu;
  terms_.push_back(Term::gelu);
  return biased(below_reshapes(gelu->x));
}

/// The vector that is added to each row of the sum, if `value` is one.
std::optional<ValueId> Matcher::column_vector(ValueId value, ValueId sum) {
  const ir::Shape& shape = graph_.shape(sum);
  if (shape.empty()) return std::nullopt;
  const auto ends_alike = [&](ValueId candidate) {
    const ir::Shape& own = graph_.shape(candidate);
    return !own.empty() && own.back() == shape.back();
  };
  const auto is_vector = [&](ValueId candidate) {
    return ends_alike(candidate) && ir::element_count(graph_.shape(candidate)) == shape.back();
  };
  // Look below broadcasts along the rows.
  while (!is_vector(value) && graph_.op(value) == Op::broadcast_to && ends_alike(operand(value, 0)))
    value = operand(value, 0);
  if (!is_vector(value)) return std::nullopt;
  return value;
}

bool Matcher::biased(ValueId value) {
  if (graph_.op(value) != Op::add) return summed(value);
  for (const std::size_t x : {0, 1}) {
    const ValueId sum = operand(value, x), other = operand(value, 1 - x);
    if (!is_whole(sum, value)) continue;
    std::optional<ValueId> bias;
    const bool matched = attempt([&] {
      bias = column_vector(other, value);
      if (!bias) return false;
      found.nodes.push_back(value);
      terms_.push_back(Term::bias);
      if (narrows_) bias = widened(*bias);
      if (!bias) return false;
      found.bias = in_memory(graph_, *bias);
      if (!summed(below_reshapes(sum))) return false;
      const ir::Shape& columns = graph_.shape(found.product);
      if (graph_.shape(value).back() == columns.back()) return true;
      refuse("the added vector does not run along the product's columns");
      return false;
    });
    if (matched && found.bias) return true;
  }
  return summed(value);
}

/// An addend of a half-precision result must have the result's dtype in memory.
std::optional<ValueId> Matcher::widened(ValueId value) {
  if (graph_.op(value) != Op::cast ||
      graph_.dtype(operand(value, 0)) != graph_.dtype(found.nodes[0]))
    return std::nullopt;
  found.beside.push_back(value);
  return operand(value, 0);
}

/// Splits a factor off the residual; it becomes the library's beta.
ValueId Matcher::residual_of(ValueId value, double sign) {
  found.beta = {sign, std::nullopt};
  if (graph_.op(value) != Op::multiply || narrows_) return value;
  for (const std::size_t k : {0, 1}) {
    const std::optional<Factor> scale = factor(operand(value, 1 - k));
    if (!scale || !is_whole(operand(value, k), value)) continue;
    found.beside.push_back(value);
    found.beta = {sign * scale->constant, scale->scalar};
    return operand(value, k);
  }
  return value;
}

bool Matcher::summed(ValueId value) {
  const Op op = graph_.op(value);
  if (op != Op::add && op != Op::subtract) return scaled(value);
  for (const std::size_t x : {0, 1}) {
    const ValueId sum = operand(value, x), other = operand(value, 1 - x);
    if (!is_whole(sum, value)) continue;
    const bool matched = attempt([&] {
      found.nodes.push_back(value);
      terms_.push_back(Term::residual);
      if (!scaled(below_reshapes(sum))) return false;
      if (!is_whole(other, value)) {
        refuse(
            "the addend is neither a vector along the product's columns nor of the product's "
            "shape");
        return false;
      }
      // x - c == x + (-1) * c, and c - x == (-1) * x + c, both exactly.
      const bool subtracts = op == Op::subtract;
      if (subtracts && x == 1) found.alpha.constant = -found.alpha.constant;
      std::optional<ValueId> residual = residual_of(other, subtracts && x == 0 ? -1 : 1);
      if (narrows_) residual = widened(*residual);
      if (residual) residual = in_memory(graph_, *residual);
      found.residual = residual;
      return residual.has_value();
    });
    if (matched) return true;
  }
  return false;
}

bool Matcher::scaled(ValueId value) {
  const Op op = graph_.op(value);
  std::optional<Factor> scale;
  std::size_t x = 0;
  if (op == Op::negative) scale = Factor{-1, std::nullopt};
  if (op == Op::multiply) {
    scale = factor(operand(value, 1));
    if (!scale) x = 1, scale = factor(operand(value, 0));
  }
  if (op == Op::divide) {
    // Division by a constant is exact as a multiplication only if the constant is a power of two.
    scale = factor(operand(value, 1));
    int exponent = 0;
    if (!scale || scale->scalar || std::abs(std::frexp(scale->constant, &exponent)) != 0.5 ||
        std::abs(exponent) > 100)
      return product(value);
    scale->constant = 1 / scale->constant;
  }
  if (!scale || !is_whole(operand(value, x), value)) return product(value);
  found.nodes.push_back(value);
  found.alpha = *scale;
  if (scale->scalar || std::abs(scale->constant) != 1) terms_.push_back(Term::scale);
  return product(below_reshapes(operand(value, x)));
}

bool Matcher::product(ValueId value) {
  value = below_reshapes(value);
  if (!graph_.is_call_of(value, ir::calls::matmul())) {
    refuse(fmt::format("{} is not supported in an epilogue", graph_.op_name(value)));
    return false;
  }
  if (matmul_item(graph_, value, target_)) {
    refuse("products of small matrices are a kernel, which fuses with what follows");
    return false;
  }
  found.product = value;
  return true;
}

bool Matcher::allowed() {
  const DType dtype = graph_.dtype(found.product);
  const bool half = dtype == DType::f16 || dtype == DType::bf16;
  if (options_.strict) {
    refuse("strict mode: every op rounds separately");
    return false;
  }
  for (const Term term : terms_) {
    const TermRule& rule = rule_of(term);
    const bool lower = ir::precision_of(*graph_.attributes(found.product).call) != Precision::ieee;
    if (is_complex(dtype) || (dtype == DType::f64 && !rule.doubles)) {
      refuse(fmt::format("the library has no {} for {}", rule.name, name_of(dtype)));
    } else if (half && rule.rounds && !options_.approximate) {
      refuse(fmt::format(
          "{} rounds after every op, but a fused {} would not (allowed in approximate mode)",
          name_of(dtype), rule.name));
    } else if (!rule.differs.empty() && !options_.approximate &&
               !(lower && rule.lower_precision_allows)) {
      refuse(fmt::format("the library's {} {} (allowed in approximate mode)", rule.name,
                         rule.differs));
    } else {
      continue;
    }
    return false;
  }
  if (found.activation == Activation::gelu && !gelu_pays()) {
    refuse("the library's gelu is slower than a separate kernel after the product");
    return false;
  }
  if (!narrows_) return true;
  const DType operands = library_operands(graph_, found.product, true, options_.counter).dtype;
  if (operands == graph_.dtype(found.nodes[0])) return true;
  refuse("the product's operands do not have the dtype to which its result is cast");
  return false;
}

/// On a GPU, the library computes gelu while no other tile is being multiplied (cost for each
/// element measured on an H200). This takes longer than a pass over memory, but saves a launch.
/// Symbolic extents are assumed to be small.
bool Matcher::gelu_pays() const {
  constexpr double us_an_element = 2.4e-6;
  const ValueId stored = found.nodes.front();
  const Dim count = ir::element_count(graph_.shape(stored));
  if (!count.is_constant()) return true;
  const auto elements = static_cast<double>(count.constant());
  const double bytes = 2 * elements * static_cast<double>(size_of(graph_.dtype(stored)));
  return elements * us_an_element <= rates_.launch_us + bytes / rates_.bytes_per_us;
}

}  // namespace

EpilogueFinder::EpilogueFinder(const Graph& graph, const ir::Target& target,
                               const EpilogueOptions& options)
    : graph_(graph),
      target_(target),
      enabled_(options.enabled && ir::capabilities_of(target).gemm_epilogues),
      options_(options),
      uses_(enabled_ ? live_uses(graph) : std::vector<std::uint32_t>()) {}

std::optional<Epilogue> EpilogueFinder::find(ValueId stored, std::string* reason) const {
  if (!enabled_ || graph_.is_call_of(stored, ir::calls::matmul())) return std::nullopt;
  Matcher matcher(graph_, target_, options_);
  const bool matched = matcher.run(stored);
  const auto refuse = [&](std::string why) -> std::optional<Epilogue> {
    if (reason != nullptr) *reason = std::move(why);
    return std::nullopt;
  };
  if (!matched) return refuse(matcher.reason);
  // A reshape of a product is not an epilogue.
  if (matcher.found.nodes.empty()) return std::nullopt;
  // The values in between are not stored, so nothing else may use them.
  std::vector<ValueId> inside = matcher.found.nodes;
  inside.insert(inside.end(), matcher.passed.begin(), matcher.passed.end());
  std::vector<ValueId> hidden = inside;
  hidden.push_back(matcher.found.product);
  const Epilogue& found = matcher.found;
  for (const ValueId node : hidden) {
    if (node == found.residual || node == found.bias)
      return refuse("the addend is an intermediate value of the epilogue");
    if (node == stored) continue;
    std::uint32_t used_inside = 0;
    for (const ValueId user : inside) {
      const auto operands = graph_.operands(user);
      used_inside += static_cast<std::uint32_t>(std::ranges::count(operands, node));
    }
    if (uses_[index_of(node)] != used_inside) {
      return refuse(fmt::format("%{} {} has {} uses, {} of them outside of the epilogue",
                                index_of(node), graph_.op_name(node), uses_[index_of(node)],
                                uses_[index_of(node)] - used_inside));
    }
  }
  if (found.residual && !is_stored_anyway(*found.residual)) {
    return refuse(fmt::format("the addend, %{} {}, would need a step of its own",
                              index_of(*found.residual), graph_.op_name(*found.residual)));
  }
  return found;
}

// Storing an array only for the library to read costs as much as the epilogue saves.
bool EpilogueFinder::is_stored_anyway(ValueId value) const {
  const Op op = graph_.op(value);
  if (op == Op::parameter) return !graph_.attributes(value).scalar;
  if (ir::is_view(op) || op == Op::constant || op == Op::iota) return false;
  const bool computed = ir::is_elementwise(op) || op == Op::cast;
  return !computed || uses_[index_of(value)] > 1;
}

}  // namespace heddle::passes

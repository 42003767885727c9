#include "passes/rewrite/simplify.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "ir/graph/needed_nodes.h"
#include "ir/types/constant.h"
#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

namespace {

using ir::Attributes;
using ir::Dim;
using ir::Graph;
using ir::Op;
using ir::ValueId;

/// The graph's reductions with keepdims, by operand.
using KeptReductions = std::multimap<ValueId, ValueId>;

KeptReductions kept_reductions(const Graph& graph) {
  KeptReductions kept;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (ir::is_reduction(graph.op(id)) && graph.attributes(id).keepdims)
      kept.emplace(graph.operands(id)[0], id);
  }
  return kept;
}

/// A node about to be added, with simplified operands.
struct Subject {
  Graph& graph;
  Op op;
  const ir::Type type;
  const std::vector<ValueId>& operands;
  const Attributes& attributes;
  ir::Location location;

  ValueId operand(std::size_t k = 0) const { return operands[k]; }
  bool is_same_type(ValueId value) const {
    return graph.dtype(value) == type.dtype && graph.shape(value) == type.shape;
  }
};

using Result = std::optional<ValueId>;

bool is_constant(const Graph& graph, ValueId value, double number) {
  return graph.op(value) == Op::constant &&
         graph.attributes(value).bits == ir::constant_bits(graph.dtype(value), number);
}

// x + 0, x * 1, x / 1, x << 0
Result neutral_operand(const Subject& s) {
  // For complex x, x * (1+0j) contains NaN if a part is infinite.
  if (!ir::is_elementwise(s.op) || s.operands.size() != 2 || is_complex(s.type.dtype))
    return std::nullopt;
  const ir::OpInfo& info = ir::info(s.op);
  const bool integral = !is_floating(s.type.dtype);
  const auto is_neutral = [&](ValueId value) {
    return (info.has(ir::identity_one) && is_constant(s.graph, value, 1)) ||
           (info.has(ir::identity_zero) && integral && is_constant(s.graph, value, 0));
  };
  if (is_neutral(s.operand(1)) && s.is_same_type(s.operand(0))) return s.operand(0);
  if (info.has(ir::commutative) && is_neutral(s.operand(0)) && s.is_same_type(s.operand(1)))
    return s.operand(1);
  return std::nullopt;
}

// -(-x), ~~x, abs(abs(x)), min(x, x)
Result repeated(const Subject& s) {
  if (!ir::is_elementwise(s.op)) return std::nullopt;
  const ir::OpInfo& info = ir::info(s.op);
  const bool rounds = is_complex(s.type.dtype) && info.has(ir::rounds_complex);
  if (s.operands.size() == 1 && s.graph.op(s.operand()) == s.op) {
    if (info.has(ir::involution)) return s.graph.operands(s.operand())[0];
    if (info.has(ir::idempotent) && !rounds) return s.operand();
  }
  const bool same = s.operands.size() == 2 && s.operand(0) == s.operand(1);
  if (same && info.has(ir::idempotent) && s.is_same_type(s.operand())) return s.operand();
  return std::nullopt;
}

// real(x) and conjugate(x), for real x
Result part_of_real(const Subject& s) {
  if (s.op != Op::real && s.op != Op::conjugate) return std::nullopt;
  return is_complex(s.graph.dtype(s.operand())) ? std::nullopt : Result(s.operand());
}

/// Whether `to` can represent every value of `from`.
bool is_widening(DType from, DType to) {
  if (from == to || is_boolean(from)) return true;
  if (is_complex(to)) return is_widening(real_dtype(from), real_dtype(to));
  if (is_complex(from)) return false;
  const auto digits = [](DType d) {
    switch (d) {
      case DType::f16:
        return 11;
      case DType::bf16:
        return 8;
      case DType::f32:
        return 24;
      case DType::f64:
        return 53;
      default:
        return static_cast<int>(size_of(d)) * 8 - (is_signed_integer(d) ? 1 : 0);
    }
  };
  if (is_floating(to)) {
    if (is_floating(from)) return (to == DType::f64) || (to == DType::f32 && size_of(from) == 2);
    return digits(from) <= digits(to) && to != DType::f16;
  }
  if (is_floating(from) || is_boolean(to)) return false;
  return digits(from) <= digits(to) && !(is_signed_integer(from) && is_unsigned_integer(to));
}

// cast(x, its own dtype), cast(cast(x, wider), its own dtype)
Result cast_there_and_back(const Subject& s) {
  if (s.op != Op::cast) return std::nullopt;
  if (s.is_same_type(s.operand())) return s.operand();
  if (s.graph.op(s.operand()) != Op::cast) return std::nullopt;
  const ValueId inner = s.graph.operands(s.operand())[0];
  const bool exact = is_widening(s.graph.dtype(inner), s.graph.dtype(s.operand()));
  return exact && s.graph.dtype(inner) == s.type.dtype ? Result(inner) : std::nullopt;
}

// x ** 1, x ** 2, x ** -1, and x ** 3 as products
Result small_power(const Subject& s) {
  if (s.op != Op::power || !is_floating(s.type.dtype) ||
      !(s.graph.shape(s.operand()) == s.type.shape))
    return std::nullopt;
  const ValueId x = s.operand();
  if (is_constant(s.graph, s.operand(1), 1)) return x;
  if (is_constant(s.graph, s.operand(1), 2))
    return s.graph.add(Op::multiply, {x, x}, {}, s.location);
  if (is_constant(s.graph, s.operand(1), -1))
    return s.graph.add(Op::reciprocal, {x}, {}, s.location);
  if (is_constant(s.graph, s.operand(1), 3) && size_of(s.type.dtype) > 2) {
    const ValueId square = s.graph.add(Op::multiply, {x, x}, {}, s.location);
    return s.graph.add(Op::multiply, {square, x}, {}, s.location);
  }
  return std::nullopt;
}

// 1 / x
Result inverse(const Subject& s) {
  if (s.op != Op::divide || !is_floating(s.type.dtype) || is_complex(s.type.dtype) ||
      !is_constant(s.graph, s.operand(), 1) || !s.is_same_type(s.operand(1)))
    return std::nullopt;
  return s.graph.add(Op::reciprocal, {s.operand(1)}, {}, s.location);
}

// A view that returns its operand unchanged.
Result identity_view(const Subject& s) {
  if (!ir::is_view(s.op) || !s.is_same_type(s.operand())) return std::nullopt;
  if (s.op == Op::reshape || s.op == Op::broadcast_to) return s.operand();
  for (std::size_t axis = 0; axis < s.type.shape.size(); ++axis) {
    if (s.op == Op::transpose && s.attributes.axes[axis] != static_cast<std::int64_t>(axis))
      return std::nullopt;
    if (s.op == Op::slice &&
        (!(s.attributes.starts[axis] == Dim(0)) || s.attributes.steps[axis] != Dim(1)))
      return std::nullopt;
  }
  return s.operand();
}

// reshape(reshape), transpose(transpose), broadcast_to(broadcast_to), slice(slice). Together they
// may be the identity.
Result composed_view(const Subject& s) {
  if (!ir::is_view(s.op) || s.graph.op(s.operand()) != s.op) return std::nullopt;
  const Attributes& inner = s.graph.attributes(s.operand());
  Attributes attributes = s.attributes;
  for (std::size_t axis = 0; axis < s.type.shape.size(); ++axis) {
    if (s.op == Op::transpose) attributes.axes[axis] = inner.axes[s.attributes.axes[axis]];
    if (s.op == Op::slice) {
      attributes.starts[axis] = inner.starts[axis] + inner.steps[axis] * s.attributes.starts[axis];
      attributes.steps[axis] = inner.steps[axis] * s.attributes.steps[axis];
    }
  }
  const std::vector<ValueId> base{s.graph.operands(s.operand())[0]};
  if (const Result same = identity_view({s.graph, s.op, s.type, base, attributes, s.location}))
    return same;
  return s.graph.add(s.op, base, attributes, s.location);
}

// x[...] = value, where the region is all of x, in order
Result whole_update(const Subject& s) {
  if (s.op != Op::slice_update || !(s.attributes.shape == s.type.shape)) return std::nullopt;
  for (const Dim step : s.attributes.steps) {
    if (step != Dim(1)) return std::nullopt;
  }
  Attributes attributes;
  attributes.shape = s.type.shape;
  if (s.graph.shape(s.operand(1)) == s.type.shape) return s.operand(1);
  return s.graph.add(Op::broadcast_to, {s.operand(1)}, attributes, s.location);
}

/// Rows of an array, one after the other: x[begin:end].
struct Rows {
  ValueId array;
  Dim begin, end;
};

/// The rows of which a value consists, in C order: x[i:k], or reshape(x[i:k]).
std::optional<Rows> rows_of(const Graph& graph, ValueId value) {
  const ValueId slice = graph.op(value) == Op::reshape ? graph.operands(value)[0] : value;
  if (graph.op(slice) != Op::slice) return std::nullopt;
  const ValueId array = graph.operands(slice)[0];
  const Attributes& attributes = graph.attributes(slice);
  for (std::size_t axis = 0; axis < attributes.starts.size(); ++axis) {
    const bool all = attributes.shape[axis] == graph.shape(array)[axis];
    if (attributes.steps[axis] != Dim(1) || (axis > 0 && !all)) return std::nullopt;
  }
  if (attributes.shape.empty()) return std::nullopt;
  return Rows{array, attributes.starts[0], attributes.starts[0] + attributes.shape[0]};
}

// concatenate([x[0], x[1], x[2]]), where it joins along the first axis that is not 1
Result joined_rows(const Subject& s) {
  if (s.op != Op::concatenate || s.operands.size() < 2) return std::nullopt;
  for (std::int64_t axis = 0; axis < s.attributes.axes[0]; ++axis) {
    if (s.type.shape[static_cast<std::size_t>(axis)] != Dim(1)) return std::nullopt;
  }
  std::optional<Rows> joined = rows_of(s.graph, s.operand());
  for (std::size_t i = 1; joined && i < s.operands.size(); ++i) {
    const std::optional<Rows> next = rows_of(s.graph, s.operand(i));
    const bool follows = next && next->array == joined->array && next->begin == joined->end;
    follows ? void(joined->end = next->end) : joined.reset();
  }
  if (!joined) return std::nullopt;
  Attributes rows, whole;
  rows.shape = s.graph.shape(joined->array);
  rows.starts.assign(rows.shape.size(), Dim(0));
  rows.steps.assign(rows.shape.size(), Dim(1));
  rows.starts[0] = joined->begin;
  rows.shape[0] = joined->end - joined->begin;
  whole.shape = s.type.shape;
  const bool every = rows.shape == s.graph.shape(joined->array);
  const ValueId slice =
      every ? joined->array : s.graph.add(Op::slice, {joined->array}, rows, s.location);
  return s.graph.shape(slice) == s.type.shape
             ? slice
             : s.graph.add(Op::reshape, {slice}, whole, s.location);
}

// sum(x), if the graph also contains sum(x, keepdims): one reduction and a reshape.
Result kept_as_well(const Graph& old, ValueId id, const KeptReductions& kept, const Subject& s) {
  const bool is_plain = ir::is_reduction(s.op) && s.operands.size() == 1;
  if (!is_plain || s.attributes.keepdims) return std::nullopt;
  Attributes keeping = s.attributes;
  keeping.keepdims = true;
  const auto [begin, end] = kept.equal_range(old.operands(id)[0]);
  const bool wanted = std::any_of(begin, end, [&](const auto& other) {
    return old.op(other.second) == s.op && old.dtype(other.second) == s.type.dtype &&
           old.attributes(other.second) == keeping;
  });
  if (!wanted) return std::nullopt;
  Attributes shape;
  shape.shape = s.type.shape;
  const ValueId reduced = s.graph.add(s.op, s.operands, keeping, s.location);
  return s.graph.add(Op::reshape, {reduced}, shape, s.location);
}

bool is_same_region(const Graph& graph, ValueId a, ValueId b) {
  const Attributes &one = graph.attributes(a), &other = graph.attributes(b);
  return one.starts == other.starts && one.steps == other.steps && one.shape == other.shape;
}

/// Whether two regions of one array are known to have no element in common.
bool are_apart(const Graph& graph, ValueId a, ValueId b) {
  const Attributes &one = graph.attributes(a), &other = graph.attributes(b);
  for (std::size_t axis = 0; axis < one.starts.size(); ++axis) {
    if (one.steps[axis] != Dim(1) || other.steps[axis] != Dim(1)) continue;
    const Dim begin = one.starts[axis], begin_other = other.starts[axis];
    if ((begin - begin_other - other.shape[axis]).is_non_negative() ||
        (begin_other - begin - one.shape[axis]).is_non_negative())
      return true;
  }
  return false;
}

/// Updates of parts that another update overwrites, and that are otherwise only read there. Other
/// parts of the array may be read as well: they are what they were before.
std::vector<bool> overwritten_updates(const Graph& graph) {
  const std::vector<bool> needed = ir::needed_nodes(graph);
  std::vector<bool> overwritten(graph.size()), read(graph.size());
  for (const ValueId output : graph.outputs) read[index_of(output)] = true;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto user = static_cast<ValueId>(i);
    const auto operands = graph.operands(user);
    for (std::size_t k = 0; needed[i] && k < operands.size(); ++k) {
      const bool accesses = k == 0 && graph.op(operands[k]) == Op::slice_update &&
                            (graph.op(user) == Op::slice || graph.op(user) == Op::slice_update);
      const bool same = accesses && is_same_region(graph, user, operands[k]);
      const bool elsewhere =
          accesses && graph.op(user) == Op::slice && are_apart(graph, user, operands[k]);
      if (!same && !elsewhere) read[index_of(operands[k])] = true;
      if (same && graph.op(user) == Op::slice_update) overwritten[index_of(operands[k])] = true;
    }
  }
  for (std::size_t i = 0; i < overwritten.size(); ++i)
    if (read[i]) overwritten[i] = false;
  return overwritten;
}

// x[...] = a; x[...] = f(x[...]), for equal regions: x[...] = f(a).
Result without_overwritten(const Graph& old, ValueId id, const std::vector<bool>& overwritten,
                           const Subject& s) {
  const bool applies = (s.op == Op::slice || s.op == Op::slice_update) &&
                       overwritten[index_of(old.operands(id)[0])] &&
                       s.graph.op(s.operand()) == Op::slice_update;
  if (!applies) return std::nullopt;
  const auto update = s.graph.operands(s.operand());
  if (!is_same_region(old, id, old.operands(id)[0]))
    return s.graph.add(Op::slice, {update[0]}, s.attributes, s.location);
  if (s.op == Op::slice_update)
    return s.graph.add(Op::slice_update, {update[0], s.operand(1)}, s.attributes, s.location);
  if (s.is_same_type(update[1])) return update[1];
  Attributes attributes;
  attributes.shape = s.type.shape;
  return s.graph.add(Op::broadcast_to, {update[1]}, attributes, s.location);
}

using Rule = Result (*)(const Subject&);
constexpr Rule rules[] = {neutral_operand, repeated,   part_of_real,  cast_there_and_back,
                          small_power,     inverse,    identity_view, composed_view,
                          whole_update,    joined_rows};

}  // namespace

Graph simplify(const Graph& graph) {
  const KeptReductions kept = kept_reductions(graph);
  const std::vector<bool> overwritten = overwritten_updates(graph);
  return rewrite(graph, [&](Graph& result, ValueId id, const std::vector<ValueId>& operands) {
    const Subject subject{result,   graph.op(id),         graph.type(id),
                          operands, graph.attributes(id), graph.node(id).location};
    for (const Rule rule : rules) {
      if (const Result simpler = rule(subject)) return *simpler;
    }
    if (const Result updated = without_overwritten(graph, id, overwritten, subject))
      return *updated;
    if (const Result shared = kept_as_well(graph, id, kept, subject)) return *shared;
    return copy_node(result, graph, id, operands);
  });
}

}  // namespace heddle::passes

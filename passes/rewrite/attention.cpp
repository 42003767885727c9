#include "passes/rewrite/attention.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/calls/attention.h"
#include "ir/calls/calls.h"
#include "ir/types/capabilities.h"
#include "passes/rewrite/gelu.h"
#include "passes/rewrite/rewrite.h"
#include "passes/rewrite/score_map.h"

namespace heddle::passes {

namespace {

using ir::Dim;
using ir::Graph;
using ir::Op;
using ir::Shape;
using ir::ValueId;

/// Attention in a graph. Keys are transposed: [..., d, m].
struct Attention {
  ValueId queries{}, keys{}, values{};
  double scale = 1;
  std::optional<ScoreMap> map;
};

bool is_product(const Graph& graph, ValueId value) {
  return graph.is_call_of(value, ir::calls::matmul()) &&
         ir::precision_of(*graph.attributes(value).call) == Precision::ieee;
}

/// Finds the attention that a product computes.
class Finder {
 public:
  Finder(const Graph& graph, ValueId root) : graph_(graph), root_(root) {}

  std::optional<Attention> find() {
    if (!is_product(graph_, root_) || !is_half(graph_.dtype(root_))) return std::nullopt;
    Attention found;
    found.values = graph_.operands(root_)[1];
    const std::optional<ValueId> scores = softmax_of(below_casts(graph_.operands(root_)[0]));
    if (!scores) return std::nullopt;
    ValueId product = below_factors(*scores, found.scale);
    if (!graph_.is_call_of(product, ir::calls::matmul())) {
      found.map = find_score_map(graph_, *scores);
      if (!found.map) return std::nullopt;
      inner_.insert(inner_.end(), found.map->nodes.begin(), found.map->nodes.end());
      product = found.map->product;
      found.scale = 1;
    }
    if (!is_product(graph_, product)) return std::nullopt;
    inner_.push_back(product);
    // A map has the batch of its scores.
    const Shape &shape = graph_.shape(product), &result = graph_.shape(root_);
    if (found.map && !std::equal(shape.begin(), shape.end() - 2, result.begin(), result.end() - 2))
      return std::nullopt;
    found.queries = operand(product, 0, found.scale);
    found.keys = operand(product, 1, found.scale);
    // The kernel finds the greatest score before it is scaled.
    const bool positive = found.scale > 0 && std::isfinite(found.scale);
    const bool fits = positive && graph_.dtype(found.queries) == graph_.dtype(root_) &&
                      graph_.dtype(found.keys) == graph_.dtype(root_);
    return fits ? std::optional(found) : std::nullopt;
  }

  /// The nodes between the operands and the product that nothing else may use.
  const std::vector<ValueId>& inner() const { return inner_; }

 private:
  ValueId below_casts(ValueId value) {
    while (graph_.op(value) == Op::cast && is_floating(graph_.dtype(graph_.operands(value)[0]))) {
      inner_.push_back(value);
      value = graph_.operands(value)[0];
    }
    return value;
  }

  /// Below multiplications by numbers, which are factors of `scale`.
  ValueId below_factors(ValueId value, double& scale) {
    for (;;) {
      value = below_casts(value);
      const Op op = graph_.op(value);
      if (op != Op::multiply && op != Op::divide) return value;
      const std::span<const ValueId> operands = graph_.operands(value);
      const bool right = constant_of(graph_, operands[1]).has_value();
      const std::optional<double> factor = constant_of(graph_, operands[right ? 1 : 0]);
      const ValueId rest = operands[right ? 0 : 1];
      if (!factor || (op == Op::divide && (!right || *factor == 0)) ||
          graph_.shape(rest) != graph_.shape(value))
        return value;
      scale = op == Op::divide ? scale / *factor : scale * *factor;
      inner_.push_back(value);
      value = rest;
    }
  }

  /// A product's operand without its factors, which other nodes may use too.
  ValueId operand(ValueId product, std::size_t k, double& scale) {
    const std::size_t before = inner_.size();
    const ValueId value = below_factors(graph_.operands(product)[k], scale);
    inner_.resize(before);
    return value;
  }

  /// Whether `value` has, for each row of `of`, `op` over that row.
  bool is_over_rows(ValueId value, Op op, ValueId of) {
    if (graph_.op(value) == Op::broadcast_to) {
      inner_.push_back(value);
      value = graph_.operands(value)[0];
    }
    value = below_casts(value);
    Shape rows = graph_.shape(of);
    rows.back() = 1;
    if (graph_.shape(value) != rows) return false;
    if (graph_.op(value) == Op::reshape) {
      inner_.push_back(value);
      value = graph_.operands(value)[0];
    }
    value = below_casts(value);
    inner_.push_back(value);
    const auto last = static_cast<std::int64_t>(graph_.shape(of).size()) - 1;
    return graph_.op(value) == op && graph_.attributes(value).axes == std::vector{last} &&
           below_casts(graph_.operands(value)[0]) == of;
  }

  /// The operand of a softmax along the last axis.
  std::optional<ValueId> softmax_of(ValueId value) {
    if (graph_.op(value) != Op::divide) return std::nullopt;
    inner_.push_back(value);
    const ValueId exponentials = below_casts(graph_.operands(value)[0]);
    if (graph_.op(exponentials) != Op::exp ||
        !is_over_rows(graph_.operands(value)[1], Op::sum, exponentials))
      return std::nullopt;
    inner_.push_back(exponentials);
    const ValueId shifted = below_casts(graph_.operands(exponentials)[0]);
    if (graph_.op(shifted) != Op::subtract) return std::nullopt;
    inner_.push_back(shifted);
    const ValueId scores = below_casts(graph_.operands(shifted)[0]);
    if (!is_over_rows(graph_.operands(shifted)[1], Op::max, scores)) return std::nullopt;
    return scores;
  }

  const Graph& graph_;
  ValueId root_;
  std::vector<ValueId> inner_;
};

/// Whether only `root` and the nodes `inner` use those.
bool is_private(const Graph& graph, std::vector<ValueId> inner, ValueId root) {
  const auto index = [](ValueId value) { return index_of(value); };
  std::ranges::sort(inner, {}, index);
  const auto known = [&](ValueId value) {
    return std::ranges::binary_search(inner, index_of(value), {}, index);
  };
  if (std::ranges::any_of(graph.outputs, known)) return false;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto user = static_cast<ValueId>(i);
    if (user == root || known(user)) continue;
    if (std::ranges::any_of(graph.operands(user), known)) return false;
  }
  return true;
}

/// Whether a kernel computes it, and is expected to be faster than the steps that it replaces.
/// These steps store and read the scores four times.
bool is_worthwhile(const Graph& graph, const Attention& found, ValueId root,
                   const ir::Target& target) {
  constexpr std::int64_t rows = attention_block_rows, least_rows = 32;
  constexpr double flops_of_multiprocessor = 3.5e6, score_bytes = 4 * 2;  // per us; of one score
  const Dim depth = graph.shape(found.queries).back(), width = graph.shape(found.values).back();
  for (const Dim columns : {depth, width}) {
    if (!columns.is_constant() || columns.constant() == 0 ||
        columns.constant() > most_attention_columns || columns.constant() % attention_piece != 0)
      return false;
  }
  const Shape& keys = graph.shape(found.keys);
  const Shape& shape = graph.shape(root);
  const Dim queries = shape[shape.size() - 2], columns = keys.back();
  if (columns == Dim(0)) return false;
  const Dim batch = ir::element_count({shape.begin(), shape.end() - 2});
  if (!batch.is_constant() || !queries.is_constant() || !columns.is_constant()) return true;
  if (queries.constant() < least_rows) return false;
  const std::int64_t blocks = (queries.constant() + rows - 1) / rows * batch.constant();
  const std::int64_t waves = (blocks + target.multiprocessors - 1) / target.multiprocessors;
  const double block_flops = 2.0 * rows * static_cast<double>(columns.constant()) *
                             static_cast<double>(depth.constant() + width.constant());
  const ir::Rates& rates = ir::capabilities_of(target).rates;
  const double scores = static_cast<double>(batch.constant()) *
                        static_cast<double>(queries.constant()) *
                        static_cast<double>(columns.constant());
  return static_cast<double>(waves) * block_flops / flops_of_multiprocessor <
         scores * score_bytes / rates.bytes_per_us + 2 * rates.launch_us;
}

ValueId with_batch(Graph& graph, ValueId operand, const Shape& batch, ir::Location location) {
  ir::Attributes attributes;
  attributes.shape = batch;
  const Shape shape = graph.shape(operand);
  attributes.shape.insert(attributes.shape.end(), shape.end() - 2, shape.end());
  if (attributes.shape == shape) return operand;
  return graph.add(Op::broadcast_to, {operand}, attributes, location);
}

ValueId transposed(Graph& graph, ValueId operand, ir::Location location) {
  ir::Attributes attributes;
  attributes.axes.resize(graph.shape(operand).size());
  std::iota(attributes.axes.begin(), attributes.axes.end(), 0);
  std::swap(attributes.axes.end()[-1], attributes.axes.end()[-2]);
  return graph.add(Op::transpose, {operand}, attributes, location);
}

}  // namespace

Graph find_attention(const Graph& graph, const ir::Target& target) {
  if (!ir::capabilities_of(target).tile_products) return graph;
  std::unordered_map<std::uint32_t, Attention> found;  ///< by root
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto root = static_cast<ValueId>(i);
    Finder finder(graph, root);
    const std::optional<Attention> one = finder.find();
    if (one && is_worthwhile(graph, *one, root, target) && is_private(graph, finder.inner(), root))
      found.emplace(index_of(root), *one);
  }
  if (found.empty()) return graph;
  std::vector<ValueId> mapped(graph.size());
  std::size_t next = 0;
  for (const ValueId parameter : graph.parameters()) mapped[index_of(parameter)] = ValueId(next++);
  return rewrite(graph, [&](Graph& result, ValueId id, const std::vector<ValueId>& operands) {
    const auto one = found.find(index_of(id));
    if (one == found.end()) return mapped[index_of(id)] = copy_node(result, graph, id, operands);
    const ir::Location location = graph.node(id).location;
    const Shape& shape = graph.shape(id);
    const Shape batch(shape.begin(), shape.end() - 2);
    const auto operand = [&](ValueId value) {
      return with_batch(result, mapped[index_of(value)], batch, location);
    };
    const ValueId keys = transposed(result, operand(one->second.keys), location);
    std::vector<ValueId> given = {operand(one->second.queries), keys, operand(one->second.values)};
    std::vector<ir::Region> regions;
    if (one->second.map) {
      for (const ValueId other : one->second.map->operands)
        given.push_back(mapped[index_of(other)]);
      regions.push_back(ir::make_region(one->second.map->graph));
    }
    const ir::Attributes attributes = ir::call_attributes(
        ir::calls::attention(), {{"scale", one->second.scale}}, std::move(regions));
    return mapped[index_of(id)] = result.add(Op::call, given, attributes, location);
  });
}

}  // namespace heddle::passes

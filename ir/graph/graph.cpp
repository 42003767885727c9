#include "ir/graph/graph.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/calls/calls.h"
#include "ir/interpreter/fold.h"

namespace heddle::ir {
namespace {

const Attributes& default_attributes() {
  static const Attributes* const attributes = new Attributes;
  return *attributes;
}

/// Canonical bits: bits beyond the dtype's size are 0, and bool is 0 or 1.
ElementBits normalize_bits(DType dtype, ElementBits bits) {
  const std::size_t size = size_of(dtype);
  if (size < sizeof bits) bits.high = 0;
  if (size < sizeof bits.low) bits.low &= (std::uint64_t{1} << (8 * size)) - 1;
  return is_boolean(dtype) ? ElementBits(bits.low != 0) : bits;
}

std::int64_t least_common_multiple(const SymbolFact& a, const SymbolFact& b) {
  std::int64_t result = 0;
  const std::int64_t quotient = a.multiple_of / std::gcd(a.multiple_of, b.multiple_of);
  if (__builtin_mul_overflow(quotient, b.multiple_of, &result)) {
    throw ValueError(
        fmt::format("{} cannot be a multiple of both {} and {}: their least common multiple does "
                    "not fit 64 bits",
                    symbol_name(a.symbol), a.multiple_of, b.multiple_of));
  }
  return result;
}

}  // namespace

std::string Location::to_string() const {
  return file == nullptr ? std::string() : fmt::format("{}:{}", file, line);
}

ValueId Graph::parameter(DType dtype, Shape shape, Location location) {
  Attributes attributes;
  attributes.dtype = dtype;
  attributes.shape = std::move(shape);
  attributes.index = static_cast<std::uint32_t>(parameters_.size());
  return insert(Op::parameter, {}, std::move(attributes), location);
}

ValueId Graph::scalar_parameter(DType dtype, Location location) {
  Attributes attributes;
  attributes.dtype = dtype;
  attributes.index = static_cast<std::uint32_t>(parameters_.size());
  attributes.scalar = true;
  return insert(Op::parameter, {}, std::move(attributes), location);
}

ValueId Graph::constant(DType dtype, ElementBits bits) {
  Attributes attributes;
  attributes.dtype = dtype;
  attributes.bits = normalize_bits(dtype, bits);
  return insert(Op::constant, {}, std::move(attributes), {});
}

ValueId Graph::add(Op op, std::span<const ValueId> operands, Attributes attributes,
                   Location location) {
  if (op == Op::parameter) throw InternalError("parameters are made by Graph::parameter");
  for (ValueId operand : operands) {
    if (index_of(operand) >= nodes_.size()) {
      throw InternalError(fmt::format("{}: operand {} is not a node of this graph, which has {}",
                                      info(op).name, index_of(operand), nodes_.size()));
    }
  }
  return insert(op, operands, std::move(attributes), location);
}

ValueId Graph::insert(Op op, std::span<const ValueId> operands, Attributes&& attributes,
                      Location location) {
  std::vector<Type> types;
  types.reserve(operands.size());
  for (ValueId operand : operands) types.push_back(type(operand));
  std::vector<Type> results;
  if (op == Op::call) results = infer_results(types, attributes);
  const Type result = op == Op::call     ? results.front()
                      : op == Op::result ? infer_result(operands, attributes)
                                         : infer(op, types, attributes);
  if (const auto bits = folded(op, operands, attributes)) return constant(result.dtype, *bits);

  const bool plain = attributes == default_attributes();
  Hasher hasher;
  hasher.number(static_cast<std::uint64_t>(op)).number(operands.size());
  for (ValueId operand : operands) hasher.hash(node(operand).hash);
  hasher.number(plain ? 0 : 1);
  if (!plain) hash_into(hasher, attributes);
  const Hash128 hash = hasher.finish();
  if (auto found = by_hash_.find(hash); found != by_hash_.end()) return found->second;

  if (nodes_.size() == std::numeric_limits<std::uint32_t>::max()) {
    throw ValueError("a graph holds at most 2^32 - 1 nodes; evaluate in parts");
  }
  const ValueId id{static_cast<std::uint32_t>(nodes_.size())};
  const auto first_operand = static_cast<std::uint32_t>(operands_.size());
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  nodes_.push_back({.op = op,
                    .dtype = result.dtype,
                    .shape = intern_shape(result.shape),
                    .operands = first_operand,
                    .operand_count = static_cast<std::uint32_t>(operands.size()),
                    .attributes = store_attributes(std::move(attributes)),
                    .location = location,
                    .hash = hash});
  by_hash_.emplace(hash, id);
  if (op == Op::parameter) parameters_.push_back(id);
  if (op == Op::call) result_types_.emplace(index_of(id), std::move(results));
  return id;
}

Type Graph::infer_result(std::span<const ValueId> operands, const Attributes& attributes) const {
  if (operands.size() != 1 || op(operands[0]) != Op::call)
    throw InternalError("result: its operand is not a call");
  const std::vector<Type>& types = result_types(operands[0]);
  if (attributes.index == 0 || attributes.index >= types.size()) {
    throw InternalError(fmt::format("result: {} has {} results; index {} is out of range",
                                    op_name(operands[0]), types.size(), attributes.index));
  }
  return types[attributes.index];
}

ValueId Graph::call(const CallOp& op, std::initializer_list<ValueId> operands,
                    std::initializer_list<NamedAttribute> attributes, std::vector<Region> regions,
                    Location location) {
  return add(Op::call, operands, call_attributes(op, attributes, std::move(regions)), location);
}

ValueId Graph::result(ValueId call, std::size_t index, Location location) {
  if (index == 0) return call;
  Attributes attributes;
  attributes.index = static_cast<std::uint32_t>(index);
  return add(Op::result, {call}, std::move(attributes), location);
}

std::string_view Graph::op_name(ValueId id) const { return name_of(op(id), attributes(id)); }

std::optional<ElementBits> Graph::folded(Op op, std::span<const ValueId> operands,
                                         const Attributes& attributes) const {
  if (!fold_constants || !is_elementwise(op)) return std::nullopt;
  std::vector<ElementBits> bits;
  for (ValueId operand : operands) {
    if (node(operand).op != Op::constant) return std::nullopt;
    bits.push_back(this->attributes(operand).bits);
  }
  const std::size_t typed = typed_operand(info(op).rule);
  return fold(op, dtype(operands[typed]), bits, attributes);
}

std::uint32_t Graph::intern_shape(const Shape& shape) {
  // Equal extents have equal bytes, because polynomials are interned.
  std::string key(shape.size() * sizeof(Dim), '\0');
  if (!shape.empty()) std::memcpy(key.data(), shape.data(), key.size());
  const auto next = static_cast<std::uint32_t>(shapes_.size());
  const auto [place, is_new] = shape_ids_.try_emplace(std::move(key), next);
  if (is_new) shapes_.push_back(shape);
  return place->second;
}

std::uint32_t Graph::store_attributes(Attributes&& attributes) {
  // Nodes without attributes (most of them) share the first entry.
  if (attributes_.empty()) attributes_.emplace_back();
  if (attributes == attributes_.front()) return 0;
  attributes_.push_back(std::move(attributes));
  return static_cast<std::uint32_t>(attributes_.size() - 1);
}

Hash128 Graph::hash() const {
  Hasher hasher;
  hasher.number(parameters_.size());
  for (ValueId parameter : parameters_) hasher.hash(node(parameter).hash);
  hasher.number(outputs.size());
  for (ValueId output : outputs) hasher.hash(node(output).hash);
  for (const SymbolFact& fact : merge_facts(facts)) {
    hasher.bytes(symbol_name(fact.symbol));
    hasher.number(static_cast<std::uint64_t>(fact.minimum));
    hasher.number(static_cast<std::uint64_t>(fact.multiple_of));
  }
  return hasher.finish();
}

Region make_region(Graph graph) {
  if (!graph.facts.empty())
    throw ValueError("a region cannot hold facts about symbols; state them on the whole graph");
  auto shared = std::make_shared<const Graph>(std::move(graph));
  Region region{shared, shared->hash(), {}, {}};
  for (const ValueId parameter : shared->parameters())
    region.parameters.push_back(shared->type(parameter));
  for (const ValueId output : shared->outputs) region.results.push_back(shared->type(output));
  return region;
}

std::vector<SymbolFact> merge_facts(std::span<const SymbolFact> facts) {
  std::vector<SymbolFact> merged;
  for (const SymbolFact& fact : facts) {
    if (fact.multiple_of < 1) {
      throw ValueError(fmt::format("{} cannot be a multiple of {}; give a positive number",
                                   symbol_name(fact.symbol), fact.multiple_of));
    }
    auto known = std::ranges::find(merged, fact.symbol, &SymbolFact::symbol);
    if (known == merged.end()) {
      known = merged.insert(known, SymbolFact{.symbol = fact.symbol});
    }
    known->minimum = std::max(known->minimum, fact.minimum);
    known->multiple_of = least_common_multiple(*known, fact);
  }
  std::erase_if(merged,
                [](const SymbolFact& fact) { return fact.minimum == 0 && fact.multiple_of == 1; });
  std::ranges::sort(merged, {}, [](const SymbolFact& fact) { return symbol_name(fact.symbol); });
  return merged;
}

std::vector<std::uint32_t> use_counts(const Graph& graph) {
  std::vector<std::uint32_t> counts(graph.size());
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const std::span<const ValueId> operands = graph.operands(ValueId{i});
    for (auto operand = operands.begin(); operand != operands.end(); ++operand) {
      if (std::find(operands.begin(), operand, *operand) == operand) ++counts[index_of(*operand)];
    }
  }
  return counts;
}

}  // namespace heddle::ir

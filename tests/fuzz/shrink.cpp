#include "tests/fuzz/shrink.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "heddle/error.h"

#include "ir/graph/with_dims.h"
#include "tests/cases/programs.h"
#include "tests/fuzz/shrink_regions.h"
#include "tests/support/samples.h"

namespace heddle::test {
namespace {

using ir::Attributes;
using ir::Dim;
using ir::Graph;
using ir::HostArray;
using ir::Op;
using ir::Shape;
using ir::ValueId;

/// What becomes of a node in a copy.
enum class Fate : std::uint8_t { kept, input, first_operand };

bool flag(const std::vector<bool>& flags, std::size_t index, bool otherwise) {
  return index < flags.size() ? flags[index] : otherwise;
}

/// The values of all nodes.
std::vector<HostArray> values_of(const Case& one) {
  Graph all = one.graph;
  all.outputs.clear();
  for (std::uint32_t i = 0; i < all.size(); ++i) all.outputs.push_back(ValueId(i));
  return ir::interpret(all, one.inputs);
}

/// A loop or branch with other regions.
struct ChangedCall {
  ValueId node;
  ir::CallRef call;
};

/// Builds a case anew from another: nodes as `fates` say, the outputs that are chosen, and what
/// they need.
class Copy {
 public:
  Copy(const Case& from, const std::vector<Fate>& fates, std::vector<ValueId> outputs,
       const std::optional<ChangedCall>& changed)
      : from_(from), fates_(fates), changed_(changed), mapped_(from.graph.size()) {
    result_.graph.name = from.graph.name;
    result_.graph.fold_constants = false;
    result_.bindings = from.bindings;
    result_.options.strict = from.options.strict;
    result_.options.disabled = from.options.disabled;
    outputs_ = std::move(outputs);
  }

  Case run() {
    const std::vector<bool> needed = needed_nodes();
    for (std::size_t i = 0; i < from_.graph.size(); ++i) {
      if (needed[i]) add(ValueId{static_cast<std::uint32_t>(i)});
    }
    for (const ValueId output : outputs_) {
      result_.graph.outputs.push_back(mapped_[ir::index_of(output)]);
    }
    require_bound_symbols(result_.graph);
    return std::move(result_);
  }

 private:
  std::vector<bool> needed_nodes() const {
    std::vector<bool> needed(from_.graph.size());
    for (const ValueId output : outputs_) needed[ir::index_of(output)] = true;
    for (std::size_t i = needed.size(); i-- > 0;) {
      if (!needed[i] || fates_[i] == Fate::input) continue;
      const auto operands = from_.graph.operands(ValueId{static_cast<std::uint32_t>(i)});
      const std::size_t count = fates_[i] == Fate::first_operand ? 1 : operands.size();
      for (std::size_t k = 0; k < count; ++k) needed[ir::index_of(operands[k])] = true;
    }
    return needed;
  }

  void add(ValueId id) {
    const Graph& old = from_.graph;
    ValueId& place = mapped_[ir::index_of(id)];
    if (old.op(id) == Op::parameter) {
      const std::uint32_t index = old.attributes(id).index;
      place = add_input(id, from_.inputs[index], old.attributes(id).scalar,
                        flag(from_.options.donated, index, false),
                        flag(from_.options.aligned, index, true));
      return;
    }
    if (fates_[ir::index_of(id)] == Fate::input) {
      if (values_.empty()) values_ = values_of(from_);
      place = add_input(id, values_[ir::index_of(id)], false, false, true);
      return;
    }
    if (fates_[ir::index_of(id)] == Fate::first_operand) {
      place = mapped_[ir::index_of(old.operands(id)[0])];
      return;
    }
    if (old.op(id) == Op::constant) {
      place = result_.graph.constant(old.dtype(id), old.attributes(id).bits);
      return;
    }
    std::vector<ValueId> operands;
    for (const ValueId operand : old.operands(id))
      operands.push_back(mapped_[ir::index_of(operand)]);
    Attributes attributes = old.attributes(id);
    if (changed_ && changed_->node == id) attributes.call = changed_->call;
    place = result_.graph.add(old.op(id), operands, std::move(attributes));
  }

  ValueId add_input(ValueId id, const HostArray& value, bool scalar, bool donated, bool aligned) {
    result_.inputs.push_back(value);
    result_.options.donated.push_back(donated);
    result_.options.aligned.push_back(aligned);
    const Graph& old = from_.graph;
    return scalar ? result_.graph.scalar_parameter(old.dtype(id))
                  : result_.graph.parameter(old.dtype(id), old.shape(id));
  }

  /// Throws ShapeError for a symbol that is no input's extent.
  static void require_bound_symbols(const Graph& graph) {
    std::vector<Dim> extents;
    for (const ValueId parameter : graph.parameters()) {
      extents.insert(extents.end(), graph.shape(parameter).begin(), graph.shape(parameter).end());
    }
    std::vector<ir::SymbolId> symbols;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      for (const Dim extent : graph.shape(ValueId{static_cast<std::uint32_t>(i)})) {
        extent.collect_symbols(symbols);
      }
    }
    for (const ir::SymbolId symbol : symbols) {
      if (std::ranges::find(extents, Dim::symbol(symbol)) == extents.end()) {
        throw ShapeError("an unbound symbol");
      }
    }
  }

  const Case& from_;
  const std::vector<Fate>& fates_;
  const std::optional<ChangedCall>& changed_;
  Case result_;
  std::vector<ValueId> mapped_, outputs_;
  std::vector<HostArray> values_;
};

/// Every extent `from` becomes `to`, in inputs, attributes and regions.
Case with_extent(const Case& one, std::int64_t from, std::int64_t to) {
  const auto changed = [&](const Shape& shape) {
    Shape result = shape;
    for (Dim& extent : result) {
      if (extent == Dim(from)) extent = to;
    }
    return result;
  };
  Case result;
  result.graph.name = one.graph.name;
  result.graph.fold_constants = false;
  result.bindings = one.bindings;
  result.options = one.options;
  std::vector<ValueId> mapped(one.graph.size());
  for (std::size_t i = 0; i < one.graph.size(); ++i) {
    const ValueId id{static_cast<std::uint32_t>(i)};
    const Graph& old = one.graph;
    if (old.op(id) == Op::parameter) {
      const bool scalar = old.attributes(id).scalar;
      const Shape shape = changed(old.shape(id));
      mapped[i] = scalar ? result.graph.scalar_parameter(old.dtype(id))
                         : result.graph.parameter(old.dtype(id), shape);
      const HostArray& before = one.inputs[old.attributes(id).index];
      HostArray after{{before.type.dtype, bound(shape, one.bindings)}, {}};
      after.data.resize(bytes_of(after.type));
      for (std::size_t at = 0; at < after.data.size(); ++at) {
        after.data[at] = before.data[at % before.data.size()];
      }
      result.inputs.push_back(std::move(after));
      continue;
    }
    if (old.op(id) == Op::constant) {
      mapped[i] = result.graph.constant(old.dtype(id), old.attributes(id).bits);
      continue;
    }
    Attributes attributes = old.attributes(id);
    attributes.shape = changed(attributes.shape);
    for (Dim& start : attributes.starts) {
      if (start == Dim(from - 1)) start = to - 1;
    }
    const auto same = [](Dim step) { return step; };
    attributes.call = ir::with_dims(
        attributes.call, [&](Dim dim) { return dim == Dim(from) ? Dim(to) : dim; }, same);
    std::vector<ValueId> operands;
    for (const ValueId operand : old.operands(id))
      operands.push_back(mapped[ir::index_of(operand)]);
    mapped[i] = result.graph.add(old.op(id), operands, attributes);
  }
  for (const ValueId output : one.graph.outputs) {
    result.graph.outputs.push_back(mapped[ir::index_of(output)]);
  }
  return result;
}

class Shrinker {
 public:
  Shrinker(Case one, const std::function<bool(const Case&)>& fails, int budget)
      : best_(std::move(one)), fails_(fails), budget_(budget) {}

  Case run() {
    drop_outputs();
    while ((simplify_nodes() | simplify_regions()) && budget_ > 0) {
    }
    shrink_extents();
    while ((simplify_nodes() | simplify_regions()) && budget_ > 0) {
    }
    simplify_options();
    simplify_inputs();
    return std::move(best_);
  }

 private:
  /// Takes a smaller case where it fails too. Makers that cannot make one throw.
  template <class Make>
  bool attempt(const Make& make) {
    if (budget_ <= 0) return false;
    try {
      Case smaller = make();
      --budget_;
      if (!fails_(smaller)) return false;
      best_ = std::move(smaller);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  void drop_outputs() {
    const std::vector<ValueId> outputs = best_.graph.outputs;
    for (const ValueId output : outputs) {
      if (outputs.size() > 1 && attempt([&] { return copy({}, {output}); })) return;
    }
    for (std::size_t i = outputs.size(); i-- > 0;) {
      std::vector<ValueId> fewer = best_.graph.outputs;
      if (fewer.size() < 2) return;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      attempt([&] { return copy({}, fewer); });
    }
  }

  Case copy(std::vector<Fate> fates, const std::vector<ValueId>& outputs,
            const std::optional<ChangedCall>& changed = std::nullopt) const {
    fates.resize(best_.graph.size(), Fate::kept);
    return Copy(best_, fates, outputs, changed).run();
  }

  /// Each node's regions, until nothing in them can go.
  bool simplify_regions() {
    bool any = false;
    for (std::uint32_t i = 0; i < best_.graph.size(); ++i) {
      const auto shrinks = [&] {
        if (i >= best_.graph.size() || best_.graph.op(ValueId(i)) != Op::call) return false;
        const ir::CallRef call = best_.graph.attributes(ValueId(i)).call;
        return std::ranges::any_of(simpler_calls(*call), [&](const ir::CallRef& simpler) {
          return attempt(
              [&] { return copy({}, best_.graph.outputs, ChangedCall{ValueId(i), simpler}); });
        });
      };
      while (shrinks()) any = true;
    }
    return any;
  }

  /// From the front, so that the longest chains go first.
  bool simplify_nodes() {
    bool any = false;
    for (std::size_t i = best_.graph.size(); i-- > 0;) {
      if (i >= best_.graph.size()) continue;
      const ValueId id{static_cast<std::uint32_t>(i)};
      const Op op = best_.graph.op(id);
      if (op == Op::parameter) continue;
      std::vector<Fate> fates(best_.graph.size(), Fate::kept);
      const auto operands = best_.graph.operands(id);
      const bool passes =
          !operands.empty() && best_.graph.type(operands[0]) == best_.graph.type(id);
      fates[i] = Fate::first_operand;
      if (passes && attempt([&] { return copy(fates, best_.graph.outputs); })) {
        any = true;
        continue;
      }
      fates[i] = Fate::input;
      if (op != Op::constant && attempt([&] { return copy(fates, best_.graph.outputs); }))
        any = true;
      // A graph that ends earlier.
      if (i < best_.graph.size() && op != Op::constant && best_.graph.outputs.size() == 1 &&
          best_.graph.outputs[0] != id && attempt([&] { return copy({}, {id}); })) {
        any = true;
      }
    }
    return any;
  }

  void shrink_extents() {
    std::set<std::int64_t, std::greater<>> extents;
    for (std::size_t i = 0; i < best_.graph.size(); ++i) {
      for (const Dim extent : best_.graph.shape(ValueId{static_cast<std::uint32_t>(i)})) {
        if (extent.is_constant() && extent.constant() > 1) extents.insert(extent.constant());
      }
    }
    for (std::int64_t extent : extents) {
      for (std::int64_t smaller : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, extent / 8,
                                   extent / 4, extent / 2, extent - 1}) {
        if (smaller < 1 || smaller >= extent) continue;
        if (attempt([&] { return with_extent(best_, extent, smaller); })) break;
      }
    }
  }

  void simplify_options() {
    const auto with = [&](const auto& change) {
      attempt([&] {
        Case changed = best_;
        change(changed.options);
        return changed;
      });
    };
    with([](runtime::CompileOptions& options) { options.donated.clear(); });
    with([](runtime::CompileOptions& options) { options.aligned.clear(); });
    with([](runtime::CompileOptions& options) { options.strict = false; });
    for (std::size_t i = best_.options.disabled.size(); i-- > 0;) {
      with([&](runtime::CompileOptions& options) {
        options.disabled.erase(options.disabled.begin() + static_cast<std::ptrdiff_t>(i));
      });
    }
  }

  void simplify_inputs() {
    for (std::size_t i = 0; i < best_.inputs.size(); ++i) {
      attempt([&] {
        Case changed = best_;
        HostArray& input = changed.inputs[i];
        input = moderate_sample(input.type.dtype, input.type.shape, i % 4);
        return changed;
      });
    }
  }

  Case best_;
  const std::function<bool(const Case&)>& fails_;
  int budget_;
};

}  // namespace

Case shrink(Case one, const std::function<bool(const Case&)>& fails, int budget) {
  return Shrinker(std::move(one), fails, budget).run();
}

}  // namespace heddle::test

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "ir/graph/needed_nodes.h"
#include "passes/fuse/use_analysis.h"
#include "passes/groups/per_element.h"

namespace heddle::passes {

using ir::Dim;
using ir::Graph;
using ir::ValueId;

namespace {

/// Whether two regions of one array have no element in common: on some axis, one ends before the
/// other begins.
bool are_disjoint(const ir::Attributes& a, const ir::Attributes& b) {
  for (std::size_t axis = 0; axis < a.starts.size(); ++axis) {
    if (a.steps[axis] != Dim(1) || b.steps[axis] != Dim(1)) continue;
    const Dim distance = b.starts[axis] - a.starts[axis];
    if ((distance - a.shape[axis]).is_non_negative()) return true;
    if ((Dim(0) - distance - b.shape[axis]).is_non_negative()) return true;
  }
  return false;
}

bool are_equal(const ir::Attributes& a, const ir::Attributes& b) {
  return a.starts == b.starts && a.steps == b.steps && a.shape == b.shape;
}

/// A kernel with some updates takes so many times as long as it takes to write the array: it
/// chooses between values that it reads in several orders. (Covariances of 500 columns on an
/// H200: 2.1 ms in place, 7.9 ms otherwise.)
constexpr double passes_of_a_kernel = 16;

class Updates {
 public:
  Updates(const Graph& graph, const std::vector<bool>& donated, const ir::Capabilities& machine)
      : graph_(graph),
        donated_(donated),
        machine_(machine),
        needed_(ir::needed_nodes(graph)),
        users_(graph.size()),
        is_output_(graph.size()),
        how_(graph.size(), How::not_examined) {
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
      if (!needed_[i]) continue;
      for (const ValueId operand : graph.operands(ValueId{i}))
        users_[index_of(operand)].push_back(ValueId{i});
    }
    for (const ValueId output : graph.outputs) is_output_[index_of(output)] = true;
  }

  UpdatesInPlace find() const {
    UpdatesInPlace found{std::vector<bool>(graph_.size()), std::vector<bool>(graph_.size())};
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      const ValueId node{i};
      if (!needed_[i] || graph_.op(node) != ir::Op::slice_update) continue;
      const ValueId base = graph_.operands(node)[0];
      const std::uint32_t parameter = graph_.attributes(base).index;
      const bool is_memory = graph_.op(base) == ir::Op::parameter
                                 ? parameter < donated_.size() && donated_[parameter]
                                 : found.updates[index_of(base)];
      const bool pays = !is_memory && pays_to_store(base);
      if ((!is_memory && !pays) || how(node) == How::never) continue;
      found.updates[i] = true;
      if (pays) found.stored_before[index_of(base)] = true;
      if (how(node) == How::value_first) found.stored_before[index_of(stored_value(node))] = true;
      if (how(node) != How::reads_first) continue;
      for (const ValueId reader : late_readers(node)) found.stored_before[index_of(reader)] = true;
    }
    return found;
  }

 private:
  /// Whether an update can write into its base's memory.
  enum class How : std::uint8_t { not_examined, never, directly, value_first, reads_first };

  How how(ValueId update) const {
    How& known = how_[index_of(update)];
    if (known == How::not_examined) known = examine(update);
    return known;
  }

  How examine(ValueId update) const {
    const ValueId base = graph_.operands(update)[0];
    if (is_output_[index_of(base)]) return How::never;
    if (others_read_before(update)) return How::directly;
    const ValueId value = stored_value(update);
    const bool value_first = is_small(update) && only_value_reads(base, update, value) &&
                             (graph_.op(value) != ir::Op::slice || !is_read_by_call(value));
    if (value_first) return How::value_first;
    return is_small(update) && can_read_first(update) ? How::reads_first : How::never;
  }

  /// The users of the base that may run after the update.
  std::vector<ValueId> late_readers(ValueId update) const {
    const ValueId base = graph_.operands(update)[0];
    const std::vector<bool> before = needed_for(graph_.operands(update)[1], base);
    std::vector<ValueId> late;
    for (const ValueId user : users_[index_of(base)])
      if (user != update && !is_read_before(user, update, before)) late.push_back(user);
    return late;
  }

  /// Whether storing a few small parts of the base first keeps what is read of it later.
  bool can_read_first(ValueId update) const {
    constexpr std::size_t most = 2;
    const std::vector<ValueId> late = late_readers(update);
    return late.size() <= most && graph_.operands(update)[1] != graph_.operands(update)[0] &&
           std::ranges::all_of(late, [&](ValueId reader) {
             return graph_.op(reader) == ir::Op::slice && index_of(reader) < index_of(update) &&
                    !is_output_[index_of(reader)] && is_small_part(reader) &&
                    !is_read_by_call(reader);
           });
  }

  /// Whether a library call uses the slice. It may read the slice from the base, when it runs.
  bool is_read_by_call(ValueId slice) const {
    return std::ranges::any_of(users_[index_of(slice)], [&](ValueId user) {
      const ir::Op op = graph_.op(user);
      const bool passes_on = op == ir::Op::cast || ir::is_view(op);
      return op == ir::Op::call || (passes_on && is_read_by_call(user));
    });
  }

  /// Whether many updates of small parts of the value follow, each of which can be done in place.
  /// Without that, kernels with some updates each compute all elements again.
  bool pays_to_store(ValueId value) const {
    const ir::Op op = graph_.op(value);
    if (op == ir::Op::parameter || op == ir::Op::constant || is_output_[index_of(value)])
      return false;
    const Dim bytes = byte_count(graph_.type(value));
    const double all = bytes.is_constant() ? static_cast<double>(bytes.constant()) : HUGE_VAL;
    return all * passes_of_a_kernel >= machine_.rates.launch_us * machine_.rates.bytes_per_us &&
           updates_after(value) >= machine_.least_updates;
  }

  /// The number of updates, one after the other, up to the machine's `least_updates`.
  std::size_t updates_after(ValueId value) const {
    std::size_t count = 0;
    while (count < machine_.least_updates) {
      const auto& users = users_[index_of(value)];
      const auto next = std::ranges::find_if(users, [&](ValueId user) {
        return graph_.op(user) == ir::Op::slice_update && graph_.operands(user)[0] == value;
      });
      if (next == users.end() || !is_small(*next) || how(*next) == How::never) return count;
      value = *next;
      ++count;
    }
    return count;
  }

  /// Whether all other reads of the base end before the update writes what they read.
  bool others_read_before(ValueId update) const {
    const ValueId base = graph_.operands(update)[0], value = graph_.operands(update)[1];
    const std::vector<ValueId>& users = users_[index_of(base)];
    if (value == base) return false;
    if (std::ranges::all_of(users, [&](ValueId user) { return user == update; })) return true;
    const std::vector<bool> before = needed_for(value, base);
    return std::ranges::all_of(users, [&](ValueId user) {
      return user == update || is_read_before(user, update, before);
    });
  }

  /// The value that an update writes, without changes of its shape.
  ValueId stored_value(ValueId update) const {
    ValueId value = graph_.operands(update)[1];
    while (graph_.op(value) == ir::Op::reshape || graph_.op(value) == ir::Op::broadcast_to)
      value = graph_.operands(value)[0];
    return value;
  }

  /// Whether it pays to store the region twice, first on its own, rather than to copy the base.
  bool is_small(ValueId update) const {
    const Dim region = ir::element_count(graph_.attributes(update).shape);
    return (ir::element_count(graph_.shape(update)) - region * Dim(2)).is_non_negative();
  }
  bool is_small_part(ValueId slice) const {
    const Dim all = ir::element_count(graph_.shape(graph_.operands(slice)[0]));
    return (all - ir::element_count(graph_.shape(slice)) * Dim(2)).is_non_negative();
  }

  /// Whether all reads of the base by others serve to compute the value.
  bool only_value_reads(ValueId base, ValueId update, ValueId value) const {
    if (index_of(value) <= index_of(base)) return false;
    const std::vector<bool> before = needed_for(value, base);
    std::vector<bool> seen(before.size());
    std::vector<ValueId> open;
    for (const ValueId user : users_[index_of(base)]) {
      if (user != update) open.push_back(user);
    }
    while (!open.empty()) {
      const ValueId node = open.back();
      open.pop_back();
      if (node == value) continue;
      if (index_of(node) >= before.size() || !before[index_of(node)]) return false;
      if (is_output_[index_of(node)]) return false;
      if (seen[index_of(node)]) continue;
      seen[index_of(node)] = true;
      const std::vector<ValueId>& users = users_[index_of(node)];
      open.insert(open.end(), users.begin(), users.end());
    }
    return true;
  }

  /// The nodes after `first` that a value is computed from, and the value.
  std::vector<bool> needed_for(ValueId value, ValueId first) const {
    std::vector<bool> needed(index_of(value) + 1);
    needed[index_of(value)] = true;
    for (std::uint32_t i = index_of(value); i > index_of(first); --i) {
      if (!needed[i]) continue;
      for (const ValueId operand : graph_.operands(ValueId{i})) needed[index_of(operand)] = true;
    }
    return needed;
  }

  /// Whether `reader` is a slice of the base that only the update's value is computed from. The
  /// value may be computed by the kernel that writes it: that reads other elements than it writes,
  /// or for each element only this one.
  bool is_read_before(ValueId reader, ValueId update, const std::vector<bool>& before) const {
    if (graph_.op(reader) != ir::Op::slice) return false;
    const ir::Attributes &read = graph_.attributes(reader), &written = graph_.attributes(update);
    const bool disjoint = are_disjoint(read, written);
    if (!disjoint && !are_equal(read, written)) return false;
    std::vector<ValueId> open = {reader};
    std::vector<bool> seen(before.size());
    while (!open.empty()) {
      const ValueId node = open.back();
      open.pop_back();
      if (node == update) continue;
      if (index_of(node) >= before.size() || !before[index_of(node)]) return false;
      if (is_output_[index_of(node)]) return false;
      const bool elementwise = is_per_element(graph_, node) || graph_.op(node) == ir::Op::reshape;
      if (!disjoint && node != reader && !elementwise) return false;
      if (!disjoint && ir::element_count(graph_.shape(node)) != ir::element_count(written.shape))
        return false;
      if (seen[index_of(node)]) continue;
      seen[index_of(node)] = true;
      const std::vector<ValueId>& users = users_[index_of(node)];
      open.insert(open.end(), users.begin(), users.end());
    }
    return true;
  }

  const Graph& graph_;
  const std::vector<bool>& donated_;
  const ir::Capabilities& machine_;
  const std::vector<bool> needed_;
  std::vector<std::vector<ValueId>> users_;  ///< of nodes that outputs need
  std::vector<bool> is_output_;
  mutable std::vector<How> how_;  ///< by update
};

}  // namespace

UpdatesInPlace find_updates_in_place(const Graph& graph, const std::vector<bool>& donated,
                                     const ir::Capabilities& machine) {
  return Updates(graph, donated, machine).find();
}

}  // namespace heddle::passes

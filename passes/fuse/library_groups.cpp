#include "passes/calls/fallback.h"
#include "passes/calls/lowering.h"
#include "passes/fuse/grouper.h"

namespace heddle::passes {

void Grouper::make_library_group(ValueId call) {
  const auto id = static_cast<std::uint32_t>(result_.groups.size());
  Group group;
  group.root = call;
  group.library = true;
  group.members = {call};
  if (is_wanted(call)) group.stored = {call};
  const auto further = wanted_results_.find(index_of(call));
  if (further != wanted_results_.end()) {
    group.members.insert(group.members.end(), further->second.rbegin(), further->second.rend());
    group.stored.insert(group.stored.end(), further->second.rbegin(), further->second.rend());
  }
  result_.groups.push_back(std::move(group));
  if (graph_.is_call_of(call, ir::calls::matmul())) explain_product(call);
  read_arrays(call, id);
}

/// Whether a value is read by a group, updated in place, or an output.
bool Grouper::is_wanted(ValueId value) const {
  return !accesses_[index_of(value)].empty() || updated_[index_of(value)] ||
         is_output_[index_of(value)];
}

/// Records a further result of a call; the call's step will compute it. Results are visited before
/// their call.
void Grouper::want_result(ValueId result) {
  if (is_wanted(result)) wanted_results_[index_of(graph_.operands(result)[0])].push_back(result);
}

void Grouper::read_arrays(ValueId call, std::uint32_t id) {
  for (const ValueId array :
       arrays_read(graph_, call, {options_.target, options_.strict, options_.counter}))
    read_memory(array, id);
}

// A product whose result is only used by an epilogue becomes one library step together with it.
bool Grouper::make_epilogue_group(ValueId node) {
  std::optional<Epilogue> epilogue = epilogues_.find(node);
  if (!epilogue) return false;
  std::shared_ptr<const Group> kernel =
      fallback_kernel(graph_, *result_.space, *epilogue, enabled_, options_.target);
  if (!kernel) return false;
  const auto id = static_cast<std::uint32_t>(result_.groups.size());
  Group group;
  group.root = node;
  group.library = true;
  group.members = epilogue->nodes;
  group.members.push_back(epilogue->product);
  group.stored = {node};
  group.fallback = std::move(kernel);
  group.epilogue = std::move(epilogue);
  result_.groups.push_back(std::move(group));
  const Epilogue& made = *result_.groups[id].epilogue;
  const std::optional<ValueId> added[] = {made.residual, made.bias};
  read_arrays(made.product, id);
  for (const std::optional<ValueId>& value : added) {
    if (value) read_memory(*value, id);
  }
  return true;
}

/// Records why the ops after a product cannot be its epilogue.
void Grouper::explain_product(ValueId product) {
  for (const Access& access : accesses_[index_of(product)]) {
    const Group& user = result_.groups[access.group];
    if (user.library || user.stored.empty()) continue;
    std::string reason;
    if (!epilogues_.find(user.stored.front(), &reason) && !reason.empty())
      cut(product, access.group, "epilogue", std::move(reason));
  }
}

}  // namespace heddle::passes

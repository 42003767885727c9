#include "passes/grouper.h"
#include "passes/matmul.h"
#include "passes/sort.h"
#include "passes/stand_by.h"

namespace heddle::passes {

void Grouper::make_library_group(ValueId node) {
  const auto id = static_cast<std::uint32_t>(result_.groups.size());
  Group group;
  group.root = node;
  group.library = true;
  group.members = {node};
  group.stored = {node};
  result_.groups.push_back(std::move(group));
  if (graph_.op(node) == ir::Op::matmul) {
    explain_product(node);
    read_factors(node, id);
    return;
  }
  for (const ValueId operand : graph_.operands(node))
    read_memory(whole_operand(graph_, operand), id);
}

void Grouper::read_factors(ValueId product, std::uint32_t id) {
  const LibraryOperands operands =
      library_operands(graph_, product, library_widens(options_.target, options_.strict));
  read_memory(operands.a.value, id);
  read_memory(operands.b.value, id);
}

// A product whose result nobody needs by itself is one step of the library with what follows it.
bool Grouper::make_epilogue_group(ValueId node) {
  std::optional<Epilogue> epilogue = epilogues_.find(node);
  if (!epilogue) return false;
  std::shared_ptr<const Group> kernel =
      stand_by_kernel(graph_, *result_.space, *epilogue, enabled_, options_.target);
  if (!kernel) return false;
  const auto id = static_cast<std::uint32_t>(result_.groups.size());
  Group group;
  group.root = node;
  group.library = true;
  group.members = epilogue->nodes;
  group.members.push_back(epilogue->product);
  group.stored = {node};
  group.stands_by = std::move(kernel);
  group.epilogue = std::move(epilogue);
  result_.groups.push_back(std::move(group));
  const Epilogue& made = *result_.groups[id].epilogue;
  const std::optional<ValueId> added[] = {made.residual, made.bias};
  read_factors(made.product, id);
  for (const std::optional<ValueId>& value : added) {
    if (value) read_memory(*value, id);
  }
  return true;
}

/// Why the library does not do what follows a product.
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

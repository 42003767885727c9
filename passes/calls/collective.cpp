#include "passes/calls/collective.h"

#include <string>

#include "ir/calls/collective.h"
#include "passes/calls/bytes.h"

namespace heddle::passes {

DescribedCall describe_collective(CallBuilder& builder) {
  const Graph& graph = builder.graph;
  const ir::CallData& data = *graph.attributes(builder.call).call;
  const ir::Type type = graph.type(graph.operands(builder.call)[0]);
  const std::string& kind = data.get<std::string>("kind");
  CallStep step;
  step.handler = data.op->name;
  step.operation = kind;
  step.what = to_string(type);
  step.label = kind + "_" + std::string(name_of(type.dtype));
  for (const char* const name : {"kind", "communicator", "reduction"})
    step.values.set(name, data.get<std::string>(name));
  for (const char* const name : {"size", "root", "to", "from"})
    step.values.set(name, Dim(data.get<std::int64_t>(name)));
  step.values.set("elements", ir::element_count(type.shape));
  for (const ValueId array : arrays_read(graph, builder.call, builder.target))
    step.operands.push_back(builder.array(array));
  for (std::size_t i = 0; i < 2; ++i) step.results.push_back(builder.result(i));
  const ir::CollectiveKind known = ir::collective_kind(kind);
  if (known == ir::CollectiveKind::all_reduce || known == ir::CollectiveKind::reduce ||
      known == ir::CollectiveKind::broadcast)
    step.aliases.push_back({.result = 0, .operand = 0});
  return {std::move(step), array_bytes(graph, builder.call)};
}

}  // namespace heddle::passes

#include "passes/calls/bytes.h"

namespace heddle::passes {

namespace {

Dim operand_bytes(const ir::Graph& graph, ir::ValueId node) {
  Dim bytes;
  for (const ir::ValueId operand : graph.operands(node))
    bytes += ir::byte_count(graph.type(operand));
  return bytes;
}

}  // namespace

Dim array_bytes(const ir::Graph& graph, ir::ValueId node) {
  return ir::byte_count(graph.type(node)) + operand_bytes(graph, node);
}

Dim array_bytes(const ir::Graph& graph, ir::ValueId stored, const Epilogue& epilogue) {
  Dim bytes = ir::byte_count(graph.type(stored)) + operand_bytes(graph, epilogue.product);
  if (epilogue.residual) bytes += ir::byte_count(graph.type(*epilogue.residual));
  if (epilogue.bias) bytes += ir::byte_count(graph.type(*epilogue.bias));
  return bytes;
}

}  // namespace heddle::passes

#include <numbers>

#include "codegen/cuda/printer.h"
#include "ir/types/constant.h"
#include "passes/plan/analyze.h"
#include "passes/plan/launch.h"

namespace heddle::codegen {

void CudaPrinter::attention() {
  const passes::AttentionKernel& attention = *plan_.attention;
  body_.need("attention");
  const std::string type = body_.type_with_section(attention.dtype);
  out_.line("typedef long long Index;");
  const std::string rows = body_.extent(attention.rows);
  const std::string columns = body_.extent(attention.columns);
  signature();
  out_.line("const Index blocks = ({} + {}) / {};", rows, passes::attention_block_rows - 1,
            passes::attention_block_rows);
  out_.line("const Index first = Index(blockIdx.x) % blocks * {};", passes::attention_block_rows);
  out_.line("const Index item = Index(blockIdx.x) / blocks;");
  body_.decode(plan_.outer, "item");
  const auto print = [&](const char* name, const passes::BatchOfRows& from) {
    const std::string start = body_.index(from.start), stride = body_.extent(from.stride);
    const passes::KernelOperand& operand = plan_.operands[static_cast<std::size_t>(from.operand)];
    out_.line("const AttentionRows<{}{}, {}> {}{{p{}, {}, {}}};", operand.written ? "" : "const ",
              type, operand.aligned, name, from.operand, start, stride);
  };
  print("queries", attention.queries);
  print("keys", attention.keys);
  print("values", attention.values);
  print("result", attention.result);
  const double scale = attention.scale * std::numbers::log2e;
  out_.line("attention<{}, {}, {}>(queries, keys, values, result, first, {}, {}, {});",
            attention.depth, attention.width, attention.stages, rows, columns,
            body_.constant(DType::f32, ir::constant_bits(DType::f32, scale)));
  out_.close();
}

}  // namespace heddle::codegen

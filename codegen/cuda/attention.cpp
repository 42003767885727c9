#include "passes/plan/attention.h"

#include <numbers>

#include "codegen/cuda/printer.h"
#include "ir/types/constant.h"

namespace heddle::codegen {

using passes::Instruction;

void CudaPrinter::attention() {
  const passes::AttentionKernel& attention = *plan_.attention;
  body_.need("attention");
  out_.line("typedef {} Index;", plan_.index_bits == 32 ? "int" : "long long");
  signature();
  const std::vector<passes::Loop> batch(plan_.outer.begin(), plan_.outer.end() - 1);
  const std::string rows = body_.extent(attention.rows);
  const std::string columns = body_.extent(attention.columns);
  out_.line("const Index blocks = ({} + {}) / {};", rows, passes::attention_block_rows - 1,
            passes::attention_block_rows);
  // Blocks with more keys begin earlier.
  out_.line("const Index first = {}Index(blockIdx.x) % blocks{} * {};",
            attention.end ? "(blocks - 1 - " : "", attention.end ? ")" : "",
            passes::attention_block_rows);
  out_.line("const Index item = Index(blockIdx.x) / blocks;");
  body_.decode(batch, "item");
  attention_rows("queries", attention.queries);
  attention_rows("keys", attention.keys);
  attention_rows("values", attention.values);
  attention_rows("result", attention.result);
  attention_range();
  attention_map();
  out_.line("attention<{}, {}, {}>(queries, keys, values, result, first, {}, begin, end, map);",
            attention.depth, attention.width, attention.stages, rows);
  out_.close();
}

void CudaPrinter::attention_rows(const char* name, const passes::BatchOfRows& rows) {
  const passes::KernelOperand& operand = plan_.operands[static_cast<std::size_t>(rows.operand)];
  const std::string start = body_.index(rows.start), stride = body_.extent(rows.stride);
  out_.line("const AttentionRows<{}{}, {}> {}{{p{}, {}, {}}};", operand.written ? "" : "const ",
            body_.operand_type(operand), operand.aligned, name, rows.operand, start, stride);
}

/// The keys that a block needs: from that of its first query to that of its last.
void CudaPrinter::attention_range() {
  const passes::AttentionKernel& attention = *plan_.attention;
  const std::string row = body_.loop_variable(plan_.outer.back().atom);
  const std::string columns = body_.extent(attention.columns);
  const auto print = [&](const char* name, const passes::Index& bound) {
    out_.open("const auto {} = [&](const Index {}) -> Index", name, row);
    out_.line("return {};", body_.index(bound));
    out_.close_with(";");
  };
  print("least", attention.begin.value_or(passes::Index{}));
  print("most", attention.end.value_or(passes::Index{attention.columns, {}}));
  const std::string rows = body_.extent(attention.rows);
  out_.line("const Index begin = first_key(least(first), Index({}));", columns);
  out_.line("const Index last = first + {0} < {1} ? first + {0} : {1} - 1;",
            passes::attention_block_rows - 1, rows);
  out_.line("const Index end = last_key(most(last), begin, Index({}));", columns);
}

/// What becomes of a product before the softmax.
void CudaPrinter::attention_map() {
  const passes::AttentionKernel& attention = *plan_.attention;
  const auto number = [&](double value) {
    return body_.constant(DType::f32, ir::constant_bits(DType::f32, value));
  };
  const std::string exponent = number(attention.scale * std::numbers::log2e);
  if (attention.map < 0) return out_.line("const ScaledScores map{{{}}};", exponent);
  if (attention.only_bounds)
    return out_.line("const auto map = bounded_scores<Index>({}, least, most);", exponent);
  out_.open("const auto change = [&](float score, const Index {}, const Index {}) -> float",
            body_.loop_variable(plan_.outer.back().atom),
            body_.loop_variable(plan_.inner.back().atom));
  declare_all(body_.needed_for({attention.map}, false));
  out_.line("return v{};", attention.map);
  out_.close_with(";");
  out_.line("const auto map = changed_scores({}, Index({}), Index({}), change);",
            number(attention.scale), body_.extent(attention.rows), body_.extent(attention.columns));
}

}  // namespace heddle::codegen

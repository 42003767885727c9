#include "codegen/blocks/ready_loops.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "codegen/common/scalar_code.h"
#include "codegen/common/sections.h"
#include "ir/infer/infer.h"

namespace heddle::codegen {

namespace {

struct Loop {
  std::string text;
  std::vector<std::string> sections;
};

std::string type_of(DType dtype) {
  if (dtype == DType::f16) return "op::wide_half";
  const std::string name(element_type(dtype));
  return is_library_type(dtype) ? "op::" + name : name;
}

Loop map_loop_of(const ir::OpInfo& info, DType dtype) {
  std::vector<ir::Type> operands;
  std::string from;
  for (std::size_t k = 0; k < static_cast<std::size_t>(info.arity); ++k) {
    operands.push_back({ir::operand_dtype(info.rule, k, dtype), {}});
    from += ", " + type_of(operands.back().dtype);
  }
  const DType result = ir::infer(info.op, operands, {}).dtype;
  return {fmt::format("HD_MAP({}, op::{}, {}{})\n", loops_of(info.op, dtype), info.name,
                      type_of(result), from),
          sections_of(info.op, operands.back().dtype)};
}

std::vector<Loop> all_loops() {
  std::vector<Loop> loops;
  std::vector<DType> all_dtypes;
  for (int i = 0; i < dtype_count; ++i) all_dtypes.push_back(static_cast<DType>(i));
  const auto in = [](DType dtype, ir::DTypeSet set) { return (set & ir::set_of(dtype)) != 0; };
  for (int i = 0; i < ir::op_count; ++i) {
    const ir::OpInfo& info = ir::info(static_cast<ir::Op>(i));
    for (const DType dtype : all_dtypes) {
      if (!in(dtype, info.dtypes)) continue;
      if (info.kind == ir::OpKind::elementwise && info.op != ir::Op::cast) {
        loops.push_back(map_loop_of(info, dtype));
        continue;
      }
      const auto add = [&](std::string_view macro, std::string_view what,
                           std::vector<std::string> sections) {
        loops.push_back(
            {fmt::format("{}({}, {}, {})\n", macro, loops_of(info.op, dtype), what, type_of(dtype)),
             std::move(sections)});
      };
      if (info.kind == ir::OpKind::reduction)
        add("HD_REDUCE", info.name, sections_of(info.op, dtype));
      if (info.kind == ir::OpKind::scan) add("HD_SCAN", info.name, sections_of(info.op, dtype));
      if (info.kind == ir::OpKind::search) {
        const bool right = info.op == ir::Op::searchsorted_right;
        add("HD_SEARCH", right ? "true" : "false", {"search"});
      }
    }
  }
  for (const DType from : all_dtypes) {
    for (const DType to : all_dtypes) {
      if (from == to) continue;
      loops.push_back({fmt::format("HD_MAP({}, op::cast<{}>, {}, {})\n", cast_loop(from, to),
                                   type_of(to), type_of(to), type_of(from)),
                       {"cast"}});
    }
  }
  return loops;
}

}  // namespace

std::string loops_of(ir::Op op, DType dtype) {
  return fmt::format("{}_{}", ir::info(op).name, name_of(dtype));
}
std::string cast_loop(DType from, DType to) {
  return fmt::format("cast_{}_{}", name_of(from), name_of(to));
}
std::string segmented_loops_of(ir::Op op, DType dtype) {
  return loops_of(op, dtype) + "_segmented";
}

std::string print_ready_loops(int part, int parts) {
  // Neighbours differ in how long they take to compile, so each part takes every n-th loop.
  std::vector<std::string> sections = {
      "core",        "half",           "wide_half",    "half_strips",    "bfloat16", "complex",
      "reduce_tree", "first_extremum", "scan_running", "scan_segmented", "search"};
  std::string body;
  const std::vector<Loop> loops = all_loops();
  for (std::size_t i = static_cast<std::size_t>(part); i < loops.size();
       i += static_cast<std::size_t>(parts)) {
    body += loops[i].text;
    sections.insert(sections.end(), loops[i].sections.begin(), loops[i].sections.end());
  }
  std::string text;
  for (const std::string& name : library_sections().close_over_needs(sections, Side::host))
    text += std::string(section(name).text) + '\n';
  return text + "#include \"codegen/blocks/loop_templates.h\"\nnamespace op = heddle_scalar;\n" +
         body;
}

}  // namespace heddle::codegen

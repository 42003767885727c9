#include "codegen/cuda/printer.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "passes/plan/analyze.h"
#include "passes/plan/launch.h"

namespace heddle::codegen {

using passes::Instruction;
using passes::KernelOperand;
using passes::Mapping;
using passes::Store;

CudaPrinter::CudaPrinter(const passes::KernelPlan& plan)
    : plan_(plan), body_(plan, out_), lane_of_(plan.body.size()) {
  body_.put = [this](const Instruction& one) {
    out_.line("store(p{}, {}, v{});", one.operand, body_.index(one.address), one.arguments[0]);
  };
}

KernelSource CudaPrinter::print() {
  out_.line("namespace op = heddle_scalar;");
  if (plan_.sort) {
    sort();
    return body_.finish(out_.text(), {"core", "memory"});
  }
  if (plan_.decides) {
    decision(*plan_.decides);
    return body_.finish(out_.text(), {"core"});
  }
  if (plan_.attention) {
    attention();
    return body_.finish(out_.text(), {"core", "memory"});
  }
  out_.line("typedef {} Index;", plan_.index_bits == 32 ? "int" : "long long");
  body_.declare_reductions();
  if (plan_.items) tables_ = body_.item_tables("alignas(16) __device__ const");
  signature();
  switch (plan_.mapping) {
    case Mapping::elements:
      elements();
      break;
    case Mapping::tiles:
      tiles();
      break;
    case Mapping::rows:
      rows();
      break;
    case Mapping::columns:
      columns();
      break;
    case Mapping::scan_rows:
      scan_rows();
      break;
    case Mapping::scan_columns:
      scan_columns();
      break;
    case Mapping::items:
      items();
      break;
  }
  out_.close();
  return body_.finish(out_.text(), {"core", "memory"});
}

void CudaPrinter::decision(DType dtype) {
  out_.line(
      "extern \"C\" __device__ void cudaGraphSetConditional(unsigned long long, unsigned int);");
  out_.line("extern \"C\" __global__ void");
  out_.open("{}(const {}* value, unsigned long long condition, long long chosen, long long last)",
            name_placeholder, body_.type_with_section(dtype));
  out_.line("const long long given = *value;");
  out_.line("const long long index = given < 0 ? 0 : given > last ? last : given;");
  out_.line("cudaGraphSetConditional(condition, index == chosen);");
  out_.close();
}

/// A parameter in the kernel's code.
struct CudaPrinter::Parameter {
  std::string type, declared, name;  ///< `declared`: the type with its qualifiers
};

void CudaPrinter::signature() {
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < plan_.operands.size(); ++i) {
    const KernelOperand& operand = plan_.operands[i];
    if (operand.in_item()) continue;
    const std::string type =
        fmt::format("{}{}*", operand.written ? "" : "const ", body_.operand_type(operand));
    parameters.push_back(
        {type, type + (operand.aliased ? "" : " __restrict__"), fmt::format("p{}", i)});
  }
  const auto add_value = [&](const std::string& type, const std::string& name) {
    parameters.push_back({type, "const " + type, name});
  };
  const bool narrow = plan_.index_bits == 32;
  for (std::size_t i = 0; i < body_.symbols.size(); ++i)
    add_value("long long", fmt::format("{}{}", narrow ? 'm' : 'n', i));
  for (std::size_t i = 0; i < body_.scalars.size(); ++i)
    add_value(body_.type(body_.scalar_dtypes[i]), fmt::format("s{}", i));
  const std::string blocks = plan_.least_blocks > 1 ? fmt::format(", {}", plan_.least_blocks) : "";
  out_.line("extern \"C\" __global__ void __launch_bounds__({}{})", plan_.threads, blocks);
  if (plan_.table_rows > 0) {
    table_signature(parameters);
  } else {
    std::vector<std::string> list;
    for (const Parameter& one : parameters) list.push_back(one.declared + ' ' + one.name);
    out_.open("{}({})", name_placeholder, fmt::join(list, ", "));
  }
  for (std::size_t i = 0; i < body_.symbols.size() && narrow; ++i)
    out_.line("const Index n{0} = static_cast<Index>(m{0});", i);
}

/// A kernel that runs the launches of a table at once. A block finds the row of its launch, and
/// declares the launch's parameters.
void CudaPrinter::table_signature(const std::vector<Parameter>& parameters) {
  body_.need("launch_table");
  const std::size_t last = parameters.size();
  out_.open("{}(const __grid_constant__ LaunchTable<{}, {}> table)", name_placeholder,
            plan_.table_rows, last + 1);
  out_.line("const unsigned int most = static_cast<unsigned int>(table.rows[0][{}].high);", last);
  out_.line("const LaunchValue (&given)[{}] = table.rows[blockIdx.x / most];", last + 1);
  out_.line("const unsigned int launch_block = blockIdx.x % most;");
  out_.line("if (launch_block >= given[{}].low) return;", last);
  for (std::size_t i = 0; i < last; ++i) {
    const auto& [type, declared, name] = parameters[i];
    out_.line("{} {} = launch_value<{}>(given[{}]);", declared, name, type, i);
  }
}

/// The index of a block within its launch.
std::string CudaPrinter::block_index() const {
  return plan_.table_rows > 0 ? "Index(launch_block)" : "Index(blockIdx.x)";
}

void CudaPrinter::split_range(int unit) {
  if (const passes::Reduction* const segment = passes::segmented(plan_)) {
    const auto range =
        fmt::format("first = static_cast<Index>(v{}), last = static_cast<Index>(v{})",
                    segment->first, segment->last);
    out_.line("const Index {};", range);
    const char* const end = plan_.long_row > 0 ? "row_end" : "end";
    if (plan_.split == 1) {
      out_.line("const Index begin = first, {} = last;", end);
      return;
    }
    out_.line("const Index chunk = (last - first + {}) / {};", plan_.split - 1, plan_.split);
    out_.line("const Index begin = first + part * chunk;");
    out_.line("const Index {} = begin + chunk < last ? begin + chunk : last;", end);
    return;
  }
  const std::string inner = body_.extent(passes::iterations(plan_.inner));
  const int parts = plan_.split * plan_.cluster;
  if (parts == 1) {
    out_.line("const Index begin = 0, end = {};", inner);
    return;
  }
  out_.line("const Index chunk = (Index({}) + {}) / {} * {};", inner, parts * unit - 1,
            parts * unit, unit);
  out_.line("const Index begin = {} * chunk;",
            plan_.cluster > 1 ? "Index(cluster_rank())" : "part");
  out_.line("const Index end = begin + chunk < {} ? begin + chunk : {};", inner, inner);
}

// Every reduction has its own exchange, because an exchange can be used only once.
void CudaPrinter::open_exchanges() {
  body_.need("cluster_reduce");
  const passes::ClusterMemory memory = passes::cluster_memory(plan_);
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    out_.line("open_cluster_reduction<R{}, {}, {}, {}>({});", i, plan_.cluster, memory.slots,
              memory.width, memory.exchanges[i]);
  }
  out_.line("announce_exchanges();");
}

void CudaPrinter::reduce_cluster(std::size_t reduction, const std::string& states) {
  const passes::ClusterMemory memory = passes::cluster_memory(plan_);
  const auto first = std::ranges::min_element(plan_.reductions, {}, &passes::Reduction::stage);
  if (reduction == static_cast<std::size_t>(first - plan_.reductions.begin()))
    out_.line("await_exchanges();");
  out_.line("reduce_cluster<R{}, {}, {}, {}>({}, {}, {});", reduction, plan_.cluster, memory.slots,
            memory.width, states, memory.exchanges[reduction], memory.parcels[reduction]);
}

// Prints a pass that divides elements by multiplying with inverses. If that may be inexact, the
// pass, which only stores, is run again with divisions. `name` is the format of a divisor's
// variable.
void CudaPrinter::print_fast_pass(int stage, const char* name, const std::function<void()>& walk) {
  const bool reduces = std::ranges::any_of(
      plan_.reductions, [&](const passes::Reduction& one) { return one.stage == stage; });
  std::vector<int> roots;
  for (const Store& store : plan_.stores) {
    if (store.element && store.stage == stage) roots.push_back(store.value);
  }
  std::vector<int> divisors = body_.declared_for(roots);
  std::erase_if(divisors, [&](int i) { return !plan_.body[i].divisor; });
  const bool reads_anew = std::ranges::any_of(body_.needed_for(roots, true), [&](int i) {
    const Instruction& one = plan_.body[i];
    return one.kind == Instruction::Kind::load && !one.held && plan_.operands[one.operand].aliased;
  });
  if (reduces || divisors.empty() || reads_anew) return walk();
  out_.line("bool rare = false;");
  for (const int i : divisors) {
    const std::string divisor = fmt::format(fmt::runtime(name), i);
    if (plan_.mapping == Mapping::columns) {
      out_.directive("#pragma unroll");
      out_.line("for (int k = 0; k < {}; ++k) rare |= !{}[k].ordinary();", plan_.vector, divisor);
    } else {
      out_.line("rare |= !{}.ordinary();", divisor);
    }
  }
  print_with_exact_fallback(walk);
}

void CudaPrinter::print_with_exact_fallback(const std::function<void()>& print) {
  body_.quick = true;
  print();
  body_.quick = false;
  out_.open("if (rare)");
  print();
  out_.close();
}

KernelSource print_cuda(const passes::KernelPlan& plan) { return CudaPrinter(plan).print(); }

}  // namespace heddle::codegen

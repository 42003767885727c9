#include "codegen/host/printer.h"

#include <algorithm>

#include "passes/plan/analyze.h"
#include "passes/plan/launch.h"
#include "passes/plan/split_loops.h"

namespace heddle::codegen {

using passes::Instruction;
using passes::KernelOperand;
using passes::KernelPlan;
using passes::Loop;
using passes::Mapping;
using passes::Reduction;
using passes::Store;

HostPrinter::HostPrinter(const KernelPlan& plan) : plan_(plan), body_(plan, out_) {
  body_.half = "wide_half";
  body_.side = Side::host;
  body_.branches = passes::segmented(plan_) != nullptr;  // loops that combine in sequence
  body_.put = [this](const Instruction& one) { put(one.operand, one.address, one.arguments[0]); };
}

/// The type in which an operand's elements are stored. GCC does not vectorise loops that move
/// structs, such as half and bfloat16.
std::string HostPrinter::storage(const passes::KernelOperand& operand) const {
  const bool states = operand.partials >= 0 && !operand.flags;
  return is_soft(operand.dtype) && !states ? "unsigned short" : body_.operand_type(operand);
}

void HostPrinter::unpack() {
  const std::size_t symbols = body_.symbols.size();
  for (std::size_t i = 0; i < symbols; ++i) out_.line("const long long n{0} = scalars[{0}];", i);
  std::size_t word = symbols;
  for (std::size_t i = 0; i < body_.scalars.size(); ++i) {
    const DType dtype = body_.scalar_dtypes[i];
    const std::string type = body_.type(dtype);
    out_.line("{} m{};", is_soft(dtype) ? "unsigned short" : type, i);
    out_.line("__builtin_memcpy(&m{0}, scalars + {1}, sizeof m{0});", i, word);
    out_.line("const {0} s{1}{{m{1}}};", type, i);
    word += (size_of(dtype) + 7) / 8;
  }
}

// Works around GCC 12, which reads wrong elements with AVX-512 if it can derive that an index is a
// bool converted to another type. Hiding the extent that bounds the index prevents that.
void HostPrinter::hide_extents() {
  for (const Instruction& instruction : plan_.body) {
    if (instruction.kind != Instruction::Kind::position) continue;
    const std::string extent = body_.extent(instruction.end);
    const std::string name = fmt::format("axis{}", body_.axis_names.size());
    if (!body_.axis_names.try_emplace(extent, name).second) continue;
    out_.line("long long {} = {};", name, extent);
    out_.line("asm(\"\" : \"+r\"({}));", name);
  }
}

/// Converts a stored value to the type that the body computes with.
std::string HostPrinter::number(DType dtype, const std::string& stored) const {
  return is_soft(dtype) ? fmt::format("{}{{{}}}", body_.type(dtype), stored) : stored;
}

/// GCC does not vectorise loops that load bool or structs.
std::string HostPrinter::element(int instruction) {
  const Instruction& load = plan_.body[instruction];
  const bool searched = load.kind == Instruction::Kind::search;
  const std::string index = searched ? "i" : body_.index(load.address);
  if (!searched && is_boolean(load.dtype)) {
    return fmt::format("(reinterpret_cast<const unsigned char*>(p{})[{}] != 0)", load.operand,
                       index);
  }
  const DType dtype = plan_.operands[load.operand].dtype;
  const std::string element = fmt::format("p{}[{}]", load.operand, index);
  if (const auto found = widened_.find(instruction); found != widened_.end())
    return fmt::format("{}{{{}, {}}}", body_.type(dtype), element, found->second);
  return number(dtype, element);
}

void HostPrinter::declare_all(const std::vector<int>& instructions) {
  const auto load_text = [&](int i) {
    const Instruction& load = plan_.body[i];
    const auto staged = std::find(plan_.tiled.begin(), plan_.tiled.end(), i);
    if (staged != plan_.tiled.end()) return number(load.dtype, fmt::format("tile{}[x][y]", i));
    const std::string element = this->element(i);
    if (!load.guarded) return element;
    return fmt::format("v{} ? {} : {}", load.arguments[0], element, body_.constant(load.dtype, 0));
  };
  for (const int i : instructions) body_.declare(i, load_text);
}

void HostPrinter::put(int operand, const passes::Index& address, int value) {
  const DType dtype = plan_.operands[operand].dtype;
  const std::string index = body_.index(address);
  if (is_complex(dtype)) {  // GCC does not vectorise loops that store structs
    out_.line("p{0}[{1}].re = v{2}.re, p{0}[{1}].im = v{2}.im;", operand, index, value);
    return;
  }
  out_.line("p{}[{}] = v{}{};", operand, index, value, is_soft(dtype) ? ".bits" : "");
}

void HostPrinter::store(const Store& store) {
  if (store.by_value) return;
  if (const auto found = narrowed_.find(&store); found != narrowed_.end()) {
    out_.line("{} = v{}.unrounded;", found->second, store.value);
    return;
  }
  if (!store.combine) return put(store.operand, store.address, store.value);
  body_.need("host_atomic");
  const bool adds = *store.combine == ir::Op::scatter_add;
  out_.line("if (v{}) {}(p{} + ({}), v{});", store.guard, adds ? "atomic_add" : "atomic_max",
            store.operand, body_.index(store.address), store.value);
}

void HostPrinter::open_runs(const std::vector<Loop>& loops, const std::string& from,
                            const std::string& to) {
  if (loops.size() == 1) {
    out_.open("");
    out_.line("const Index run = 0, first = {}, stop = {};", from, to);
    return;
  }
  const std::string extent = body_.extent(loops.back().extent);
  out_.open("for (Index at = {}; at < {};)", from, to);
  out_.line("const Index base = at / ({0}), first = at % ({0}), run = at - first;", extent);
  out_.line("const Index stop = first + ({0} - at) < {1} ? first + ({0} - at) : {1};", to, extent);
  out_.line("at += stop - first;");
  body_.decode({loops.begin(), loops.end() - 1}, "base");
}

std::vector<int> HostPrinter::roots_of(const passes::HostPass& pass) const {
  std::vector<int> roots;
  for (const int i : pass.reductions) roots.push_back(plan_.reductions[i].value);
  for (const int i : pass.stores) roots.push_back(plan_.stores[i].value);
  return roots;
}

void HostPrinter::store_all(const passes::HostPass& pass) {
  for (const int i : pass.stores) store(plan_.stores[i]);
}

void HostPrinter::elements() {
  std::vector<int> roots;
  for (const Store& one : plan_.stores) {
    for (const int needed : passes::needs_of(one)) roots.push_back(needed);
  }
  const std::vector<int> instructions = body_.needed_for(roots, false);
  const auto one_element = [&] {
    declare_all(instructions);
    for (const Store& one : plan_.stores) store(one);
  };
  if (plan_.outer.empty()) {
    out_.line("if (begin >= end) return;");
    return one_element();
  }
  const Loop& last = plan_.outer.back();
  open_runs(plan_.outer, "begin", "end");
  out_.line("(void)run;");
  strips(plan_.host_passes.at(0), last, [&](const char* first, const char* stop) {
    if (!plan_.element_loops.empty()) return looped_elements(last, first, stop, roots);
    out_.open("for (Index {0} = {1}; {0} < {2}; ++{0})", body_.loop_variable(last.atom), first,
              stop);
    one_element();
    out_.close();
  });
  out_.close();
}

// Tiles are filled in the order of the loads and read in the order of the stores.
void HostPrinter::tiles() {
  const Loop &last = plan_.outer.back(), &across = plan_.outer[plan_.tile_loop];
  const std::string last_extent = body_.extent(last.extent),
                    across_extent = body_.extent(across.extent);
  const std::vector<Loop> rest = passes::untiled_loops(plan_);
  body_.count_tiles();
  out_.open("for (Index unit = begin; unit < end; ++unit)");
  const auto open_span = [&](const char* name, const std::string& unit, const std::string& extent,
                             int edge) {
    out_.line("const Index {}_begin = {} * {};", name, unit, edge);
    out_.line("const Index {0}_count = {1} - {0}_begin < {2} ? {1} - {0}_begin : {2};", name,
              extent, edge);
  };
  open_span("last", "unit % last_tiles", last_extent, plan_.tile_last);
  open_span("across", "unit / last_tiles % across_tiles", across_extent, plan_.tile_across);
  if (!rest.empty()) {
    out_.line("const Index batch = unit / (last_tiles * across_tiles);");
    body_.decode(rest, "batch");
  }
  const auto open_loops = [&](const char* outer, const char* outer_count, const char* inner,
                              const char* inner_count) {
    out_.open("for (Index {0} = 0; {0} < {1}; ++{0})", outer, outer_count);
    out_.open("for (Index {0} = 0; {0} < {1}; ++{0})", inner, inner_count);
    out_.line("const Index {} = last_begin + x, {} = across_begin + y;",
              body_.loop_variable(last.atom), body_.loop_variable(across.atom));
  };
  for (const int i : plan_.tiled) {
    const KernelOperand& operand = plan_.operands[plan_.body[i].operand];
    out_.line("{}{} tile{}[{}][{}];", aligned, storage(operand), i, plan_.tile_last,
              plan_.tile_across + 1);
  }
  open_loops("x", "last_count", "y", "across_count");
  for (const int i : plan_.tiled) {
    const Instruction& load = plan_.body[i];
    out_.line("tile{}[x][y] = {};", i,
              is_soft(load.dtype) ? fmt::format("p{}[{}]", load.operand, body_.index(load.address))
                                  : element(i));
  }
  out_.close();
  out_.close();
  open_loops("y", "across_count", "x", "last_count");
  std::vector<int> roots;
  for (const Store& one : plan_.stores) roots.push_back(one.value);
  declare_all(body_.needed_for(roots, false));
  for (const Store& one : plan_.stores) store(one);
  out_.close();
  out_.close();
  out_.close();
}

KernelSource HostPrinter::print() {
  out_.line("namespace op = heddle_scalar;");
  out_.line("typedef long long Index;");
  body_.declare_reductions();
  if (plan_.items) tables_ = body_.item_tables("alignas(64) static const");
  open_body();
  unpack();
  hide_extents();
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
  entry();
  return body_.finish(out_.text(), {"core"});
}

KernelSource print_host(const KernelPlan& plan) {
  if (const std::optional<passes::OwnPlan> split = passes::split_last_loop(plan))
    return HostPrinter(split->plan).print();
  return HostPrinter(plan).print();
}

}  // namespace heddle::codegen

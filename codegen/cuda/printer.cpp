#include "codegen/cuda/printer.h"

#include <algorithm>

#include "passes/plan/analyze.h"
#include "passes/plan/launch.h"
#include "passes/plan/long_sum.h"
#include "passes/plan/skewed_rows.h"
#include "passes/plan/uneven_rows.h"

namespace heddle::codegen {

using passes::Dim;
using passes::Instruction;
using passes::KernelOperand;
using passes::Loop;
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

void CudaPrinter::signature() {
  std::string parameters;
  const auto add = [&](const std::string& parameter) {
    parameters += (parameters.empty() ? "" : ", ") + parameter;
  };
  for (std::size_t i = 0; i < plan_.operands.size(); ++i) {
    const KernelOperand& operand = plan_.operands[i];
    if (operand.in_item()) continue;
    add(fmt::format("{}{}*{} p{}", operand.written ? "" : "const ", body_.operand_type(operand),
                    operand.aliased ? "" : " __restrict__", i));
  }
  const bool narrow = plan_.index_bits == 32;
  for (std::size_t i = 0; i < body_.symbols.size(); ++i)
    add(fmt::format("const long long {}{}", narrow ? 'm' : 'n', i));
  for (std::size_t i = 0; i < body_.scalars.size(); ++i) {
    add(fmt::format("const {} s{}", body_.type(body_.scalar_dtypes[i]), i));
  }
  const std::string blocks = plan_.least_blocks > 1 ? fmt::format(", {}", plan_.least_blocks) : "";
  out_.line("extern \"C\" __global__ void __launch_bounds__({}{})", plan_.threads, blocks);
  out_.open("{}({})", name_placeholder, parameters);
  for (std::size_t i = 0; i < body_.symbols.size() && narrow; ++i)
    out_.line("const Index n{0} = static_cast<Index>(m{0});", i);
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

bool CudaPrinter::has_tail(const Loop& loop) const {
  return plan_.vector > 1 && !whole_vectors_ && !loop.extent.divisible_by(plan_.vector);
}

bool CudaPrinter::is_vector(const Store& store, const Loop& loop) const {
  if (plan_.row_loops > 0) return true;
  return plan_.vector > 1 &&
         passes::vector_width(plan_, plan_.operands[store.operand], store.address, loop,
                              plan_.vector) == plan_.vector;
}

bool CudaPrinter::is_vector(const Instruction& load, const Loop& loop) const {
  if (plan_.skewed >= 0) return passes::is_aligned_in_skewed_rows(plan_, load);
  if (plan_.row_loops > 0) return passes::is_vector_in_uneven_rows(plan_, load);
  return plan_.vector > 1 && load.kind == Instruction::Kind::load &&
         passes::vector_width(plan_, load, loop, plan_.vector) == plan_.vector;
}

std::string CudaPrinter::load_text(const Instruction& load) {
  if (load.kind == Instruction::Kind::search) return fmt::format("load(p{}, i)", load.operand);
  const std::string address = body_.index(load.address);
  if (plan_.operands[load.operand].in_item()) {
    const std::string element = fmt::format("shared_load({}, {})", item_array(load.operand, "slot"),
                                            item_index(load.operand, address));
    if (!load.guarded) return element;
    return fmt::format("v{} ? {} : {}", load.arguments[0], element, body_.constant(load.dtype, 0));
  }
  if (!load.guarded) return fmt::format("load(p{}, {})", load.operand, address);
  body_.need("guarded");
  return fmt::format("load_if(v{}, p{}, {})", load.arguments[0], load.operand, address);
}

// The lanes at one end of the vector take elements of a third vector, or read memory.
std::string CudaPrinter::shifted_load_text(const Instruction& load) {
  const int from = load.shifted_from, shift = load.shift, rest = load.shifted_rest;
  const auto is_loaded = [&](int vector) {
    return vector >= 0 && !lane_of_[static_cast<std::size_t>(vector)].empty();
  };
  if (!is_loaded(from)) return load_text(load);
  const Loop& last = plan_.outer.back();
  const auto element = [&](int vector, int by) {
    const bool held = plan_.body[static_cast<std::size_t>(vector)].held;
    return fmt::format("{}{}{}.v[k {} {}]", held ? 'h' : 'x', vector, held ? "[h]" : "",
                       by > 0 ? '+' : '-', std::abs(by));
  };
  std::string inside =
      shift > 0 ? fmt::format("k < {}", plan_.vector - shift) : fmt::format("k >= {}", -shift);
  // Behind the end of the loop, vectors have zeros.
  if (shift > 0 && has_tail(last))
    inside += fmt::format(" && first + k + {} < {}", shift, body_.extent(last.extent));
  const bool joins = is_loaded(rest) && !has_tail(last);
  return fmt::format("{} ? {} : {}", inside, element(from, shift),
                     joins ? element(rest, shift > 0 ? shift - plan_.vector : shift + plan_.vector)
                           : load_text(load));
}

void CudaPrinter::vector_addresses(const std::vector<int>& wanted, const Loop& loop) {
  std::vector<int> roots;
  for (const int i : wanted) {
    const Instruction& load = plan_.body[i];
    if (!load.arguments.empty() && is_vector(load, loop))
      roots.insert(roots.end(), load.arguments.begin(), load.arguments.end());
  }
  for (const int i : body_.needed_for(roots, false)) {
    declare_all({i});
    body_.declared[i] = true;
  }
}

void CudaPrinter::vector_loads(const std::vector<int>& wanted, const Loop& loop,
                               const std::string& valid) {
  for (const int i : wanted) {
    const Instruction& load = plan_.body[i];
    const bool staged = std::ranges::find(plan_.tiled, i) != plan_.tiled.end();
    if (load.held || staged || !is_vector(load, loop)) continue;
    // Values of columns are in scope only inside the loop over vector lanes.
    const bool lanewise =
        plan_.mapping == Mapping::columns || plan_.mapping == Mapping::scan_columns;
    if (!std::ranges::all_of(load.arguments,
                             [&](int value) { return !lanewise && body_.declared[value]; }))
      continue;
    const std::string address = body_.index(load.address);
    lane_of_[i] =
        body_.packs_truths ? fmt::format("op::Truths::at(x{}, k)", i) : fmt::format("x{}.v[k]", i);
    if (!valid.empty()) body_.need("part");
    const bool unaligned = passes::is_unaligned_in_uneven_rows(plan_, load);
    if (unaligned) body_.need("unaligned");
    const std::string loaded =
        valid.empty() ? fmt::format("{}<{}>(p{}, {})", unaligned ? "load_unaligned" : "load_vector",
                                    plan_.vector, load.operand, address)
                      : fmt::format("load_part<{}>(p{}, {}, Index({}))", plan_.vector, load.operand,
                                    address, valid);
    if (load.guarded) {
      out_.line("const auto x{} = v{} ? {} : Vector<{}, {}>();", i, load.arguments[0], loaded,
                body_.type(load.dtype), plan_.vector);
    } else {
      out_.line("const auto x{} = {};", i, loaded);
    }
  }
}

void CudaPrinter::open_lane_loop() {
  constexpr int truths_of_a_word = 4;
  if (body_.packs_truths) {
    out_.open("for (int k = 0; k < {}; k += {})", plan_.vector, truths_of_a_word);
  } else {
    out_.open("for (int k = 0; k < {}; ++k)", plan_.vector);
  }
}

void CudaPrinter::open_lanes(const Loop& loop, bool clamp) {
  if (plan_.vector == 1) return;
  const std::string name = body_.loop_variable(loop.atom), extent = body_.extent(loop.extent);
  out_.line("const Index first = {};", name);
  out_.directive("#pragma unroll");
  open_lane_loop();
  if (clamp && plan_.skewed >= 0) {
    out_.line("const Index {0} = first + k < 0 ? 0 : first + k < {1} ? first + k : {1} - 1;", name,
              extent);
  } else if (clamp) {
    out_.line("const Index {} = first + k < {} ? first + k : {} - 1;", name, extent, extent);
  } else {
    out_.line("const Index {} = first + k;", name);
  }
}

void CudaPrinter::close_lanes() {
  if (plan_.vector > 1) out_.close();
}

void CudaPrinter::declare_all(const std::vector<int>& instructions) {
  const auto load_text = [&](int load) {
    return lane_of_[load].empty() ? shifted_load_text(plan_.body[load]) : lane_of_[load];
  };
  for (const int i : instructions) body_.declare(i, load_text);
}

void CudaPrinter::declare_stores(const Stores& stores, const Loop& loop) {
  for (std::size_t i = 0; i < stores.size(); ++i) {
    if (!is_vector(*stores[i], loop)) continue;
    const DType dtype = plan_.operands[stores[i]->operand].dtype;
    out_.line("Vector<{}, {}> y{};", body_.type(dtype), plan_.vector, i);
  }
}

const char* CudaPrinter::store_name(const Store& store) const {
  return plan_.operands[store.operand].streamed ? "store_streaming" : "store";
}

void CudaPrinter::lane_stores(const Stores& stores, const Loop& loop, const std::string& guard) {
  for (std::size_t i = 0; i < stores.size(); ++i) {
    const Store& store = *stores[i];
    if (store.by_value) continue;
    if (body_.packs_truths) {
      out_.line("v{}.put(y{}, k);", store.value, i);
    } else if (is_vector(store, loop)) {
      out_.line("y{}.v[k] = v{};", i, store.value);
    } else if (store.combine) {
      combine_in_memory(store, guard);
    } else {
      const std::string condition = guard.empty() ? "" : fmt::format("if ({}) ", guard);
      out_.line("{}{}(p{}, {}, v{});", condition, store_name(store), store.operand,
                body_.index(store.address), store.value);
    }
  }
}

void CudaPrinter::combine_in_memory(const Store& store, const std::string& guard) {
  body_.need("atomic");
  const bool adds = *store.combine == ir::Op::scatter_add;
  out_.line("if ({}v{}) {}(p{}, {}, v{});", guard.empty() ? "" : guard + " && ", store.guard,
            adds ? "atomic_add" : "atomic_max", store.operand, body_.index(store.address),
            store.value);
}

void CudaPrinter::vector_stores(const Stores& stores, const Loop& loop, const std::string& valid) {
  for (std::size_t i = 0; i < stores.size(); ++i) {
    const Store& store = *stores[i];
    if (!is_vector(store, loop)) continue;
    const std::string address = body_.index(store.address);
    if (valid.empty()) {
      out_.line("{}_vector<{}>(p{}, {}, y{});", store_name(store), plan_.vector, store.operand,
                address, i);
    } else {
      body_.need("part");
      out_.line("store_part<{}>(p{}, {}, y{}, Index({}));", plan_.vector, store.operand, address, i,
                valid);
    }
  }
}

// Whether a thread's pass keeps an index of the kernel's index type instead of a state.
bool CudaPrinter::tracks_index(const passes::Reduction& reduction) {
  return reduction.value >= 0 && ir::finds_index(reduction.op);
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

// One state per vector lane, so that the combinations of a vector are independent of each other.
void CudaPrinter::define_states(int stage, const std::string& first) {
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    const passes::Reduction& reduction = plan_.reductions[i];
    if (reduction.scan || reduction.stage != stage) continue;
    std::string start = fmt::format("a{0}[k] = R{0}::identity()", i);
    if (tracks_index(reduction)) {
      out_.line("op::reduce::Indexed<R{0}::Key, Index> w{0}[{1}];", i, plan_.vector);
      start = fmt::format("w{0}[k] = R{0}::start_pass<Index>({1})", i, first);
    } else {
      out_.line("R{0}::State a{0}[{1}];", i, plan_.vector);
    }
    out_.directive("#pragma unroll");
    out_.line("for (int k = 0; k < {}; ++k) {};", plan_.vector, start);
    if (!folds(reduction)) continue;
    body_.need(plan_.folding.compensated ? "fold_sum" : "add_sum");
    if (plan_.mapping == Mapping::rows) {
      out_.line("R{0}::State t{0} = R{0}::identity();", i);
    } else {
      out_.line("R{0}::State total{0}[{1}];", i, plan_.vector);
      out_.directive("#pragma unroll");
      out_.line("for (int k = 0; k < {1}; ++k) total{0}[k] = R{0}::identity();", i, plan_.vector);
    }
  }
}

bool CudaPrinter::folds(const passes::Reduction& reduction) const {
  return plan_.folding.steps > 0 && passes::is_rounded_sum(reduction);
}

bool CudaPrinter::folds(int stage) const {
  return std::ranges::any_of(plan_.reductions, [&](const passes::Reduction& reduction) {
    return reduction.stage == stage && folds(reduction);
  });
}

void CudaPrinter::fold_states(int stage) {
  const char* const text =
      plan_.mapping == Mapping::rows ? "{1}_lanes(t{0}, a{0});" : "{1}_sums(total{0}, a{0});";
  const char* const how = plan_.folding.compensated ? "fold" : "add";
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    if (plan_.reductions[i].stage == stage && folds(plan_.reductions[i]))
      out_.line(fmt::runtime(text), i, how);
  }
}

// Opens the loop over r, starting at `first`. If sums are folded, opens an outer loop over runs of
// `folding.steps` steps too.
void CudaPrinter::open_row_loop(int stage, const std::string& first, int stride) {
  const std::string directive = fmt::format("#pragma unroll {}", plan_.pass_unroll);
  const std::string step = of_each_lane(stride);
  if (!folds(stage)) {
    out_.directive(directive);
    out_.open("for (Index r = {}; r < end; r += {})", first, step);
    return;
  }
  out_.open("for (Index r = {}; r < end;)", first);
  out_.line("const Index stop = r + {0} < end ? r + {0} : end;",
            of_each_lane(plan_.folding.steps * stride));
  out_.directive(directive);
  out_.open("for (; r < stop; r += {})", step);
}

std::string CudaPrinter::of_each_lane(int steps) const {
  if (lanes_.empty()) return std::to_string(steps);
  return steps == 1 ? lanes_ : fmt::format("{} * {}", steps, lanes_);
}

void CudaPrinter::fold_held(int stage) {
  if (!folds(stage)) return;
  out_.open("if (h > 0 && h % {} == 0)", plan_.folding.steps);
  fold_states(stage);
  out_.close();
}

void CudaPrinter::close_row_loop(int stage) {
  out_.close();
  if (!folds(stage)) return;
  fold_states(stage);
  if (plan_.held == 0) out_.close();
}

void CudaPrinter::finish_states(int stage, const std::string& first) {
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    const passes::Reduction& reduction = plan_.reductions[i];
    if (reduction.scan || reduction.stage != stage) continue;
    if (folds(reduction) && plan_.mapping == Mapping::columns) {
      out_.directive("#pragma unroll");
      out_.line("for (int k = 0; k < {1}; ++k) a{0}[k] = total{0}[k];", i, plan_.vector);
    }
    if (!tracks_index(reduction)) continue;
    out_.line("R{0}::State a{0}[{1}];", i, plan_.vector);
    out_.directive("#pragma unroll");
    out_.line("for (int k = 0; k < {1}; ++k) a{0}[k] = R{0}::walked(w{0}[k], {2} < end);", i,
              plan_.vector, first);
  }
}

void CudaPrinter::combine_states(int stage, const std::string& position) {
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    const passes::Reduction& reduction = plan_.reductions[i];
    if (reduction.scan || reduction.stage != stage) continue;
    if (tracks_index(reduction)) {
      out_.line("w{0}[{1}] = R{0}::next<Index>(w{0}[{1}], v{2}, {3});", i, lane(), reduction.value,
                position);
    } else if (reduction.value >= 0 && reduction.about != passes::SumAbout::nothing) {
      out_.line("a{0}[{1}] = R{0}::next(a{0}[{1}], v{2});", i, lane(), reduction.value);
    } else if (reduction.value >= 0) {
      out_.line("a{0}[{1}] = R{0}::combine(a{0}[{1}], R{0}::lift(v{2}, {3}));", i, lane(),
                reduction.value, position);
    } else {
      out_.line("a{0}[{1}] = R{0}::combine(a{0}[{1}], load(p{2}, r * rows + row));", i, lane(),
                reduction.partials);
    }
  }
}

KernelSource print_cuda(const passes::KernelPlan& plan) { return CudaPrinter(plan).print(); }

}  // namespace heddle::codegen

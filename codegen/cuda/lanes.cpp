#include <algorithm>

#include "codegen/cuda/printer.h"
#include "passes/plan/analyze.h"
#include "passes/plan/launch.h"
#include "passes/plan/skewed_rows.h"
#include "passes/plan/uneven_rows.h"

// The elements of a vector, one lane each: their loads, the loop over lanes, and their stores.

namespace heddle::codegen {

using passes::Instruction;
using passes::Loop;
using passes::Mapping;
using passes::Store;

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
}  // namespace heddle::codegen

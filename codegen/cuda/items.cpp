#include "passes/plan/items.h"

#include <algorithm>

#include "codegen/cuda/printer.h"
#include "passes/plan/analyze.h"
#include "passes/plan/item_vectors.h"

namespace heddle::codegen {

using passes::ItemPhase;
using passes::ItemRoutine;
using passes::KernelOperand;
using passes::Store;

// Each item of the block has its part of the shared memory. The threads of a block share the
// elements of all its items; a routine has `threads_per_row` threads for each item, and calls
// direct phases before and after it. Slots beyond the last item repeat its work, and store nothing.
void CudaPrinter::items() {
  body_.need("shared");
  const passes::Items& items = *plan_.items;
  out_.line("const Index count = {};", body_.extent(items.count));
  if (items.parts > 1) {
    out_.line("const Index first = Index(blockIdx.x) / {} * {};", items.parts, items.per_block);
    out_.line("const int part = static_cast<int>(blockIdx.x % {});", items.parts);
  } else {
    out_.line("const Index first = Index(blockIdx.x) * {};", items.per_block);
  }
  out_.line("const int thread = static_cast<int>(threadIdx.x);");
  item_thread(items.interleaved, "own", "lane");
  std::size_t routines = 0;
  for (const ItemPhase& phase : items.phases) {
    if (phase.direct) continue;
    out_.open("");
    if (phase.routine) {
      item_routine(phase, tables_[routines++]);
    } else {
      item_stores(phase);
      if (&phase != &items.phases.back()) out_.line("block_barrier();");
    }
    out_.close();
  }
}

/// Declares the slot that a thread works on, and its number among the threads of that item.
void CudaPrinter::item_thread(bool interleaved, const char* slot, const char* lane) {
  if (interleaved) {
    out_.line("const int {1} = thread % {0}, {2} = thread / {0};", plan_.items->per_block, slot,
              lane);
  } else {
    out_.line("const int {2} = thread % {0}, {1} = thread / {0};", plan_.threads_per_row, slot,
              lane);
  }
}

/// The array of the item in a slot of the block.
std::string CudaPrinter::item_array(int operand, const char* slot) const {
  const KernelOperand& array = plan_.operands[operand];
  return fmt::format("shared_pointer<{}>({} + {} * {})", body_.type(array.dtype), array.item_offset,
                     slot, plan_.items->bytes);
}

/// The index of an element in an item's array.
std::string CudaPrinter::item_index(int operand, const std::string& address) {
  const KernelOperand& array = plan_.operands[operand];
  if (array.item_padding == 0) return fmt::format("int({})", address);
  body_.need("padded");
  return fmt::format("padded<{}, {}>(int({}))", body_.type(array.dtype), array.item_padding,
                     address);
}

void CudaPrinter::item_stores(const ItemPhase& phase) {
  const int items = plan_.items->per_block;
  const int vector = passes::vector_of_phase(plan_, phase);
  const std::int64_t elements = Body::constant_iterations(phase.loops) / vector;
  const std::int64_t all = elements * items;
  // Several loads are on their way at once.
  const int most = vector > 1 ? 8 : 16;
  const bool unrolled = all % plan_.threads == 0 && all / plan_.threads <= most;
  out_.directive(unrolled ? "#pragma unroll" : "#pragma unroll 8");
  out_.open("for (int w = thread; w < {}; w += {})", all, plan_.threads);
  if (phase.across) {
    out_.line("const int slot = w % {0}, element = w / {0};", items);
  } else if (vector > 1) {
    out_.line("const int slot = w / {0}, element = w % {0} * {1};", elements, vector);
  } else {
    out_.line("const int slot = w / {0}, element = w % {0};", elements);
  }
  if (vector > 1) {
    item_vector(phase, vector, "slot");
  } else {
    item_element(phase, "slot");
    for (const int i : phase.stores) {
      const Store& store = plan_.stores[i];
      if (plan_.operands[store.operand].in_item()) {
        item_hold(store);
      } else {
        item_store(store);
      }
    }
  }
  out_.close();
}

// Elements `start` to `start + vector - 1` of the last loop. If the phase allows it, memory outside
// of items is accessed for all of them at once.
void CudaPrinter::item_vector(const ItemPhase& phase, int vector, const char* slot) {
  const passes::Loop& last = phase.loops.back();
  item_position(phase, slot);
  const std::vector<int> wanted = body_.needed_for(phase);
  const bool whole = passes::access_width(plan_, phase) >= vector;
  for (const int i : wanted) {
    const passes::Instruction& load = plan_.body[i];
    if (!whole || load.kind != passes::Instruction::Kind::load ||
        plan_.operands[load.operand].in_item() ||
        passes::vector_width(plan_, load, last, vector) < vector)
      continue;
    out_.line("const auto x{} = load_vector<{}>(p{}, {});", i, vector, load.operand,
              body_.index(load.address));
    lane_of_[i] = fmt::format("x{}.v[k]", i);
  }
  const auto in_item = [&](int i) { return plan_.operands[plan_.stores[i].operand].in_item(); };
  for (const int i : phase.stores) {
    if (in_item(i) ? !phase.direct : !whole) continue;
    out_.line("Vector<{}, {}> y{};", body_.type(plan_.operands[plan_.stores[i].operand].dtype),
              vector, i);
  }
  const std::string position = body_.loop_variable(last.atom);
  out_.line("const Index start = {};", position);
  out_.directive("#pragma unroll");
  out_.open("for (int k = 0; k < {}; ++k)", vector);
  out_.line("const Index {} = start + k;", position);
  declare_all(wanted);
  for (const int i : phase.stores) {
    if (in_item(i) && !phase.direct) {
      item_hold(plan_.stores[i]);
    } else if (in_item(i) || whole) {
      out_.line("y{}.v[k] = v{};", i, plan_.stores[i].value);
    } else {
      item_store(plan_.stores[i]);
    }
  }
  out_.close();
  for (const int i : phase.stores) {
    const Store& store = plan_.stores[i];
    if (in_item(i) || !whole) continue;
    out_.line("{}{}_vector<{}>(p{}, {}, y{});", is_partial() ? "if (wanted < count) " : "",
              store_name(store), vector, store.operand, body_.index(store.address), i);
  }
  for (const int i : wanted) lane_of_[i].clear();
}

/// A store of a phase to an array of the item.
void CudaPrinter::item_hold(const Store& store) {
  out_.line("shared_store({}, {}, v{});", item_array(store.operand, "slot"),
            item_index(store.operand, body_.index(store.address)), store.value);
}

/// A store of a phase to memory outside of the item.
void CudaPrinter::item_store(const Store& store) {
  out_.line("{}{}(p{}, {}, v{});", is_partial() ? "if (wanted < count) " : "", store_name(store),
            store.operand, body_.index(store.address), store.value);
}

bool CudaPrinter::is_partial() const {
  return !plan_.items->count.divisible_by(plan_.items->per_block);
}

void CudaPrinter::item_position(const ItemPhase& phase, const char* slot) {
  const bool partial = is_partial();
  out_.line("const Index {} = first + {};", partial ? "wanted" : "item", slot);
  if (partial) out_.line("const Index item = wanted < count ? wanted : count - 1;");
  body_.decode(phase.batch, "item");
  body_.decode(phase.loops, "Index(element)");
}

/// The values of a phase for `element` of the item in a slot of the block.
void CudaPrinter::item_element(const ItemPhase& phase, const char* slot) {
  item_position(phase, slot);
  declare_all(body_.needed_for(phase));
}

/// A function of an element's number: the value that the phase makes for a routine, or the values
/// of `width` neighbours. Its threads may be those of other items than in the routine.
void CudaPrinter::item_source(const ItemPhase& phase, int operand, int width,
                              const std::string& name) {
  const bool apart = phase.across != plan_.items->interleaved;
  const char* const slot = apart ? "taken" : "own";
  if (apart) item_thread(phase.across, "taken", "taker");
  out_.open("const auto {} = [&](const int element)", apart ? "make" : name);
  if (width > 1) {
    item_vector(phase, width, slot);
    out_.line("return y{};", phase.stores[0]);
  } else {
    item_element(phase, slot);
    out_.line("return v{};", plan_.stores[phase.stores[0]].value);
  }
  out_.close_with(";");
  if (!apart) return;
  body_.need("item_source");
  out_.line("const auto {} = item_source(make, taker, {});", name, item_array(operand, "taken"));
}

/// A function of an element's number and value, or `width` values: what the phase does with it.
void CudaPrinter::item_target(const ItemPhase& phase, int result, int width) {
  const std::vector<int> all = body_.needed_for(phase);
  const auto load = std::ranges::find_if(all, [&](int i) {
    return plan_.body[i].kind == passes::Instruction::Kind::load && plan_.body[i].operand == result;
  });
  const std::string type = body_.type(plan_.operands[result].dtype);
  lane_of_[*load] = width > 1 ? "made.v[k]" : "made";
  out_.open("const auto to = [&](const int element, const {} made)",
            width > 1 ? fmt::format("Vector<{}, {}>&", type, width) : type);
  if (width > 1) {
    item_vector(phase, width, "own");
  } else {
    item_element(phase, "own");
    for (const int i : phase.stores) item_store(plan_.stores[i]);
  }
  out_.close_with(";");
  lane_of_[*load].clear();
}

void CudaPrinter::item_routine(const ItemPhase& phase, const std::vector<std::string>& tables) {
  const ItemRoutine& routine = *phase.routine;
  const std::vector<ItemPhase>& phases = plan_.items->phases;
  const auto at = static_cast<std::size_t>(&phase - phases.data());
  body_.need(routine.section);
  std::string arguments;
  for (const int array : routine.arrays) arguments += item_array(array, "own") + ", ";
  arguments += "lane";
  for (const std::string& table : tables) arguments += ", " + table;
  if (routine.item_modulus > 0)
    arguments += fmt::format(", static_cast<long long>((first + own) % {})", routine.item_modulus);
  if (routine.parts > 1) arguments += ", part";
  for (std::size_t k = 0; k < routine.takes.size(); ++k) {
    const std::optional<std::size_t> before = passes::phase_before(routine, at, k);
    const bool direct = before && phases[*before].direct;
    const std::string from = k == 0 ? "from" : fmt::format("from_{}", k);
    if (direct) item_source(phases[*before], routine.arrays[k], routine.takes[k].at_once, from);
    arguments += ", " + (direct ? from : item_array(routine.arrays[k], "own"));
  }
  if (!routine.takes.empty()) {
    const bool to = at + 1 < phases.size() && phases[at + 1].direct;
    if (to) item_target(phases[at + 1], routine.arrays.back(), routine.makes.at_once);
    arguments += ", " + (to ? std::string("to") : item_array(routine.arrays.back(), "own"));
  }
  out_.line("{}({});", routine.function, arguments);
}

}  // namespace heddle::codegen

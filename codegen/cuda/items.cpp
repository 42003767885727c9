#include <algorithm>

#include "codegen/cuda/printer.h"

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
  out_.line("const Index first = Index(blockIdx.x) * {};", items.per_block);
  out_.line("const int thread = static_cast<int>(threadIdx.x);");
  if (items.interleaved) {
    out_.line("const int own = thread % {0}, lane = thread / {0};", items.per_block);
  } else {
    out_.line("const int lane = thread % {0}, own = thread / {0};", plan_.threads_per_row);
  }
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
  const std::int64_t elements = Body::constant_iterations(phase.loops), all = elements * items;
  // Several loads are on their way at once.
  const bool unrolled = all % plan_.threads == 0 && all / plan_.threads <= 16;
  out_.directive(unrolled ? "#pragma unroll" : "#pragma unroll 8");
  out_.open("for (int w = thread; w < {}; w += {})", all, plan_.threads);
  if (phase.across) {
    out_.line("const int slot = w % {0}, element = w / {0};", items);
  } else {
    out_.line("const int slot = w / {0}, element = w % {0};", elements);
  }
  item_element(phase, "slot");
  for (const int i : phase.stores) {
    const Store& store = plan_.stores[i];
    if (plan_.operands[store.operand].in_item()) {
      out_.line("shared_store({}, {}, v{});", item_array(store.operand, "slot"),
                item_index(store.operand, body_.index(store.address)), store.value);
    } else {
      item_store(store);
    }
  }
  out_.close();
}

/// A store of a phase to memory outside of the item.
void CudaPrinter::item_store(const Store& store) {
  out_.line("{}{}(p{}, {}, v{});", is_partial() ? "if (wanted < count) " : "", store_name(store),
            store.operand, body_.index(store.address), store.value);
}

bool CudaPrinter::is_partial() const {
  return !plan_.items->count.divisible_by(plan_.items->per_block);
}

/// The values of a phase for `element` of the item in a slot of the block.
void CudaPrinter::item_element(const ItemPhase& phase, const char* slot) {
  const bool partial = is_partial();
  out_.line("const Index {} = first + {};", partial ? "wanted" : "item", slot);
  if (partial) out_.line("const Index item = wanted < count ? wanted : count - 1;");
  body_.decode(phase.batch, "item");
  body_.decode(phase.loops, "Index(element)");
  declare_all(body_.needed_for(phase));
}

/// A function of an element's number: the value that the phase makes for a routine.
void CudaPrinter::item_source(const ItemPhase& phase) {
  out_.open("const auto from = [&](const int element)");
  item_element(phase, "own");
  out_.line("return v{};", plan_.stores[phase.stores[0]].value);
  out_.close_with(";");
}

/// A function of an element's number and value: what the phase does with it.
void CudaPrinter::item_target(const ItemPhase& phase, int result) {
  const std::vector<int> all = body_.needed_for(phase);
  const auto load = std::ranges::find_if(all, [&](int i) {
    return plan_.body[i].kind == passes::Instruction::Kind::load && plan_.body[i].operand == result;
  });
  lane_of_[*load] = "made";
  out_.open("const auto to = [&](const int element, const {} made)",
            body_.type(plan_.operands[result].dtype));
  item_element(phase, "own");
  for (const int i : phase.stores) item_store(plan_.stores[i]);
  out_.close_with(";");
  lane_of_[*load].clear();
}

void CudaPrinter::item_routine(const ItemPhase& phase, const std::vector<std::string>& tables) {
  const ItemRoutine& routine = *phase.routine;
  const ItemPhase* const before = &phase == &plan_.items->phases.front() ? nullptr : &phase - 1;
  const ItemPhase* const after = &phase == &plan_.items->phases.back() ? nullptr : &phase + 1;
  body_.need(routine.section);
  std::string arguments;
  for (const int array : routine.arrays) arguments += item_array(array, "own") + ", ";
  arguments += "lane";
  for (const std::string& table : tables) arguments += ", " + table;
  if (routine.item_modulus > 0)
    arguments += fmt::format(", static_cast<long long>((first + own) % {})", routine.item_modulus);
  if (routine.takes > 0) {
    const bool from = before != nullptr && before->direct, to = after != nullptr && after->direct;
    if (from) item_source(*before);
    if (to) item_target(*after, routine.arrays.back());
    arguments += from ? ", from" : ", " + item_array(routine.arrays.front(), "own");
    arguments += to ? ", to" : ", " + item_array(routine.arrays.back(), "own");
  }
  out_.line("{}({});", routine.function, arguments);
}

}  // namespace heddle::codegen

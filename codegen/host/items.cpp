#include "codegen/host/printer.h"

namespace heddle::codegen {

using passes::ItemPhase;
using passes::ItemRoutine;
using passes::KernelOperand;
using passes::Loop;
using passes::Store;

// A step takes `per_block` items, each in its part of an array on the stack, or of the thread.
void HostPrinter::items() {
  const passes::Items& items = *plan_.items;
  out_.line("{}{}unsigned char memory[{}];", aligned, items.on_stack ? "" : "static thread_local ",
            items.bytes * items.per_block);
  out_.line("const Index count = {};", body_.extent(items.count));
  out_.open("for (Index step = begin; step < end; ++step)");
  out_.line("const Index first = step * {0};", items.per_block);
  if (items.count.divisible_by(items.per_block)) {
    out_.line("constexpr int slots = {};", items.per_block);
  } else {
    out_.line("const int slots = first + {0} <= count ? {0} : static_cast<int>(count - first);",
              items.per_block);
  }
  std::size_t routines = 0;
  for (const ItemPhase& phase : items.phases) {
    if (phase.routine) {
      item_routine(*phase.routine, tables_[routines++]);
    } else {
      item_stores(phase);
    }
  }
  out_.close();
}

void HostPrinter::item_stores(const ItemPhase& phase) {
  // If the items of a step differ in the last index of the batch only, the others are computed
  // once.
  const bool in_a_row =
      phase.batch.size() > 1 && phase.batch.back().extent.divisible_by(plan_.items->per_block);
  if (in_a_row) {
    out_.open_block();
    body_.decode(phase.batch, "first", "_first");
  }
  const auto open_slots = [&] {
    out_.open("for (int slot = 0; slot < slots; ++slot)");
    if (in_a_row) {
      const std::string last = body_.loop_variable(phase.batch.back().atom);
      out_.line("const Index {0} = {0}_first + slot;", last);
    } else {
      body_.decode(phase.batch, "(first + slot)");
    }
  };
  const auto open_elements = [&] {
    for (const Loop& loop : phase.loops) {
      out_.open("for (Index {0} = 0; {0} < {1}; ++{0})", body_.loop_variable(loop.atom),
                body_.extent(loop.extent));
    }
  };
  if (!phase.across) open_slots();
  open_elements();
  if (phase.across) open_slots();
  for (std::size_t i = 0; i < plan_.operands.size(); ++i) {
    const KernelOperand& operand = plan_.operands[i];
    if (!operand.in_item()) continue;
    out_.line("[[maybe_unused]] auto* const p{} = reinterpret_cast<{}*>(memory + slot * {} + {});",
              i, storage(operand), plan_.items->bytes, operand.item_offset);
  }
  declare_all(body_.needed_for(phase));
  for (const int i : phase.stores) store(plan_.stores[i]);
  for (std::size_t i = 0; i < phase.loops.size(); ++i) out_.close();
  out_.close();
  if (in_a_row) out_.close();
}

void HostPrinter::item_routine(const ItemRoutine& routine, const std::vector<std::string>& tables) {
  body_.need(routine.section);
  out_.open("for (int slot = 0; slot < slots; ++slot)");
  std::string arguments;
  for (const int array : routine.arrays) {
    const KernelOperand& operand = plan_.operands[array];
    arguments += fmt::format("{}reinterpret_cast<{}*>(memory + slot * {} + {})",
                             arguments.empty() ? "" : ", ", storage(operand), plan_.items->bytes,
                             operand.item_offset);
  }
  for (const std::string& table : tables) arguments += ", " + table;
  if (routine.item_modulus > 0)
    arguments += fmt::format(", (first + slot) % {}", routine.item_modulus);
  out_.line("{}({});", routine.function, arguments);
  out_.close();
}

}  // namespace heddle::codegen

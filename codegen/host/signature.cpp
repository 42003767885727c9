#include "codegen/host/printer.h"

namespace heddle::codegen {

using passes::KernelOperand;

/// The kernel's array parameters, one pointer for each memory block. Compilers honour __restrict__
/// only on parameters. Without it they check for overlaps at run time, and only for a few arrays.
std::vector<HostPrinter::Pointer> HostPrinter::pointers() const {
  std::vector<Pointer> result;
  for (std::size_t i = 0; i < plan_.operands.size(); ++i) {
    const KernelOperand& operand = plan_.operands[i];
    if (operand.same_as >= 0 || operand.in_item()) continue;
    bool written = operand.written, alone = !operand.aliased;
    for (const KernelOperand& other : plan_.operands) {
      if (other.same_as != static_cast<int>(i)) continue;
      written |= other.written;
      alone = true;
    }
    result.push_back({i, (written ? "" : "const ") + storage(operand), alone});
  }
  return result;
}

void HostPrinter::open_body() {
  // noipa: GCC 12 may conclude that the function writes nothing, and remove the call.
  out_.line("static __attribute__((noinline, noipa)) void body(");
  for (const Pointer& one : pointers())
    out_.line("    {}*{} p{},", one.type, one.alone ? " __restrict__" : "", one.operand);
  out_.open("    const long long* scalars, long long begin, long long end)");
  for (std::size_t i = 0; i < plan_.operands.size(); ++i) {
    const KernelOperand& operand = plan_.operands[i];
    if (operand.same_as >= 0) {
      out_.line("{}{}* const p{} = p{};", operand.written ? "" : "const ", storage(operand), i,
                operand.same_as);
    }
  }
}

/// The entry point that the runtime calls.
void HostPrinter::entry() {
  out_.open(
      "extern \"C\" void {}(void* const* buffers, const long long* scalars, long long begin, "
      "long long end)",
      name_placeholder);
  out_.line("body(");
  for (const Pointer& one : pointers())
    out_.line("    static_cast<{}*>(buffers[{}]),", one.type, one.operand);
  out_.line("    scalars, begin, end);");
  out_.close();
}

}  // namespace heddle::codegen

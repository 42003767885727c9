#include "codegen/host/printer.h"

namespace heddle::codegen {

using passes::Instruction;
using passes::Loop;
using passes::Store;

/// Prints a loop over strips of the run [first, stop). Halves of a strip are converted to float,
/// and back, together. `walk` prints the code for one strip.
void HostPrinter::strips(const passes::HostPass& pass, const Loop& loop,
                         const std::function<void(const char* first, const char* stop)>& walk) {
  if (pass.strip_loads.empty() && pass.strip_stores.empty()) return walk("first", "stop");
  constexpr int strip = 512;  // elements; their floats fit in the L1 cache
  body_.need("half_strips");
  const std::string variable = body_.loop_variable(loop.atom);
  out_.open("for (Index strip = first; strip < stop; strip += {})", strip);
  out_.line("const Index strip_stop = stop - strip < {0} ? stop : strip + {0};", strip);
  for (const int i : pass.strip_loads) {
    const Instruction& load = plan_.body[i];
    out_.line("{}float w{}[{}];", aligned, i, strip);
    out_.open("");
    out_.line("const Index {} = strip;", variable);
    out_.line("op::widen_all(w{}, p{} + ({}), strip_stop - strip);", i, load.operand,
              body_.index(load.address));
    out_.close();
    widened_[i] = fmt::format("w{}[{} - strip]", i, variable);
  }
  for (const int i : pass.strip_stores) {
    out_.line("{}float y{}[{}];", aligned, i, strip);
    narrowed_[&plan_.stores[i]] = fmt::format("y{}[{} - strip]", i, variable);
  }
  walk("strip", "strip_stop");
  for (const int i : pass.strip_stores) {
    const Store& one = plan_.stores[i];
    out_.open("");
    out_.line("const Index {} = strip;", variable);
    out_.line("op::narrow_all(p{} + ({}), y{}, strip_stop - strip);", one.operand,
              body_.index(one.address), i);
    out_.close();
  }
  out_.close();
  widened_.clear();
  narrowed_.clear();
}

}  // namespace heddle::codegen

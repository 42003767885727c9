#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "codegen/common/body.h"

namespace heddle::codegen {

std::string Body::carry(int loop, std::size_t carry) {
  return fmt::format("carry{}_{}", loop, carry);
}

void Body::open_steps(int loop) {
  const passes::ElementLoop& opened = plan_.element_loops[static_cast<std::size_t>(loop)];
  const std::string step = fmt::format("step{}", loop), length = extent(*opened.length);
  if (opened.reverse) {
    writer_.open("for (long long {0} = {1}; {0}-- > 0;)", step, length);
  } else {
    writer_.open("for (long long {0} = 0; {0} < {1}; ++{0})", step, length);
  }
  if (opened.atom) writer_.line("const Index {} = Index({});", loop_variable(*opened.atom), step);
}

// The steps use no fast approximations: a result that may be inexact could change their number.
void Body::element_loop(int number, const LoadText& load) {
  const passes::ElementLoop& loop = plan_.element_loops[static_cast<std::size_t>(number)];
  const bool was_quick = std::exchange(quick, false);
  for (std::size_t k = 0; k < loop.initial.size(); ++k) {
    const int initial = loop.initial[k];
    writer_.line("{} {} = v{};", variable_type(initial), carry(number, k), initial);
  }
  if (loop.length) {
    open_steps(number);
  } else {
    writer_.open("while (true)");
  }
  const auto decided = loop.steps.begin() + static_cast<std::ptrdiff_t>(loop.decided);
  for (auto one = loop.steps.begin(); one != decided; ++one) declare(*one, load);
  if (loop.condition >= 0) writer_.line("if (!v{}) break;", loop.condition);
  for (auto one = decided; one != loop.steps.end(); ++one) declare(*one, load);
  for (std::size_t k = 0; k < loop.initial.size(); ++k)
    writer_.line("{} = v{};", carry(number, k), loop.next[k]);
  writer_.close();
  quick = was_quick;
}

}  // namespace heddle::codegen

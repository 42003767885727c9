#include "passes/program.h"

namespace heddle::passes {

std::vector<BufferUse> uses_of(const Step& step) {
  std::vector<BufferUse> uses;
  switch (step.kind) {
    case Step::Kind::kernel:
      for (const Parameter& parameter : step.kernel.parameters) {
        if (parameter.kind == Parameter::Kind::buffer)
          uses.push_back({parameter.buffer, parameter.written});
      }
      break;
    case Step::Kind::matmul:
      uses = {{step.matmul.a, false}, {step.matmul.b, false}, {step.matmul.out, true}};
      if (step.matmul.residual) uses.push_back({*step.matmul.residual, false});
      if (step.matmul.bias) uses.push_back({*step.matmul.bias, false});
      break;
    case Step::Kind::sort:
      uses = {{step.sort.keys, false}, {step.sort.out, true}};
      for (const BufferRef& scratch : step.sort.scratch) uses.push_back({scratch, true});
      break;
    case Step::Kind::zero:
      uses = {{step.zero.buffer, true}};
      break;
  }
  return uses;
}

}  // namespace heddle::passes

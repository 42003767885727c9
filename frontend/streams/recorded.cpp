#include "frontend/streams/recorded.h"

#include <exception>
#include <string>

#include "heddle/error.h"

#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/trace.h"
#include "runtime/base/log.h"

namespace heddle::frontend {

void evaluate_recorded(const char* what) {
  if (Trace::current() != nullptr) {
    throw TraceError(std::string(what) +
                     " is called while a function is traced: a program runs on one stream. Call it "
                     "before or after the jitted function");
  }
  if (evaluate_pending(Recorder::current())) note_explicit_evaluation();
}

void try_evaluate_recorded() noexcept {
  if (Trace::current() != nullptr) return;
  try {
    evaluate_pending(Recorder::current());
  } catch (const std::exception& failure) {  // also an interruption, or a user's own exception
    runtime::log().debug("recorded work stays recorded: {}", failure.what());
  }
}

}  // namespace heddle::frontend

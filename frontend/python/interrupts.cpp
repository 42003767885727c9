#include "frontend/python/interrupts.h"

#include <atomic>
#include <exception>
#include <pthread.h>

#include <nanobind/nanobind.h>

#include "frontend/python/gil.h"
#include "ir/base/fork_gate.h"
#include "runtime/base/interrupt.h"

namespace heddle::python {

namespace nb = nanobind;

namespace {

/// Python runs signal handlers only on this thread. A thread that holds the GIL may wait for
/// another thread that calls this hook, so only the main thread may request the GIL here.
std::atomic<pthread_t> main_thread{};

std::exception_ptr take_signal() {
  if (!pthread_equal(pthread_self(), main_thread.load()) || Py_IsInitialized() == 0) return nullptr;
  const AcquireGil acquire;
  if (PyErr_CheckSignals() == 0) return nullptr;
  return std::make_exception_ptr(nb::python_error());
}

}  // namespace

void raise_interrupts_in_waits() {
  const nb::object main = nb::module_::import_("threading").attr("main_thread")();
  main_thread = static_cast<pthread_t>(nb::cast<std::uintptr_t>(main.attr("ident")));
  // The forking thread becomes the main thread of the child.
  ir::in_forked_child([] { main_thread = pthread_self(); });
  runtime::set_interrupt_hook(take_signal);
}

}  // namespace heddle::python

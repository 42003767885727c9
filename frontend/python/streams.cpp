#include "frontend/python/streams.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontend/python/arguments.h"
#include "frontend/python/bindings.h"
#include "frontend/python/dropped.h"
#include "frontend/python/errors.h"
#include "frontend/python/gil.h"
#include "frontend/python/python_memory.h"
#include "frontend/python/sharing.h"
#include "frontend/streams/access.h"
#include "frontend/streams/recorded.h"

namespace heddle::python {

namespace {

std::uintptr_t number_of(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

/// Calls a function of the library without the GIL. It may evaluate, compile and wait. Where it
/// only calls the driver, it may wait for a Python function that a stream calls.
template <class Call>
auto without_gil(const Call& call) {
  const ReleaseGil release;
  return call();
}

/// For calls that wait: raises what a signal handler raised meanwhile.
template <class Call>
void wait_without_gil(const Call& call) {
  without_gil(call);
  drop_references();
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// A Python function that a stream calls. A captured one is called at each launch of its graph.
struct EnqueuedCall {
  Stream stream;
  std::weak_ptr<const nb::object> call;  ///< expired once it is not called any more
};

/// Guarded by the GIL.
std::vector<EnqueuedCall>& enqueued_calls() {
  static auto& calls = *new std::vector<EnqueuedCall>;
  return calls;
}

/// Enqueues a call of a Python function. Its exceptions go to sys.unraisablehook.
void launch_host_function(const Stream& stream, const nb::object& function, nb::object arguments) {
  drop_references();
  std::erase_if(enqueued_calls(), [](const EnqueuedCall& each) { return each.call.expired(); });
  const Held call = hold_for_driver(nb::make_tuple(function, arguments));
  enqueued_calls().push_back({stream, call});
  without_gil([&] {
    stream.launch_host_function([call] {
      if (Py_IsInitialized() == 0) return;
      const AcquireGil acquire;
      PyObject* const callable = PyTuple_GET_ITEM(call->ptr(), 0);
      PyObject* const result = PyObject_CallObject(callable, PyTuple_GET_ITEM(call->ptr(), 1));
      if (result == nullptr) PyErr_WriteUnraisable(callable);
      Py_XDECREF(result);
    });
  });
}

/// Waits for enqueued Python functions, which cannot run once the interpreter ends.
void finish_host_functions() {
  const std::vector<EnqueuedCall> calls = std::move(enqueued_calls());
  enqueued_calls().clear();
  without_gil([&] {
    for (const EnqueuedCall& each : calls) {
      if (each.call.expired()) continue;
      try {
        frontend::StreamAccess::of(each.stream).synchronize();
      } catch (const Error&) {
        continue;  // the device has failed, so nothing more is called
      }
    }
  });
  drop_references();
}

/// Makes `before` the current stream again, also if what was recorded meanwhile fails.
void leave_stream(const Stream& before) {
  const ReleaseGil release;
  const runtime::Stream& queue = frontend::StreamAccess::of(before);
  if (runtime::Stream::current(queue.device()) == queue) return;
  try {
    frontend::evaluate_recorded("the end of a with statement of a stream");
  } catch (...) {
    runtime::Stream::set_current(queue);
    throw;
  }
  runtime::Stream::set_current(queue);
}

void bind_events(nb::module_& module) {
  nb::class_<Event>(module, "Event")
      .def("__init__",
           [](Event* self, bool timed, bool blocking, bool interprocess, const char* of) {
             const EventOptions options{timed, blocking, interprocess};
             without_gil([&] { new (self) Event(options, of); });
           })
      .def_static("open",
                  [](const nb::bytes& handle, const char* of) {
                    const std::string bytes(handle.c_str(), handle.size());
                    return without_gil([&] { return Event::from_ipc_handle(bytes, of); });
                  })
      .def("ipc_handle",
           [](const Event& self) {
             const std::string handle = without_gil([&] { return self.ipc_handle(); });
             return nb::bytes(handle.data(), handle.size());
           })
      .def("record",
           [](Event& self, const Stream& stream) { without_gil([&] { self.record(stream); }); })
      .def("synchronize", [](const Event& self) { wait_without_gil([&] { self.synchronize(); }); })
      .def("milliseconds_since",
           [](const Event& self, const Event& start) {
             return without_gil([&] { return self.milliseconds_since(start); });
           })
      .def_prop_ro("done",
                   [](const Event& self) { return without_gil([&] { return self.done(); }); })
      .def_prop_ro("device", [](const Event& self) { return nb::str(self.device().c_str()); })
      .def_prop_ro("handle", [](const Event& self) { return number_of(self.handle()); });
}

void bind_graphs(nb::module_& module) {
  nb::class_<CapturedGraph>(module, "Graph")
      .def("launch", [](const CapturedGraph& self,
                        const Stream& stream) { without_gil([&] { self.launch(stream); }); })
      .def("upload", [](const CapturedGraph& self, const Stream& stream) {
        without_gil([&] { self.upload(stream); });
      });
}

void bind_stream(nb::module_& module) {
  nb::class_<Stream>(module, "Stream")
      .def("__init__",
           [](Stream* self, bool waits_for_default, int priority) {
             without_gil([&] {
               new (self) Stream({.waits_for_default = waits_for_default, .priority = priority});
             });
           })
      .def_static("own", [] { return without_gil([] { return Stream::own(); }); })
      .def_static("current",
                  [](const char* of) { return without_gil([&] { return Stream::current(of); }); })
      .def_static("external",
                  [](std::uintptr_t handle, const char* of) {
                    return Stream::external(reinterpret_cast<void*>(handle), of);
                  })
      .def_prop_ro("device", [](const Stream& self) { return nb::str(self.device().c_str()); })
      .def_prop_ro("handle", [](const Stream& self) { return number_of(self.handle()); })
      .def("synchronize", [](const Stream& self) { wait_without_gil([&] { self.synchronize(); }); })
      .def_prop_ro("done",
                   [](const Stream& self) { return without_gil([&] { return self.done(); }); })
      .def("wait",
           [](const Stream& self, const Event& event) { without_gil([&] { self.wait(event); }); })
      .def("use", [](const Stream& self) { without_gil([&] { self.use(); }); })
      .def("launch_host_function", launch_host_function)
      .def("begin_capture",
           [](const Stream& self, int policy) {
             if (policy < 0 || policy > static_cast<int>(CapturePolicy::relaxed))
               raise(PyExc_ValueError, "begin_capture: mode must be 0, 1 or 2");
             without_gil([&] { self.begin_capture(static_cast<CapturePolicy>(policy)); });
           })
      .def("end_capture",
           [](const Stream& self) { return without_gil([&] { return self.end_capture(); }); })
      .def_prop_ro("capturing",
                   [](const Stream& self) { return without_gil([&] { return self.capturing(); }); })
      .def("equals", [](const Stream& self, const Stream& other) { return self == other; });
}

}  // namespace

Stream to_stream(nb::handle value, const std::string& device) {
  if (value.is_none()) return Stream::current(device);
  if (nb::hasattr(value, "_native")) {
    const nb::object native = value.attr("_native");
    if (nb::isinstance<Stream>(native)) return nb::cast<const Stream&>(native);
  }
  nb::object pointer;
  if (nb::hasattr(value, "ptr")) {
    pointer = value.attr("ptr");
  } else if (nb::hasattr(value, "__cuda_stream__")) {
    pointer = value.attr("__cuda_stream__")()[1];
  }
  if (!pointer.is_valid() || !is_integer(pointer))
    raise(PyExc_TypeError, "stream must be a heddle.cuda.Stream, not " + describe_type(value));
  return Stream::external(reinterpret_cast<void*>(to_integer(pointer)), device);
}

// What the classes of heddle/cuda call.
void bind_cuda(Functions& functions) {
  nb::module_ module = functions.module().def_submodule("_cuda", "What heddle.cuda is made of.");
  bind_events(module);
  bind_graphs(module);
  bind_stream(module);
  module.def(
      "stream_of", [](nb::handle value, const char* device) { return to_stream(value, device); },
      nb::arg().none(), nb::arg());
  module.def("finish_host_functions", finish_host_functions);
  module.def("leave_stream", leave_stream);
  module.def("evaluate_recorded",
             [](const char* what) { without_gil([&] { frontend::evaluate_recorded(what); }); });
  bind_cuda_devices(module);
  bind_pinned_memory(module);
  bind_allocators(module);
  bind_sharing(module);
}

}  // namespace heddle::python

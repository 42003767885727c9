#include "frontend/python/evaluation.h"

#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>

#include "heddle/jit.h"

#include "frontend/array/access.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/record.h"
#include "frontend/python/array_object.h"
#include "frontend/python/device.h"
#include "frontend/python/gil.h"
#include "runtime/base/log.h"
#include "runtime/device/backend.h"
#include "runtime/device/memory.h"

namespace heddle::python {

using frontend::Access;

namespace {

/// A string that lives as long as the process: locations refer to it.
const char* interned(const char* text) {
  static auto& texts = *new std::unordered_set<std::string>;  // under the GIL
  return texts.insert(text).first->c_str();
}

/// The place of the op that was recorded last on this thread.
struct Place {
  const void* code = nullptr;
  std::uint_least32_t line = 0, instruction = 0;
};
thread_local Place last_place;
thread_local bool statement_began = false;
thread_local bool pinned_read = false;

/// Under the GIL.
std::unordered_set<const runtime::Buffer*>& pinned_buffers() {
  static auto& buffers = *new std::unordered_set<const runtime::Buffer*>;
  return buffers;
}

}  // namespace

SourceLocation python_location() {
  pinned_read = false;  // one whose op was never recorded
  PyFrameObject* frame = PyEval_GetFrame();
  if (frame == nullptr) return {};
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  const int line = PyFrame_GetLineNumber(frame);
#if PY_VERSION_HEX >= 0x030B0000
  const int instruction = PyFrame_GetLasti(frame);
#else
  const int instruction = 0;
#endif
  const Place here{code.ptr(), static_cast<std::uint_least32_t>(std::max(line, 0)),
                   static_cast<std::uint_least32_t>(std::max(instruction, 0))};
  statement_began = here.code != last_place.code || here.line != last_place.line ||
                    here.instruction <= last_place.instruction;
  last_place = here;
  const char* file = PyUnicode_AsUTF8(reinterpret_cast<PyCodeObject*>(code.ptr())->co_filename);
  if (file == nullptr) {
    PyErr_Clear();
    return {};
  }
  return SourceLocation::at(interned(file), here.line, here.instruction + 1);
}

void statement_point() {
  if (!std::exchange(statement_began, false) || !frontend::evaluation_due()) return;
  const ReleaseGil release;
  frontend::evaluate_here();
}

void compute(const Array& array) {
  // The variable may change while other threads run.
  const Array value = array;  // NOLINT(performance-unnecessary-copy-initialization)
  {
    const ReleaseGil release;
    value.eval();
  }
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

namespace {

void wait_for(const runtime::Stream& stream, const runtime::Stream& other) {
  const runtime::ContextScope scope(stream.device());  // for the default stream
  stream.wait(runtime::Event(other));
}

bool is_asynchronous(const runtime::Device& device) {
  return runtime::capabilities_of(device).asynchronous;
}

runtime::Stream default_stream(const runtime::Device& device) {
  return runtime::Stream::borrow(device, reinterpret_cast<runtime::StreamHandle>(1));
}

}  // namespace

SharedOrder::SharedOrder(const runtime::Device& device) : device_(device) {
  if (is_asynchronous(device)) wait_for(runtime::Stream::current(device), default_stream(device));
}

SharedOrder::~SharedOrder() {
  if (!is_asynchronous(device_)) return;
  try {
    wait_for(default_stream(device_), runtime::Stream::current(device_));
  } catch (const Error& error) {
    // The device has failed, which whoever uses it next is told.
    runtime::log().debug("{}", error.what());
  }
}

void copy_into(const frontend::NodeRef& pinned, const frontend::NodeRef& value) {
  const ReleaseGil release;
  frontend::evaluate(value);
  const runtime::DeviceArray &to = pinned->value, &from = value->value;
  const auto bytes = static_cast<std::size_t>(frontend::bytes_of(*pinned));
  if (bytes == 0) return;
  const runtime::Device device = to.buffer->device();
  const SharedOrder order(device);
  const runtime::Stream stream = runtime::Stream::current(device);
  for (const runtime::Buffer* buffer : {to.buffer.get(), from.buffer.get()}) {
    if (is_asynchronous(device) && !(buffer->stream() == stream)) {
      stream.wait(runtime::Event(buffer->stream()));
    }
  }
  runtime::copy(static_cast<std::byte*>(to.buffer->pointer()) + to.offset, device,
                static_cast<const std::byte*>(from.buffer->pointer()) + from.offset,
                from.buffer->device(), bytes, stream);
}

frontend::NodeRef copied(const frontend::NodeRef& node) {
  const runtime::DeviceArray& from = node->value;
  const runtime::Stream stream = runtime::Stream::current(from.buffer->device());
  const auto bytes = static_cast<std::size_t>(frontend::bytes_of(*node));
  frontend::NodeRef result = frontend::array_node(
      {from.type, runtime::allocate(bytes, stream, runtime::label_of(from.type, "a copy")), 0});
  copy_into(result, node);
  return result;
}

void register_pinned(const frontend::NodeRef& node) {
  pinned_buffers().insert(node->value.buffer.get());
}
void unregister_pinned(const frontend::NodeRef& node) {
  pinned_buffers().erase(node->value.buffer.get());
}

void pin(ArrayObject& array) {
  Base& base = array.base();
  if (base.pinned) return;
  compute(base.value);
  for (View* view : base.views) view->forget();
  frontend::NodeRef node = Access::raw(base.value);
  // Others who hold the value, pending ops among them, keep what it is now: one reference is the
  // variable's, one is ours.
  if (node->references() > 2 || !node->value.buffer.unique() || !node->value.buffer->pooled()) {
    node = copied(node);
    Access::assign(base.value, node);
  }
  base.pinned = node;
  register_pinned(node);
}

void note_pinned_read() { pinned_read = true; }
bool take_pinned_read() { return std::exchange(pinned_read, false); }

nb::object wrap(Array array) {
  if (frontend::tracing()) {
    take_pinned_read();
  } else {
    if (take_pinned_read()) {
      const SharedOrder order(device_of(array));
      compute(array);
    }
    const frontend::NodeRef& node = Access::raw(array);
    if (!pinned_buffers().empty() && node->evaluated() &&
        pinned_buffers().contains(node->value.buffer.get())) {
      array = Access::make(copied(node));
    }
  }
  return nb::cast(ArrayObject(std::move(array)));
}

}  // namespace heddle::python

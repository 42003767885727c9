#include "frontend/python/evaluation.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "heddle/jit.h"

#include "frontend/array/access.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/record.h"
#include "frontend/python/array_object.h"
#include "frontend/python/device.h"
#include "frontend/python/gil.h"
#include "ir/base/kept_text.h"
#include "runtime/base/log.h"
#include "runtime/base/per_thread.h"
#include "runtime/device/backend.h"
#include "runtime/device/memory.h"
#include "runtime/launch/capture.h"

namespace heddle::python {

using frontend::Access;

namespace {

/// What a thread recorded last.
struct Recorded {
  // Call site.
  const void* code = nullptr;
  std::uint_least32_t line = 0, instruction = 0;
  bool statement_began = false;
  bool pinned_read = false;
};
Recorded& last_recorded() { return runtime::per_thread<Recorded>(); }

/// One entry for each base pinned in the buffer. Guarded by the GIL.
std::unordered_multiset<const runtime::Buffer*>& pinned_buffers() {
  static auto& buffers = *new std::unordered_multiset<const runtime::Buffer*>;
  return buffers;
}

/// Folder of the package's own Python files, with a trailing separator.
std::string& package_folder() {
  static auto& folder = *new std::string;
  return folder;
}

/// The index of the frame's bytecode instruction; -1 where Python does not tell.
int instruction_of(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
  return PyFrame_GetLasti(frame);
#else
  static_cast<void>(frame);
  return -1;
#endif
}

/// Where the instructions of a code object come from.
struct Origins {
  nb::object code;             ///< held, so that its address stays its own
  const char* file = nullptr;  ///< kept; null if its name is not valid
  bool in_package = false;
  std::vector<int> lines;  ///< by instruction, two bytes each; 0 where not known yet

  /// To find a line, Python walks the function's table from its start, so lines are kept.
  int line_of(PyFrameObject* frame, int instruction) {
    if (instruction < 0) return PyFrame_GetLineNumber(frame);
    const auto at = static_cast<std::size_t>(instruction) / 2;
    if (at >= lines.size()) lines.resize(at + 1);
    if (lines[at] == 0) lines[at] = PyFrame_GetLineNumber(frame);
    return lines[at];
  }
};

Origins find_origins(nb::object code) {
  Origins origins;
  origins.code = std::move(code);
  const char* const file =
      PyUnicode_AsUTF8(reinterpret_cast<PyCodeObject*>(origins.code.ptr())->co_filename);
  if (file == nullptr) {
    PyErr_Clear();
    return origins;
  }
  const std::string& own = package_folder();
  origins.in_package = !own.empty() && std::string_view(file).starts_with(own);
  origins.file = ir::interned_file_name(file);
  return origins;
}

/// The origins of code that recorded ops lately. Guarded by the GIL, never destroyed.
class KnownOrigins {
 public:
  static KnownOrigins& instance() {
    static KnownOrigins& known = *new KnownOrigins;
    return known;
  }

  /// Valid until the next call.
  Origins& of(PyFrameObject* frame) {
    nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
    const auto address = reinterpret_cast<std::uintptr_t>(code.ptr());
    Origins& known = known_[(address >> 5U ^ address >> 15U) % known_.size()];
    if (!known.code.is(code)) known = find_origins(std::move(code));
    return known;
  }
  void forget() { known_.fill({}); }

 private:
  std::array<Origins, 1024> known_;
};

}  // namespace

void set_package_folder(std::string folder) {
  package_folder() = std::move(folder);
  KnownOrigins::instance().forget();
}

SourceLocation python_location() {
  Recorded& last = last_recorded();
  last.pinned_read = false;  // clears a read whose op was not recorded
  // The innermost frame that is not in a function of the package.
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  bool through_package = false;
  while (frame.is_valid()) {
    auto* const at = reinterpret_cast<PyFrameObject*>(frame.ptr());
    Origins& origins = KnownOrigins::instance().of(at);
    if (origins.file == nullptr) return {};
    if (!origins.in_package) {
      const int index = instruction_of(at);
      const auto line = static_cast<std::uint_least32_t>(std::max(origins.line_of(at, index), 0));
      const auto instruction = static_cast<std::uint_least32_t>(std::max(index, 0));
      const bool same_line = origins.code.ptr() == last.code && line == last.line;
      // A package function records several ops per call, which belong to one statement.
      last.statement_began = !same_line || instruction < last.instruction ||
                             (instruction == last.instruction && !through_package);
      last.code = origins.code.ptr();
      last.line = line;
      last.instruction = instruction;
      return SourceLocation::at(origins.file, line, instruction + 1);
    }
    through_package = true;
    frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(at)));
  }
  return {};
}

void statement_point() {
  Recorded& last = last_recorded();
  if (!std::exchange(last.statement_began, false)) return;
  const auto function = reinterpret_cast<std::uintptr_t>(last.code);
  if (!frontend::evaluation_due(function + last.line)) return;
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
    // The device has failed; the next user of it gets the error.
    runtime::log().debug("{}", error.what());
  }
}

void evaluate_recorded() {
  std::vector<frontend::NodeRef> recorded;
  {
    const std::lock_guard lock(frontend::graph_mutex());
    recorded = frontend::Recorder::current().unclaimed();
  }
  frontend::evaluate(recorded);
}

void evaluate_for(const frontend::NodeRef& pinned, const frontend::NodeRef& value) {
  {
    const runtime::DeviceScope scope(pinned->value.buffer->device());
    frontend::evaluate(value);
  }
  evaluate_recorded();
}

void copy_into(frontend::NodeRef pinned, frontend::NodeRef value) {
  const ReleaseGil release;
  evaluate_for(pinned, value);
  const runtime::DeviceArray &to = pinned->value, &from = value->value;
  const auto bytes = static_cast<std::size_t>(frontend::bytes_of(*pinned));
  if (bytes == 0) return;
  const runtime::Device device = to.buffer->device();
  const SharedOrder order(device);
  const runtime::Stream stream = runtime::Stream::current(device);
  const runtime::CaptureScope capture(stream);
  if (capture.active()) capture.keep({to.buffer, from.buffer});
  for (const runtime::Buffer* buffer : {to.buffer.get(), from.buffer.get()})
    runtime::start_after(stream, buffer->stream());
  if (!capture.active()) to.buffer->wait_for_users(stream);
  runtime::copy(static_cast<std::byte*>(to.buffer->pointer()) + to.offset, device,
                static_cast<const std::byte*>(from.buffer->pointer()) + from.offset,
                from.buffer->device(), bytes, stream);
}

frontend::NodeRef copied(const frontend::NodeRef& node) {
  const runtime::DeviceArray& from = node->value;
  const runtime::Stream stream = runtime::Stream::current(from.buffer->device());
  const runtime::CaptureScope capture(stream);  // permits the allocation
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
  const auto entry = pinned_buffers().find(node->value.buffer.get());
  if (entry != pinned_buffers().end()) pinned_buffers().erase(entry);
}

void pin(ArrayObject& array) {
  Base& base = array.base();
  if (base.pinned) return;
  // Another thread may write while this one computes.
  while (!Access::raw(base.value)->evaluated()) compute(base.value);
  base.forget_views();
  frontend::NodeRef node = Access::raw(base.value);
  // Other holders of the value, pending ops included, must keep the current contents. One reference
  // is the variable's and one is ours.
  if (node->references() > 2 || !node->value.buffer.unique() || !node->value.buffer->pooled()) {
    node = copied(node);
    Access::assign(base.value, node);
  }
  base.pinned = node;
  register_pinned(node);
}

void note_pinned_read() { last_recorded().pinned_read = true; }
bool take_pinned_read() { return std::exchange(last_recorded().pinned_read, false); }

Array own_value(Array array) {
  if (!array.has_value()) return array;
  const frontend::NodeRef& node = Access::raw(array);
  if (frontend::tracing() || pinned_buffers().empty() || !node->evaluated() ||
      !pinned_buffers().contains(node->value.buffer.get()))
    return array;
  return Access::make(copied(node));
}

nb::object wrap(Array array) {
  if (frontend::tracing()) {
    take_pinned_read();
  } else {
    if (take_pinned_read()) {
      const SharedOrder order(device_of(array));
      compute(array);
    }
  }
  ArrayObject object(std::move(array));
  object.base().is_scalar = Access::raw(object.base().value)->shape.empty();
  return to_object(std::move(object));
}

nb::object to_object(ArrayObject array) {
  static const nb::handle type = nb::type<ArrayObject>();  // else looked up by name each time
  nb::object object = nb::inst_alloc(type);
  new (nb::inst_ptr<ArrayObject>(object)) ArrayObject(std::move(array));
  nb::inst_mark_ready(object);
  return object;
}

}  // namespace heddle::python

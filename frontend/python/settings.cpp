#include "heddle/settings.h"

#include "heddle/io.h"

#include "frontend/graph/precision.h"
#include "frontend/python/bindings.h"
#include "frontend/python/gil.h"
#include "frontend/python/printing.h"
#include "runtime/base/dynamic_library.h"
#include "runtime/device/device.h"

namespace heddle::python {

namespace {

nb::str text_of(Precision precision) {
  const std::string_view name = name_of(precision);
  return nb::str(name.data(), name.size());
}

}  // namespace

void bind_settings(Functions& functions) {
  functions.def("set_device(device: Device, /) -> None",
                "Sets the device on which this thread creates arrays and runs programs: 'cpu' or "
                "'cuda:0'. Raises DeviceError if there is no such device.",
                [](const Arguments& a) {
                  set_device(a.text(0));
                  return nb::none();
                });
  functions.def("set_matmul_precision(precision: str, /) -> str",
                "Sets the precision of matrix products of float32 and complex64 recorded from now "
                "on, on all threads; returns the previous precision. 'ieee' is the default; 'tf32' "
                "and 'bf16' let a GPU round the elements. This applies to matmul, dot, einsum and "
                "functions composed of them. heddle.matmul_precision does the same for a with "
                "statement. Raises ValueError for another name.",
                [](const Arguments& a) {
                  const auto precision = a.precision(0);
                  if (!precision) a.mistyped(0, "a str");
                  return nb::object(text_of(set_matmul_precision(*precision)));
                });
  functions.def("set_autotune(enabled: bool, /) -> bool",
                "Enables or disables autotuning of matrix products; returns the previous setting. "
                "When enabled, a new matrix product times cuBLASLt's algorithms and keeps the "
                "fastest in the cache. Disabled by default, unless HEDDLE_AUTOTUNE is 1.",
                [](const Arguments& a) { return nb::object(nb::bool_(set_autotune(a.flag(0)))); });
  functions.def("_exchange_thread_precision(precision: str | None, /) -> str | None",
                "Sets this thread's precision of matrix products, None for no own precision; "
                "returns the previous one.",
                [](const Arguments& a) {
                  const auto before = frontend::exchange_thread_precision(a.precision(0));
                  return before ? nb::object(text_of(*before)) : nb::none();
                });
  functions.def("devices() -> list[Device]", "A list of all devices of this machine.",
                [](const Arguments&) {
                  nb::list result;
                  for (const runtime::Device each : runtime::all_devices())
                    result.append(nb::str(to_string(each).c_str()));
                  return nb::object(result);
                });
  functions.def("device() -> Device", "The device of this thread: 'cpu' or 'cuda:0'.",
                [](const Arguments&) { return nb::object(nb::str(device().c_str())); });
  functions.def("synchronize() -> None",
                "Waits until all work that this thread launched has finished.",
                [](const Arguments&) {
                  {
                    const ReleaseGil release;
                    synchronize();
                  }
                  if (PyErr_CheckSignals() != 0) throw nb::python_error();
                  return nb::none();
                });
  functions.def("eval(*arrays: Array) -> None",
                "Computes several arrays in one program, without waiting for the device.",
                [](const Arguments& a) {
                  const std::vector<Array> arrays = a.arrays(0);
                  {
                    const ReleaseGil release;
                    heddle::eval(arrays);
                  }
                  if (PyErr_CheckSignals() != 0) throw nb::python_error();
                  return nb::none();
                });
  functions.def("auto_eval(enabled: bool, /) -> bool",
                "Enables or disables automatic evaluation; returns the previous setting. When "
                "enabled, the default, recorded work is evaluated after 64 pending ops; when "
                "disabled, only when a value is read.",
                [](const Arguments& a) { return auto_eval(a.flag(0)); });
  functions.def("load_bundle(path: str, /, *, trust: bool = False) -> None",
                "Adds a file written by `heddle cache export`, which is searched for programs "
                "after the cache's directories.\n\n"
                "The file contains native code, which runs with this process's rights: load only "
                "files whose code you would run. If HEDDLE_CACHE_KEY is set, the file must be "
                "signed with that key; a file that is not raises TrustError. Otherwise TrustError, "
                "which names owner and mode, is raised if users other than this one and root may "
                "have written the file, or may write to its folder, unless trust is True. Raises "
                "OSError if the file cannot be read or is not such a file.",
                [](const Arguments& a) {
                  load_bundle(a.text(0), a.flag(1) ? Trust::anyone : Trust::own);
                  return nb::none();
                });
  functions.def(
      "record(path: str, /) -> None",
      "Starts recording: each new program of the process is appended once to the file, as text. "
      "`heddle warm FILE` compiles such a file ahead. '' stops recording. HEDDLE_RECORD starts it "
      "with the process. Raises OSError if the file cannot be written or contains something else.",
      [](const Arguments& a) {
        record(a.text(0));
        return nb::none();
      });
  functions.def("statistics() -> dict[str, int | float]",
                "Counters of the process: traces, programs, compiled, evaluations, "
                "auto_evaluations, kernels_launched, pending_ops, pinned_bytes; for the disk cache "
                "cache_hits, cache_misses, cache_ignored, cache_damaged, cache_evicted, "
                "cache_bytes_read, cache_bytes_written; compiler_runs, modules_loaded, "
                "compile_milliseconds, load_milliseconds. HEDDLE_STATISTICS=1 prints them at exit.",
                [](const Arguments&) {
                  const Statistics s = statistics();
                  nb::dict result;
                  result["traces"] = s.traces;
                  result["programs"] = s.programs;
                  result["compiled"] = s.compiled;
                  result["evaluations"] = s.evaluations;
                  result["auto_evaluations"] = s.auto_evaluations;
                  result["kernels_launched"] = s.kernels_launched;
                  result["pending_ops"] = s.pending_ops;
                  result["pinned_bytes"] = s.pinned_bytes;
                  result["cache_hits"] = s.cache_hits;
                  result["cache_misses"] = s.cache_misses;
                  result["cache_ignored"] = s.cache_ignored;
                  result["cache_damaged"] = s.cache_damaged;
                  result["cache_evicted"] = s.cache_evicted;
                  result["cache_bytes_read"] = s.cache_bytes_read;
                  result["cache_bytes_written"] = s.cache_bytes_written;
                  result["compiler_runs"] = s.compiler_runs;
                  result["modules_loaded"] = s.modules_loaded;
                  result["compile_milliseconds"] = s.compile_milliseconds;
                  result["load_milliseconds"] = s.load_milliseconds;
                  return nb::object(result);
                });
  functions.def(
      "_set_printoptions(precision: int | None = None, threshold: int | None = None, edgeitems: "
      "int | None = None, linewidth: int | None = None, suppress: bool | None = None) -> None",
      "The options of set_printoptions that C++ knows; None leaves an option unchanged.",
      [](const Arguments& a) {
        PrintOptions options = print_options();
        options.precision = static_cast<int>(a.optional_integer(0).value_or(options.precision));
        options.threshold = a.optional_integer(1).value_or(options.threshold);
        options.edgeitems = static_cast<int>(a.optional_integer(2).value_or(options.edgeitems));
        options.linewidth = static_cast<int>(a.optional_integer(3).value_or(options.linewidth));
        if (!a.is_none(4)) options.suppress = a.flag(4);
        set_print_options(options);
        return nb::none();
      });
  functions.def("_get_printoptions() -> dict", "A dict of the options of printing that C++ knows.",
                [](const Arguments& /*none*/) {
                  const PrintOptions options = print_options();
                  nb::dict result;
                  result["precision"] = options.precision;
                  result["threshold"] = options.threshold;
                  result["edgeitems"] = options.edgeitems;
                  result["linewidth"] = options.linewidth;
                  result["suppress"] = options.suppress;
                  return nb::object(result);
                });
  functions.def("_set_text_function(function: Callable | None, /) -> None",
                "Sets what str and repr of an Array call, with the Array and True for repr; None "
                "for C++'s own formatting.",
                [](const Arguments& a) {
                  text_function() = nb::borrow(a[0]);
                  return nb::none();
                });
  functions.def("_add_library_folder(folder: str, /) -> None",
                "Adds a folder, such as site-packages, to those searched for CUDA's libraries.",
                [](const Arguments& a) {
                  runtime::add_library_folder(a.text(0));
                  return nb::none();
                });
  functions.def("_set_package_folder(folder: str, /) -> None",
                "Sets the folder of the package's own Python files, which user locations skip.",
                [](const Arguments& a) {
                  set_package_folder(a.text(0));
                  return nb::none();
                });
}

}  // namespace heddle::python

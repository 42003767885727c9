#include "heddle/settings.h"

#include "heddle/io.h"

#include "frontend/graph/precision.h"
#include "frontend/python/bindings.h"
#include "frontend/python/gil.h"
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
                "Where this thread's arrays are made and programs run: 'cpu' or 'cuda:0'. Raises "
                "DeviceError when there is no such device.",
                [](const Arguments& a) {
                  set_device(a.text(0));
                  return nb::none();
                });
  functions.def(
      "set_matmul_precision(precision: str, /) -> str",
      "How exactly the matrix products of float32 and complex64 are multiplied that are recorded "
      "from here on, of matmul, dot, einsum and what is composed of them: 'ieee' (default), or "
      "'tf32' or 'bf16', which let a GPU round the elements. For all threads; heddle."
      "matmul_precision is the same for a with statement. Returns what was set before. Raises "
      "ValueError for another name.",
      [](const Arguments& a) {
        const auto precision = a.precision(0);
        if (!precision) a.mistyped(0, "a str");
        return nb::object(text_of(set_matmul_precision(*precision)));
      });
  functions.def("set_autotune(enabled: bool, /) -> bool",
                "Whether the algorithms that cuBLASLt has for a matrix product are timed where the "
                "product first comes up, and the fastest is kept in the cache. Off unless "
                "HEDDLE_AUTOTUNE is 1. Returns what was set before.",
                [](const Arguments& a) { return nb::object(nb::bool_(set_autotune(a.flag(0)))); });
  functions.def("_exchange_thread_precision(precision: str | None, /) -> str | None",
                "This thread's own precision of matrix products, None for none; returns the last.",
                [](const Arguments& a) {
                  const auto before = frontend::exchange_thread_precision(a.precision(0));
                  return before ? nb::object(text_of(*before)) : nb::none();
                });
  functions.def("devices() -> list[Device]", "All devices of this machine.", [](const Arguments&) {
    nb::list result;
    for (const runtime::Device each : runtime::all_devices())
      result.append(nb::str(to_string(each).c_str()));
    return nb::object(result);
  });
  functions.def("device() -> Device", "The device of this thread: 'cpu' or 'cuda:0'.",
                [](const Arguments&) { return nb::object(nb::str(device().c_str())); });
  functions.def("synchronize() -> None", "Waits for everything that this thread has launched.",
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
                "Whether recorded work is evaluated on its own after 64 pending ops (default) or "
                "only when a value is asked for. Returns what was set before.",
                [](const Arguments& a) { return auto_eval(a.flag(0)); });
  functions.def(
      "load_bundle(path: str, /, *, trust: bool = False) -> None",
      "From now on programs are also looked for in a file that `heddle cache export` "
      "wrote, after the cache's directories.\n\nThe file holds native code, which runs with this "
      "process's rights: load what you would run. Raises TrustError, which names owner and mode, "
      "where users besides this one and root may have written it or may write to its folder, "
      "unless trust is True; where HEDDLE_CACHE_KEY is set, and then only, where that key has not "
      "signed it. Raises OSError where it cannot be read or is no such file.",
      [](const Arguments& a) {
        load_bundle(a.text(0), a.flag(1) ? Trust::anyone : Trust::own);
        return nb::none();
      });
  functions.def(
      "record(path: str, /) -> None",
      "From now on every program that the process makes is appended to the file, as text, "
      "once: what `heddle warm FILE` compiles ahead. '' ends it. HEDDLE_RECORD does the "
      "same from the start. Raises OSError where the file cannot be written or holds "
      "something else.",
      [](const Arguments& a) {
        record(a.text(0));
        return nb::none();
      });
  functions.def("statistics() -> dict[str, int | float]",
                "What the process has done so far: traces, programs, compiled, evaluations, "
                "auto_evaluations, kernels_launched, pending_ops, pinned_bytes; of the cache on "
                "disk cache_hits, cache_misses, cache_ignored, cache_damaged, cache_evicted, "
                "cache_bytes_read, cache_bytes_written; compiler_runs, modules_loaded, "
                "compile_milliseconds, load_milliseconds. HEDDLE_STATISTICS=1 tells at exit.",
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
      "set_printoptions(precision: int | None = None, threshold: int | None = None, edgeitems: "
      "int | None = None, linewidth: int | None = None, suppress: bool | None = None) -> None",
      "How arrays print; what is None stays: numpy.set_printoptions.", [](const Arguments& a) {
        PrintOptions options = print_options();
        options.precision = static_cast<int>(a.optional_integer(0).value_or(options.precision));
        options.threshold = a.optional_integer(1).value_or(options.threshold);
        options.edgeitems = static_cast<int>(a.optional_integer(2).value_or(options.edgeitems));
        options.linewidth = static_cast<int>(a.optional_integer(3).value_or(options.linewidth));
        if (!a.is_none(4)) options.suppress = a.flag(4);
        set_print_options(options);
        return nb::none();
      });
  functions.def("get_printoptions() -> dict", "How arrays print: numpy.get_printoptions.",
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
  functions.def("_set_package_folder(folder: str, /) -> None",
                "Says where the package's own Python files are, which are no user's line.",
                [](const Arguments& a) {
                  set_package_folder(a.text(0));
                  return nb::none();
                });
}

}  // namespace heddle::python

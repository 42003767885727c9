#include "heddle/memory.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/gil.h"

namespace heddle::python {

namespace {

std::string device_at(const Arguments& a, std::size_t i) {
  return a.is_none(i) ? device() : a.text(i);
}

std::size_t count_at(const Arguments& a, std::size_t i, const char* negative) {
  const std::int64_t count = a.integer(i);
  if (count < 0) raise(PyExc_ValueError, negative);
  return static_cast<std::size_t>(count);
}

}  // namespace

void bind_memory(Functions& functions) {
  functions.def("memory_statistics(device: Device | None = None) -> dict[str, int]",
                "Facts about a device's memory pool, of this thread's device by default; like "
                "CuPy's MemoryPool. In bytes: in_use, reserved, peak_in_use, peak_reserved, "
                "largest_free and limit (0: none). Also the numbers of blocks in use, of "
                "free blocks, of allocations, and of reservations from the device.",
                [](const Arguments& a) {
                  const MemoryStatistics s = memory_statistics(device_at(a, 0));
                  nb::dict result;
                  result["in_use"] = s.in_use;
                  result["reserved"] = s.reserved;
                  result["peak_in_use"] = s.peak_in_use;
                  result["peak_reserved"] = s.peak_reserved;
                  result["largest_free"] = s.largest_free;
                  result["limit"] = s.limit;
                  result["blocks"] = s.blocks;
                  result["free_blocks"] = s.free_blocks;
                  result["allocations"] = s.allocations;
                  result["reservations"] = s.reservations;
                  return nb::object(result);
                });
  functions.def("reset_memory_peak(device: Device | None = None) -> None",
                "Resets peak_in_use and peak_reserved of memory_statistics to the current values.",
                [](const Arguments& a) {
                  reset_memory_peak(device_at(a, 0));
                  return nb::none();
                });
  functions.def("describe_memory(most_blocks: int = 10, device: Device | None = None) -> str",
                "A text with the largest blocks in use, one line each: bytes, dtype, shape, the op "
                "that computed it, and your source line if known. '' if no block is in use.",
                [](const Arguments& a) {
                  const std::size_t count =
                      count_at(a, 0, "the number of blocks must not be negative");
                  return nb::object(nb::str(describe_memory(count, device_at(a, 1)).c_str()));
                });
  functions.def("set_memory_limit(limit: int, /, device: Device | None = None) -> int",
                "Sets the most bytes that the pool may reserve, for all threads; 0 means no limit. "
                "Memory already reserved stays. Returns the previous limit. HEDDLE_MEMORY_LIMIT "
                "sets the initial limit. Raises ValueError for a negative limit.",
                [](const Arguments& a) {
                  const std::size_t limit =
                      count_at(a, 0, "the memory limit must not be negative; 0 means no limit");
                  return nb::object(nb::int_(set_memory_limit(limit, device_at(a, 1))));
                });
  functions.def(
      "trim_memory(device: Device | None = None) -> int",
      "Returns the pool's free whole segments to the device, and the number of their bytes; like "
      "CuPy's free_all_blocks. Waits for work of other streams that still uses freed blocks.",
      [](const Arguments& a) {
        const std::string of = device_at(a, 0);
        std::size_t bytes = 0;
        {
          const ReleaseGil release;
          bytes = trim_memory(of);
        }
        return nb::object(nb::int_(bytes));
      });
}

}  // namespace heddle::python

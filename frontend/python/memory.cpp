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
  functions.def(
      "memory_statistics(device: Device | None = None) -> dict[str, int]",
      "What a device's memory pool holds, this thread's by default, in bytes: in_use, reserved, "
      "peak_in_use, peak_reserved, largest_free and limit (0: none); and how many blocks are held, "
      "allocations were made and reservations asked of the device. CuPy's MemoryPool.",
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
        result["allocations"] = s.allocations;
        result["reservations"] = s.reservations;
        return nb::object(result);
      });
  functions.def("reset_memory_peak(device: Device | None = None) -> None",
                "From now on the peaks are of what is held from here on.", [](const Arguments& a) {
                  reset_memory_peak(device_at(a, 0));
                  return nb::none();
                });
  functions.def(
      "describe_memory(most_blocks: int = 10, device: Device | None = None) -> str",
      "The largest blocks that are held, a line each: bytes, dtype, shape, what computed them, and "
      "the line of yours where it is known. '' where nothing is held.",
      [](const Arguments& a) {
        const std::size_t count = count_at(a, 0, "there is no negative number of blocks");
        return nb::object(nb::str(describe_memory(count, device_at(a, 1)).c_str()));
      });
  functions.def(
      "set_memory_limit(limit: int, /, device: Device | None = None) -> int",
      "Most bytes that the pool may reserve from now on, for all threads; 0 for as much as there "
      "is. What is held already stays. HEDDLE_MEMORY_LIMIT sets it from the start. Returns what "
      "was set before.",
      [](const Arguments& a) {
        const std::size_t limit = count_at(a, 0, "a limit of memory is not negative; 0 is none");
        return nb::object(nb::int_(set_memory_limit(limit, device_at(a, 1))));
      });
  functions.def("trim_memory(device: Device | None = None) -> int",
                "Gives the device back what its pool has free in whole segments; waits for work of "
                "other streams that still uses freed blocks. Returns how many bytes. CuPy's "
                "free_all_blocks.",
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

#include "heddle/profile.h"

#include <optional>

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/gil.h"

namespace heddle::python {

namespace {

/// A profile that starts at the beginning of its with statement.
struct ProfileScope {
  std::optional<Profile> profile;
};

nb::str text(const std::string& value) { return nb::str(value.data(), value.size()); }

nb::dict dict_of(const KernelLaunch& launch) {
  nb::list lines;
  for (const std::string& line : launch.lines) lines.append(text(line));
  nb::dict result;
  result["kernel"] = text(launch.kernel);
  result["program"] = text(launch.program);
  result["step"] = launch.step;
  result["operands"] = text(launch.operands);
  result["lines"] = lines;
  result["device"] = text(launch.device);
  result["stream"] = launch.stream;
  result["blocks"] = launch.blocks;
  result["threads"] = nb::make_tuple(launch.threads[0], launch.threads[1]);
  result["cluster"] = launch.cluster;
  result["shared_bytes"] = launch.shared_bytes;
  result["bytes"] = launch.bytes ? nb::object(nb::int_(*launch.bytes)) : nb::none();
  result["captured"] = launch.captured;
  result["start"] = launch.start;
  result["microseconds"] =
      launch.microseconds ? nb::object(nb::float_(*launch.microseconds)) : nb::none();
  return result;
}

nb::dict dict_of(const ProfileEvent& event) {
  nb::dict result;
  result["phase"] = text(event.phase);
  result["name"] = text(event.name);
  result["source"] = text(event.source);
  result["bytes"] = event.bytes;
  result["start"] = event.start;
  result["microseconds"] = event.microseconds;
  result["own_microseconds"] = event.own_microseconds;
  result["thread"] = event.thread;
  result["launch"] = event.launch ? nb::object(dict_of(*event.launch)) : nb::none();
  return result;
}

nb::dict dict_of(const ProfileRow& row) {
  nb::dict result;
  result["phase"] = text(row.phase);
  result["name"] = text(row.name);
  result["count"] = row.count;
  result["total"] = row.total;
  result["mean"] = row.mean;
  result["least"] = row.least;
  result["most"] = row.most;
  result["share"] = row.share;
  result["bytes"] = row.bytes;
  result["gigabytes_per_second"] = row.gigabytes_per_second;
  return result;
}

template <class Item>
nb::object list_of(const std::vector<Item>& items) {
  nb::list list;
  for (const Item& item : items) list.append(dict_of(item));
  return list;
}

/// Reading a profile waits for devices, so it runs without the GIL.
template <class Ask>
auto ask(const Arguments& a, const Ask& what) {
  ProfileScope& scope = nb::cast<ProfileScope&>(a[0]);
  if (!scope.profile)
    raise(PyExc_ValueError, "a profile has no data before its with statement starts");
  const ReleaseGil release;
  return what(*scope.profile);
}

}  // namespace

void bind_profile(Functions& functions) {
  nb::class_<ProfileScope> owner(
      functions.module(), "profile",
      "A profile of the work inside a with statement, on all threads: tracing, passes, compiling, "
      "loading, allocating, launching, and the time of each kernel on its device. Inside, kernels "
      "are launched one by one, not as CUDA graphs; results are bitwise the same. Launches that "
      "you capture into your own CUDA graph have no times.\n\n"
      ">>> with hd.profile() as p:\n...     hd.eval(f(x))\n>>> print(p.table())");
  owner.def(nb::init<>());
  functions.def_in(owner, "__enter__(self) -> Any", "Begins.", [](const Arguments& a) {
    nb::cast<ProfileScope&>(a[0]).profile.emplace();
    return nb::borrow(a[0]);
  });
  functions.def_in(owner, "__exit__(self, *exception: Any) -> None",
                   "Ends the profile; its data stays available.", [](const Arguments& a) {
                     nb::cast<ProfileScope&>(a[0]).profile->stop();
                     return nb::none();
                   });
  functions.def_in(
      owner, "rows(self, phase: str | None = None) -> list[dict[str, Any]]",
      "A list with a row for each phase, or for each name in one phase (trace, pass, codegen, "
      "compile, load, allocate, launch, kernel): count; total, mean, least and most in "
      "microseconds; share, bytes, gigabytes_per_second. Raises ValueError for an unknown phase.",
      [](const Arguments& a) {
        std::optional<std::string> phase;
        if (!a[1].is_none()) phase = a.text(1);
        return list_of(ask(a, [&](const Profile& profile) {
          return phase ? profile.rows(*phase) : profile.rows();
        }));
      });
  functions.def_in(owner, "events(self) -> list[dict[str, Any]]",
                   "A list of all events, ordered by start.", [](const Arguments& a) {
                     return list_of(ask(a, [](const Profile& p) { return p.events(); }));
                   });
  functions.def_in(owner, "table(self) -> str", "The rows of rows() as a text table.",
                   [](const Arguments& a) {
                     return nb::object(text(ask(a, [](const Profile& p) { return p.table(); })));
                   });
  functions.def_in(owner, "trace(self) -> str",
                   "The events as JSON for chrome://tracing and ui.perfetto.dev.",
                   [](const Arguments& a) {
                     return nb::object(text(ask(a, [](const Profile& p) { return p.trace(); })));
                   });
  functions.def_in(owner, "save_trace(self, path: str, /) -> None",
                   "Writes the JSON of trace() to a file. Raises OSError.", [](const Arguments& a) {
                     const std::string path = a.text(1);
                     ask(a, [&](const Profile& p) { return p.save_trace(path); });
                     return nb::none();
                   });
  functions.def("set_kernel_history(count: int, /) -> None",
                "Sets how many of the last launches of this process are kept for kernel_history(), "
                "and discards those before; 0, the default, keeps none. While launches are kept, "
                "kernels are launched one by one. HEDDLE_KERNEL_HISTORY sets the initial count. "
                "Raises ValueError for a negative count.",
                [](const Arguments& a) {
                  const std::int64_t count = a.integer(0);
                  if (count < 0)
                    raise(PyExc_ValueError, "the length of the history must not be negative");
                  set_kernel_history(static_cast<std::size_t>(count));
                  return nb::none();
                });
  functions.def("kernel_history() -> list[dict[str, Any]]",
                "A list of the kept launches, oldest first; see set_kernel_history. Each has the "
                "kernel, program, operands, lines, device, stream, blocks, threads, bytes, and "
                "start and duration on the device in microseconds, among others.",
                [](const Arguments&) {
                  std::vector<KernelLaunch> launches;
                  {
                    const ReleaseGil release;
                    launches = kernel_history();
                  }
                  return list_of(launches);
                });
}

}  // namespace heddle::python

#include "frontend/python/distributed.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "heddle/distributed.h"
#include "heddle/stream.h"

#include "frontend/distributed/access.h"
#include "frontend/python/arguments.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/gil.h"
#include "frontend/python/held.h"
#include "frontend/streams/access.h"
#include "ir/calls/collective.h"

// The functions under the package heddle.distributed and under heddle.cuda.nccl:
// heddle._heddle._distributed.

namespace heddle::python {
namespace {

using distributed::Reduction;

Reduction reduction(const Arguments& a, std::size_t i) {
  const std::string name = a.text(i);
  if (name == "sum") return Reduction::sum;
  if (name == "prod") return Reduction::prod;
  if (name == "min") return Reduction::min;
  if (name == "max") return Reduction::max;
  raise(PyExc_ValueError,
        a.name() + ": op must be 'sum', 'prod', 'min' or 'max', not '" + name + "'");
}

const Communicator& communicator(const Arguments& a, std::size_t i) {
  if (!nb::isinstance<Communicator>(a[i])) a.mistyped(i, "a process group of heddle.distributed");
  return nb::cast<const Communicator&>(a[i]);
}

int rank(const Arguments& a, std::size_t i) { return static_cast<int>(a.integer(i)); }

/// Calls a function of the library, which may wait for other processes, without the GIL.
template <class Call>
auto without_gil(const Call& call) {
  const ReleaseGil release;
  return call();
}

CommunicatorId to_id(const nb::bytes& bytes) {
  CommunicatorId id;
  if (bytes.size() != id.size())
    raise(PyExc_ValueError, "the number of a group has 128 bytes, as get_unique_id() returns them");
  std::memcpy(id.data(), bytes.c_str(), id.size());
  return id;
}

/// NCCL's numbers of element types, from 0.
constexpr std::array nccl_types = {DType::i8,  DType::u8,  DType::i32, DType::u32, DType::i64,
                                   DType::u64, DType::f16, DType::f32, DType::f64, DType::bf16};

/// An exchange of memory that the caller has, on a stream that it has.
void exchange(const Communicator& of, const std::string& kind, std::uintptr_t from,
              std::uintptr_t to, std::size_t count, int type, int operation, int root, int send_to,
              int receive_from, std::uintptr_t stream) {
  if (type < 0 || static_cast<std::size_t>(type) >= nccl_types.size())
    raise(PyExc_ValueError, "there is no NCCL type " + std::to_string(type));
  if (operation < 0 || operation > 3)
    raise(PyExc_ValueError, "there is no NCCL reduction " + std::to_string(operation));
  for (const int each : {root, send_to, receive_from}) {
    if (each >= of.size())
      raise(PyExc_ValueError, "the communicator has no rank " + std::to_string(each));
  }
  without_gil([&] {
    const Stream on = Stream::external(reinterpret_cast<void*>(stream), of.device());
    distributed::Access::of(of)->enqueue(
        {.kind = ir::collective_kind(kind),
         .from = reinterpret_cast<const void*>(from),
         .to = reinterpret_cast<void*>(to),
         .count = count,
         .dtype = nccl_types[static_cast<std::size_t>(type)],
         .operation = static_cast<runtime::ReduceOperation>(operation),
         .root = root,
         .send_to = send_to,
         .receive_from = receive_from},
        frontend::StreamAccess::of(on));
  });
}

/// A communicator of the CPU. `function` makes an exchange, given its kind, two addresses, a count,
/// the name of the dtype, the number of the reduction, the root, and the ranks of an exchange.
Communicator host(int size, int rank, const std::string& name, nb::object function) {
  const Held held = hold(std::move(function));
  return distributed::Access::make(
      runtime::host_communicator(name, size, rank, [held](const runtime::Exchange& wanted) {
        const AcquireGil acquire;
        try {
          const std::string_view kind = ir::name_of(wanted.kind);
          const std::string dtype(numpy_name_of(wanted.dtype));
          (*held)(nb::str(kind.data(), kind.size()), reinterpret_cast<std::uintptr_t>(wanted.from),
                  reinterpret_cast<std::uintptr_t>(wanted.to), wanted.count, dtype,
                  static_cast<int>(wanted.operation), wanted.root, wanted.send_to,
                  wanted.receive_from);
        } catch (nb::python_error& error) {
          throw CommunicationError(error.what());
        }
      }));
}

void bind_communicators(nb::module_& module) {
  nb::class_<Communicator>(module, "Communicator")
      .def_prop_ro("size", &Communicator::size)
      .def_prop_ro("rank", &Communicator::rank)
      .def_prop_ro("name", &Communicator::name)
      .def_prop_ro("device", &Communicator::device)
      .def("check", [](const Communicator& of) { without_gil([&] { of.check(); }); })
      .def("settle",
           [](const Communicator& of) {
             without_gil([&] { distributed::Access::of(of)->settle(); });
           })
      .def("abort", [](const Communicator& of) { without_gil([&] { of.abort(); }); })
      .def("exchange", exchange);
  module.def("nccl_version", [] { return without_gil(Communicator::nccl_version); });
  module.def("new_id", [] {
    const CommunicatorId id = without_gil(Communicator::new_id);
    return nb::bytes(id.data(), id.size());
  });
  module.def("join", [](int size, const nb::bytes& bytes, int rank, const std::string& name,
                        double timeout) {
    const CommunicatorId id = to_id(bytes);
    return without_gil([&] { return Communicator(size, id, rank, {name, timeout}); });
  });
  module.def("of_devices", [](const std::vector<std::string>& devices, const std::string& name,
                              double timeout) {
    return without_gil([&] { return Communicator::of_devices(devices, {name, timeout}); });
  });
  module.def("begin_group", [] { without_gil(distributed::Group::begin); });
  module.def("end_group", [] { without_gil(distributed::Group::finish); });
  module.def("host", host);
}

/// The result of call(x, members) for the first two arguments, an array and a group. It waits for
/// other processes without the GIL.
template <class Call>
Array exchanged(const Arguments& a, const Call& call) {
  const Operand x = a.operand(0);
  const Communicator& members = communicator(a, 1);
  return without_gil([&] { return call(x, members); });
}

void bind_reductions_of_members(Functions& functions, nb::module_& module) {
  functions.def_in(module, "all_reduce(x: Operand, group: object, op: str = 'sum') -> Array",
                   "heddle::distributed::all_reduce.", [](const Arguments& a) {
                     return exchanged(a, [op = reduction(a, 2)](auto& x, auto& members) {
                       return distributed::all_reduce(x, members, op);
                     });
                   });
  functions.def_in(
      module, "reduce(x: Operand, group: object, root: int = 0, op: str = 'sum') -> Array",
      "heddle::distributed::reduce.", [](const Arguments& a) {
        return exchanged(a, [root = rank(a, 2), op = reduction(a, 3)](auto& x, auto& members) {
          return distributed::reduce(x, members, root, op);
        });
      });
  functions.def_in(module, "reduce_scatter(x: Operand, group: object, op: str = 'sum') -> Array",
                   "heddle::distributed::reduce_scatter.", [](const Arguments& a) {
                     return exchanged(a, [op = reduction(a, 2)](auto& x, auto& members) {
                       return distributed::reduce_scatter(x, members, op);
                     });
                   });
}

using WithRoot = Array (*)(const Operand&, const Communicator&, int);
template <WithRoot function>
struct FromRoot {
  Array operator()(const Arguments& a) const {
    return exchanged(
        a, [root = rank(a, 2)](auto& x, auto& members) { return function(x, members, root); });
  }
};
using WithoutRoot = Array (*)(const Operand&, const Communicator&);
template <WithoutRoot function>
struct FromAll {
  Array operator()(const Arguments& a) const { return exchanged(a, function); }
};

void bind_movements(Functions& functions, nb::module_& module) {
  functions.def_in(module, "broadcast(x: Operand, group: object, root: int = 0) -> Array",
                   "heddle::distributed::broadcast.", FromRoot<distributed::broadcast>());
  functions.def_in(module, "gather(x: Operand, group: object, root: int = 0) -> Array",
                   "heddle::distributed::gather.", FromRoot<distributed::gather>());
  functions.def_in(module, "scatter(x: Operand, group: object, root: int = 0) -> Array",
                   "heddle::distributed::scatter.", FromRoot<distributed::scatter>());
  functions.def_in(module, "all_gather(x: Operand, group: object) -> Array",
                   "heddle::distributed::all_gather.", FromAll<distributed::all_gather>());
  functions.def_in(module, "all_to_all(x: Operand, group: object) -> Array",
                   "heddle::distributed::all_to_all.", FromAll<distributed::all_to_all>());
  functions.def_in(
      module, "send_recv(x: Operand, group: object, to: int | None, source: int | None) -> Array",
      "heddle::distributed::send_receive.", [](const Arguments& a) {
        const auto number = [&](std::size_t i) -> std::optional<int> {
          if (a.is_none(i)) return std::nullopt;
          return rank(a, i);
        };
        return exchanged(a, [to = number(2), from = number(3)](auto& x, auto& members) {
          return distributed::send_receive(x, members, to, from);
        });
      });
}

}  // namespace

void bind_distributed(Functions& functions) {
  nb::module_ module = functions.module().def_submodule(
      "_distributed", "What heddle.distributed and heddle.cuda.nccl are made of.");
  bind_communicators(module);
  bind_reductions_of_members(functions, module);
  bind_movements(functions, module);
  module.def("barrier",
             [](const Communicator& of) { without_gil([&] { distributed::barrier(of); }); });
}

}  // namespace heddle::python

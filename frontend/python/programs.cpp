#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/program.h"

#include "frontend/python/bindings.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"
#include "frontend/python/gil.h"
#include "frontend/python/lowered.h"

// Lowered programs, which are traced but not run, and saved programs.

namespace heddle::python {
namespace {

ExplainForm explain_form(std::string_view name) {
  constexpr std::pair<std::string_view, ExplainForm> forms[] = {{"text", ExplainForm::text},
                                                                {"json", ExplainForm::json},
                                                                {"html", ExplainForm::html},
                                                                {"dot", ExplainForm::dot}};
  for (const auto& [known, form] : forms) {
    if (known == name) return form;
  }
  throw ValueError(
      fmt::format("explain: form must be 'text', 'json', 'html' or 'dot', not '{}'", name));
}

void bind_lowered(nb::module_& module) {
  const auto target = nb::arg("target") = "";
  nb::class_<LoweredObject>(module, "Lowered",
                            "A program lowered from a traced function, with its texts and facts. "
                            "Nothing needs to be compiled or run.")
      .def(
          "ir", [](const LoweredObject& l) { return nb::str(l.lowered.ir().c_str()); },
          "The traced graph as text.")
      .def(
          "cuda",
          [](const LoweredObject& l, const char* target) {
            return nb::str(l.lowered.cuda(target).c_str());
          },
          target,
          "The generated CUDA C++ for a target such as 'sm_90', by default for the GPU of this "
          "machine.")
      .def(
          "host", [](const LoweredObject& l) { return nb::str(l.lowered.host().c_str()); },
          "The generated host C++.")
      .def(
          "explain",
          [](const LoweredObject& l, const char* target, const char* form) {
            std::string text;
            {
              const ExplainForm wanted = explain_form(form);
              const ReleaseGil release;
              text = l.lowered.explain(target, wanted);
            }
            return nb::str(text.c_str(), text.size());
          },
          target, nb::arg("form") = "text",
          "Describes the program: passes, groups and families, fusion barriers with reasons, "
          "memory, and bytes moved. form: 'text'; 'json', one object; 'html', one page; 'dot', the "
          "graph for Graphviz. 'json' and 'html' also have facts from the compiler about the "
          "kernels. Raises ValueError for another form.")
      .def(
          "kernel_count",
          [](const LoweredObject& l) {
            const ReleaseGil release;
            return l.lowered.kernel_count();
          },
          "Number of kernels of the program on the current device; compiles the program.")
      .def(
          "warm",
          [](const LoweredObject& l, const char* target) {
            const ReleaseGil release;
            return l.lowered.warm(target);
          },
          nb::arg("target"),
          "Compiles for a target, which this machine need not have, into the disk cache. Returns "
          "the number of compiled kernels.")
      .def(
          "save",
          [](const LoweredObject& l, const char* path, const nb::object& targets, unsigned mode) {
            std::vector<std::string> names;
            for (nb::handle name : targets) names.emplace_back(nb::str(name).c_str());
            const ReleaseGil release;
            l.lowered.save(path, names, mode);
          },
          nb::arg("path"), nb::arg("targets") = nb::tuple(), nb::arg("mode") = 0644,
          "Writes the program to a file for heddle.load_program, compiled for the targets, by "
          "default for the current device. The file gets the permission bits `mode`, by default "
          "readable by everybody, regardless of the umask. HEDDLE_CACHE_KEY signs the file if it "
          "is set. Raises ValueError for a function that depends on more than its arguments, such "
          "as arrays from outside or random numbers.");
}

/// The results as a flat tuple; a single result is returned directly.
nb::object run_program(const Program& program, const nb::args& args) {
  const SourceLocation where = python_location();
  statement_point();
  // Copies, since other threads may write to the arguments while the GIL is released.
  std::vector<Array> arrays(args.size());
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const nb::handle arg = args[i];
    if (const ArrayObject* array = as_array(arg)) {
      arrays[i] = array->read(where);
      operands.emplace_back(arrays[i], where);
    } else if (const auto foreign = numpy_operand(arg, where)) {
      arrays[i] = *foreign;
      operands.emplace_back(arrays[i], where);
    } else if (const auto scalar = as_scalar(arg)) {
      operands.emplace_back(*scalar, where);
    } else {
      raise(PyExc_TypeError,
            "a saved program accepts only Arrays and numbers, not " + describe_foreign(arg));
    }
  }
  std::vector<Array> results;
  {
    const ReleaseGil release;
    results = program(operands);
  }
  if (results.size() == 1) return wrap(results[0]);
  nb::list list;
  for (const Array& result : results) list.append(wrap(result));
  return nb::tuple(list);
}

/// "x: float32[n, 64]", or "s: float64" of a number.
std::string describe_input(const ProgramInput& input, std::size_t position) {
  const std::string name = input.name.empty() ? std::to_string(position) : input.name;
  const std::string dtype(numpy_name_of(input.dtype));
  if (input.is_number) return fmt::format("{}: {}", name, dtype);
  return fmt::format("{}: {}[{}]", name, dtype, fmt::join(input.shape, ", "));
}

/// Extents as numbers, symbols as text.
nb::object extents_of(const ProgramInput& input) {
  nb::list extents;
  for (const std::string& extent : input.shape) {
    const nb::str text(extent.c_str());
    const bool is_number = nb::cast<bool>(text.attr("isdigit")());
    extents.append(is_number ? nb::object(nb::int_(text)) : nb::object(text));
  }
  return nb::tuple(extents);
}

nb::object tuple_of(const std::vector<ProgramInput>& inputs) {
  nb::list list;
  for (const ProgramInput& input : inputs) list.append(nb::cast(input));
  return nb::tuple(list);
}

nb::str describe_program(const Program& program) {
  std::vector<std::string> parts;
  for (const ProgramInput& input : program.inputs())
    parts.push_back(describe_input(input, parts.size()));
  return nb::str(fmt::format("<heddle.Program of {}>", fmt::join(parts, ", ")).c_str());
}

void bind_program_input(nb::module_& module) {
  nb::class_<ProgramInput>(module, "ProgramInput", "An argument of a saved program.")
      .def_prop_ro(
          "name", [](const ProgramInput& input) { return nb::str(input.name.c_str()); },
          "The parameter's name, such as 'x' or \"params['w']\"; '' if it has none.")
      .def_ro("is_number", &ProgramInput::is_number, "True for a number, False for an Array.")
      .def_prop_ro(
          "dtype", [](const ProgramInput& input) { return to_python(input.dtype); }, "The dtype.")
      .def_prop_ro("shape", extents_of, "The extents; symbolic ones are text.")
      .def("__repr__", [](const ProgramInput& input) {
        return nb::str(fmt::format("<heddle.ProgramInput {}>", describe_input(input, 0)).c_str());
      });
}

void bind_program(nb::module_& module) {
  nb::class_<Program>(module, "Program",
                      "A program loaded from a file. It runs without tracing, and without a "
                      "compiler on the targets for which it was saved. See heddle.load_program.")
      .def("__call__", run_program,
           "The results, as one Array or a tuple. The arguments are as many Arrays and numbers as "
           "the function had, in the same order; Arrays have the dtypes and shapes for which the "
           "program was saved. Raises ValueError for other arguments.")
      .def(
          "ir", [](const Program& program) { return nb::str(program.ir().c_str()); },
          "The program's graph as text.")
      .def_prop_ro(
          "inputs", [](const Program& program) { return tuple_of(program.inputs()); },
          "The arguments of a call, in order; each has name, dtype, shape and is_number.")
      .def("__repr__", describe_program)
      .def_prop_ro("input_count", &Program::input_count, "Number of arguments of a call.")
      .def_prop_ro("output_count", &Program::output_count, "Number of result Arrays.");
}

}  // namespace

void bind_program_classes(nb::module_& module) {
  bind_lowered(module);
  bind_program_input(module);
  bind_program(module);
}

void bind_programs(Functions& functions) {
  functions.def("load_program(path: str, /, *, trust: bool = False) -> Program",
                "The program that f.save(path, ...) wrote, to be called with Arrays. It runs "
                "without tracing, and without a compiler on the targets for which it was saved.\n\n"
                "The file contains native code, which runs with this process's rights: load only "
                "files whose code you would run, as with pickle. If HEDDLE_CACHE_KEY is set, the "
                "file must be signed with that key; a file that is not raises TrustError. "
                "Otherwise TrustError, which names owner and mode, is raised if users other than "
                "this one and root may have written the file, or may write to its folder, unless "
                "trust is True. Raises OSError if the file cannot be read or is not a program.\n\n"
                "Example: hd.load_program('step.hdp')(x, w)",
                [](const Arguments& a) {
                  return nb::cast(load_program(a.text(0), a.flag(1) ? Trust::anyone : Trust::own));
                });
}

}  // namespace heddle::python

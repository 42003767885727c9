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
  throw ValueError(fmt::format("explain: form is 'text', 'json', 'html' or 'dot', not '{}'", name));
}

void bind_lowered(nb::module_& module) {
  const auto target = nb::arg("target") = "";
  nb::class_<LoweredObject>(module, "Lowered",
                            "A traced function as a program: its texts and facts. Nothing has to "
                            "be compiled or run.")
      .def(
          "ir", [](const LoweredObject& l) { return nb::str(l.lowered.ir().c_str()); },
          "The traced graph in text form.")
      .def(
          "cuda",
          [](const LoweredObject& l, const char* target) {
            return nb::str(l.lowered.cuda(target).c_str());
          },
          target, "The CUDA C++ for a target ('sm_90'); for the GPU at hand by default.")
      .def(
          "host", [](const LoweredObject& l) { return nb::str(l.lowered.host().c_str()); },
          "The C++ for the host.")
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
          "What became of the program: passes, groups, their families, the cuts and why, memory, "
          "and bytes moved. form: 'text'; 'json', one object, and 'html', a page of its own, which "
          "also have what a compiler made of the kernels; 'dot', the graph for Graphviz.")
      .def(
          "kernel_count",
          [](const LoweredObject& l) {
            const ReleaseGil release;
            return l.lowered.kernel_count();
          },
          "Kernels of the program on the current device; compiles it.")
      .def(
          "warm",
          [](const LoweredObject& l, const char* target) {
            const ReleaseGil release;
            return l.lowered.warm(target);
          },
          nb::arg("target"),
          "Compiles for a target that need not be here into the disk cache; returns how many "
          "kernels were compiled.")
      .def(
          "save",
          [](const LoweredObject& l, const char* path, const nb::object& targets, unsigned mode) {
            std::vector<std::string> names;
            for (nb::handle name : targets) names.emplace_back(nb::str(name).c_str());
            const ReleaseGil release;
            l.lowered.save(path, names, mode);
          },
          nb::arg("path"), nb::arg("targets") = nb::tuple(), nb::arg("mode") = 0644,
          "Writes the program into one file for heddle.load_program, compiled for the targets, by "
          "default the current device's; for all to read, or of another mode, whatever the umask. "
          "HEDDLE_CACHE_KEY signs it where that is set. ValueError for a function that rests on "
          "more than its arguments: arrays from outside, random numbers.");
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
            "a saved program takes Arrays and numbers, not " + describe_foreign(arg));
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
          "The parameter's name, as \"x\" or \"params['w']\"; empty where it has none.")
      .def_ro("is_number", &ProgramInput::is_number, "Whether it is a number, not an Array.")
      .def_prop_ro(
          "dtype", [](const ProgramInput& input) { return to_python(input.dtype); }, "The dtype.")
      .def_prop_ro("shape", extents_of, "The extents: integers, and symbols as text.")
      .def("__repr__", [](const ProgramInput& input) {
        return nb::str(fmt::format("<heddle.ProgramInput {}>", describe_input(input, 0)).c_str());
      });
}

void bind_program(nb::module_& module) {
  nb::class_<Program>(module, "Program",
                      "A program that save() wrote: it runs without tracing, and on the targets "
                      "that it was saved for without a compiler. See heddle.load_program.")
      .def("__call__", run_program,
           "The results, one Array or a tuple of them, for as many Arrays and numbers as the "
           "function had, in their order. Arrays have the dtypes and shapes that it was saved "
           "with.")
      .def(
          "ir", [](const Program& program) { return nb::str(program.ir().c_str()); },
          "The program's graph in text form.")
      .def_prop_ro(
          "inputs", [](const Program& program) { return tuple_of(program.inputs()); },
          "The arguments of a call, in order: name, dtype, shape and is_number of each.")
      .def("__repr__", describe_program)
      .def_prop_ro("input_count", &Program::input_count, "Arrays and numbers of a call.")
      .def_prop_ro("output_count", &Program::output_count, "Arrays of a result.");
}

}  // namespace

void bind_program_classes(nb::module_& module) {
  bind_lowered(module);
  bind_program_input(module);
  bind_program(module);
}

void bind_programs(Functions& functions) {
  functions.def(
      "load_program(path: str, /, *, trust: bool = False) -> Program",
      "A program that f.save(path, ...) wrote, to be called with Arrays: it runs without tracing, "
      "and on the targets that it was saved for without a compiler.\n\nThe file holds native code, "
      "which runs with this process's rights: load what you would run, as with pickle. Raises "
      "TrustError, which names owner and mode, where users besides this one and root may have "
      "written it or may write to its folder, unless trust is True; where HEDDLE_CACHE_KEY is set, "
      "and then only, where that key has not signed it. Raises OSError where the file cannot be "
      "read or is none.\n\nExample: hd.load_program('step.hdp')(x, w)",
      [](const Arguments& a) {
        return nb::cast(load_program(a.text(0), a.flag(1) ? Trust::anyone : Trust::own));
      });
}

}  // namespace heddle::python

#include "tests/emulator/engine/translation_unit.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "codegen/common/sections.h"

namespace heddle::emulator {
namespace {

constexpr std::array<std::string_view, 7> twins = {"memory", "words",   "shared", "warp",
                                                   "atomic", "cluster", "tiles"};

void append_sections(std::string& text, std::span<const codegen::KernelSource> kernels) {
  std::vector<std::string> names;
  for (const codegen::KernelSource& kernel : kernels) {
    for (const std::string& section : kernel.sections) {
      if (std::ranges::find(names, section) == names.end()) names.push_back(section);
    }
  }
  for (const std::string& name : codegen::close_over_needs(names)) {
    if (std::ranges::find(twins, name) != twins.end()) {
      text += fmt::format("#include \"{}.h\"\n", name);
    } else {
      text += fmt::format("#line 1 \"section {}\"\n{}\n", name, codegen::section(name).text);
    }
  }
}

/// Users' functions, each once.
void append_functions(std::string& text, std::span<const codegen::KernelSource> kernels) {
  std::set<std::string> known;
  for (const codegen::KernelSource& kernel : kernels) {
    for (const std::string& function : kernel.functions) {
      if (known.insert(function).second) text += function;
    }
  }
}

/// The kernel's symbol is renamed for the time of its text: it is extern "C", so a namespace alone
/// would not keep two batches' or a library function's name apart.
void append_kernel(std::string& text, const codegen::KernelSource& kernel, std::size_t number) {
  text += fmt::format(
      "#define {0} emulated_kernel_{1}\nnamespace kernel_{1} {{\n#line 1 \"{0}\"\n{2}\n}}\n"
      "#undef {0}\n",
      kernel.name, number, kernel.body);
}

void append_table(std::string& text, std::span<const codegen::KernelSource> kernels) {
  text += "#line 1 \"table\"\nnamespace heddle_emulator {\n";
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    text += fmt::format(
        "static void call_{0}(void* const* arguments) {{\n"
        "  Signature<decltype(kernel_{0}::emulated_kernel_{0})>::call("
        "&kernel_{0}::emulated_kernel_{0}, arguments);\n}}\n",
        i);
  }
  text += "static const KernelEntry kernels[] = {\n";
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    text += fmt::format(
        "    {{\"{1}\", &call_{0}, "
        "Signature<decltype(kernel_{0}::emulated_kernel_{0})>::parameters,"
        " Signature<decltype(kernel_{0}::emulated_kernel_{0})>::count}},\n",
        i, kernels[i].name);
  }
  text += fmt::format(
      "}};\nextern \"C\" __attribute__((visibility(\"default\"))) const ModuleTable\n"
      "    heddle_emulator_module = {{&machine, kernels, {}}};\n}}\n",
      kernels.size());
}

}  // namespace

std::string device_folder() { return HEDDLE_SOURCE_FOLDER "/tests/emulator/device"; }

std::string print_translation_unit(std::span<const codegen::KernelSource> kernels) {
  std::string text = "#include \"prelude.h\"\n";
  append_sections(text, kernels);
  append_functions(text, kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i) append_kernel(text, kernels[i], i);
  append_table(text, kernels);
  return text;
}

}  // namespace heddle::emulator

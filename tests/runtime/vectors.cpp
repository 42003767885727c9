// Kernels for the CPU are loops that compilers make vectors of, however many arrays they walk over.
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "codegen/common/printers.h"
#include "runtime/base/process.h"
#include "runtime/base/temporary_folder.h"
#include "runtime/device/device.h"
#include "runtime/host/compiler.h"
#include "tests/passes/plans.h"

using namespace heddle;
using namespace heddle::test;
using namespace heddle::runtime;

namespace {

/// The compilers of the host's kernels that this machine has.
std::vector<host::Compiler> compilers() {
  std::vector<host::Compiler> found;
  for (const char* name : {"g++", "clang++"}) {
    const ProcessResult result = run_process({name, "--version"});
    if (result.status != 0) continue;
    found.push_back({{name}, {}, {}, result.output.find("clang") != std::string::npos});
  }
  REQUIRE_FALSE(found.empty());
  return found;
}

bool compiles_for_x86() { return runtime::host_target().architecture.starts_with("x86-64"); }

std::string assembly(const host::Compiler& compiler, const std::string& text) {
  const TemporaryFolder folder;
  const std::string source = folder.path() + "/kernel.cpp", made = folder.path() + "/kernel.s";
  std::ofstream(source) << text;
  std::vector<std::string> command = compiler.program;
  for (const std::string& option :
       host::option_list(compiler, ir::parse_target(test::host_target), {.contract = false}))
    command.push_back(option);
  command.insert(command.end(), {"-S", "-o", made, source});
  const ProcessResult result = run_process(command);
  REQUIRE_MESSAGE(result.status == 0, result.output);
  std::ifstream file(made);
  return {std::istreambuf_iterator<char>(file), {}};
}

long count(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  return std::distance(std::sregex_iterator(text.begin(), text.end(), expression), {});
}

/// Sums of twelve inputs of a type, %0 to %11, in %12 to %22.
std::string sum_of_twelve(const char* type) {
  std::string text;
  for (int i = 0; i < 11; ++i) {
    text += i == 0 ? fmt::format(" %12 = add %0, %1 : {}\n", type)
                   : fmt::format(" %{} = add %{}, %{} : {}\n", 12 + i, 11 + i, 1 + i, type);
  }
  return text;
}

std::string over_twelve(const char* type, const char* results, const std::string& body) {
  std::string text = "func @main(";
  for (int i = 0; i < 12; ++i) text += fmt::format("{}%{}: {}", i == 0 ? "" : ", ", i, type);
  return text + fmt::format(") -> {} {{\n", results) + sum_of_twelve(type) + body + "}\n";
}

const char* const adam = R"(func @adam(%0: f32[65536], %1: f32[65536], %2: f32[65536],
    %3: f32[65536]) -> (f32[65536], f32[65536], f32[65536]) {
  %4 = constant 0.9 : f32[]
  %5 = constant 0.1 : f32[]
  %6 = multiply %1, %4 : f32[65536]
  %7 = multiply %3, %5 : f32[65536]
  %8 = add %6, %7 : f32[65536]
  %9 = multiply %2, %4 : f32[65536]
  %10 = multiply %3, %3 : f32[65536]
  %11 = multiply %10, %5 : f32[65536]
  %12 = add %9, %11 : f32[65536]
  %13 = sqrt %12 : f32[65536]
  %14 = add %13, %5 : f32[65536]
  %15 = divide %8, %14 : f32[65536]
  %16 = subtract %0, %15 : f32[65536]
  return %16, %8, %12
})";

/// Every kernel of the program has vector arithmetic, by every compiler.
void check_vectors(const std::string& program, std::vector<bool> donated = {}) {
  const ir::Target target = ir::parse_target(test::host_target);
  for (const host::Compiler& compiler : compilers()) {
    const auto planned = passes::plan_program(ir::parse(program), {target, donated, {}, {}});
    for (const passes::KernelPlan& kernel : planned.kernels) {
      const codegen::KernelSource source = codegen::print_host(kernel);
      CAPTURE(compiler.name());
      CAPTURE(source.body);
      const std::string text = assembly(compiler, source.text());
      const long packed = count(text, R"(\bv(add|mul|sub|div|sqrt)ps\s)"),
                 single = count(text, R"(\bv(add|mul|sub|div|sqrt)ss\s)");
      MESSAGE(fmt::format("{} by {}: {} packed, {} single", source.name, compiler.name(), packed,
                          single));
      CHECK(packed > 0);
    }
  }
}

}  // namespace

TEST_CASE("kernels over many arrays become vectors") {
  if (!compiles_for_x86()) return;
  check_vectors(adam);
  const char *line = "f32[65536]", *plane = "f32[512,512]";
  check_vectors(over_twelve(line, "(f32[65536], f32[65536])",
                            " %23 = multiply %0, %1 : f32[65536]\n return %22, %23\n"));
  // Tiles, rows, columns and scans.
  check_vectors(over_twelve(plane, "(f32[512,512], f32[512,512])",
                            " %23 = transpose %0 axes=[1,0] : f32[512,512]\n"
                            " %24 = add %22, %23 : f32[512,512]\n"
                            " %25 = multiply %1, %24 : f32[512,512]\n return %24, %25\n"));
  check_vectors(over_twelve(plane, "(f32[512,512], f32[512])",
                            " %23 = sum %22 axes=[1] : f32[512]\n return %22, %23\n"));
  check_vectors(over_twelve(plane, "(f32[512,512], f32[512])",
                            " %23 = sum %22 axes=[0] : f32[512]\n return %22, %23\n"));
  check_vectors(over_twelve(plane, "(f32[512,512], f32[512,512])",
                            " %23 = cumsum %22 axes=[1] : f32[512,512]\n return %22, %23\n"));
}

TEST_CASE("kernels that write over what they read become vectors") {
  if (!compiles_for_x86()) return;
  check_vectors(adam, {true, true, true, false});
  // All inputs are donated.
  check_vectors(over_twelve("f32[65536]", "(f32[65536], f32[65536])",
                            " %23 = multiply %0, %1 : f32[65536]\n return %22, %23\n"),
                std::vector<bool>(12, true));
}

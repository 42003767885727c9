#pragma once

// Programs of one call for singular values or eigenvalues, by a cuSOLVER of the tests' own on the
// fake driver, whose kernels do nothing.

#include "tests/runtime/cholesky_problem.h"
#include "tests/support/complex_matrices.h"

namespace heddle::test {

inline constexpr Device gpu{DeviceKind::cuda, 0};

/// A GPU on whose multiprocessors no matrix fits, so that its library takes all apart.
inline ir::Target small_gpu() {
  ir::Target target = ir::parse_target("sm_90:h200");
  target.shared_bytes_per_block = 256;
  return target;
}

/// The step of a call as such a GPU has it, without the kernels around it.
inline passes::CallStep planned(const std::string& text) {
  const passes::PlannedProgram program =
      passes::plan_program(ir::parse(text), {small_gpu(), {}, {}, {}});
  for (const passes::Step& step : program.program.steps) {
    if (step.call() != nullptr) return *step.call();
  }
  FAIL("no step is a call");
  return {};
}

/// A program of that step: its operand is the input, its results are the outputs. With `handler`,
/// another one's that takes the same step.
inline std::unique_ptr<ProgramRunner> load_call(const std::string& name, const ir::Type& operand,
                                                const std::vector<ir::Type>& results,
                                                const std::string& attributes = "",
                                                const std::string& handler = "") {
  std::string types, values, all;
  for (std::size_t i = 0; i < results.size(); ++i) {
    types += (i > 0 ? ", " : "") + to_string(results[i]);
    all += (i > 0 ? ", %" : "%") + std::to_string(i + 1);
  }
  passes::CallStep call = planned("func @f(%0: " + to_string(operand) + ") -> (" + types +
                                  ") {\n  " + all + " = call " + name + " %0 " + attributes +
                                  " : " + types + "\n  return " + all + "\n}\n");
  if (!handler.empty()) call.handler = handler;
  passes::Program program;
  program.name = "spectra";
  program.inputs.push_back({{operand}});
  call.operands.at(0).buffer = {Ref::Kind::input, 0};
  for (std::size_t i = 0; i < results.size(); ++i) {
    program.outputs.push_back({results[i], {}, {}});
    call.results.at(i).buffer = {Ref::Kind::output, static_cast<std::uint32_t>(i)};
  }
  program.steps.emplace_back().work = std::move(call);
  auto launcher = load_kernels({program, {}}, gpu);
  return std::make_unique<ProgramRunner>(std::move(program), std::move(launcher));
}

/// Random matrices.
template <class T>
std::vector<T> sample(std::int64_t count) {
  test::Random random(static_cast<std::uint64_t>(count));
  const auto number = [&] { return static_cast<double>(random.below(2001)) / 1000 - 1; };
  std::vector<T> made;
  for (std::int64_t k = 0; k < count; ++k) {
    if constexpr (std::is_floating_point_v<T>) {
      made.push_back(static_cast<T>(number()));
    } else {
      const double real = number(), imaginary = number();
      made.emplace_back(static_cast<typename T::value_type>(real),
                        static_cast<typename T::value_type>(imaginary));
    }
  }
  return made;
}

template <class T>
std::vector<DeviceArray> run(ProgramRunner& runner, const ir::Type& type,
                             const std::vector<T>& given) {
  Stream stream = Stream::current(gpu);
  const std::size_t bytes = given.size() * sizeof(T);
  const DeviceArray operand{type, allocate(bytes, stream), 0};
  copy(operand.buffer->pointer(), gpu, given.data(), cpu, bytes, stream);
  const std::vector<ArgumentView> arguments = {{&operand}};
  std::vector<DeviceArray> outputs;
  runner.run(arguments, stream, outputs);
  CHECK(download<T>(operand, stream) == given);
  return outputs;
}

/// Matrix number `item` of elements.
template <class T>
Matrix matrix(const std::vector<T>& elements, std::size_t item, std::size_t rows,
              std::size_t columns) {
  Matrix made{rows, columns, {}};
  for (std::size_t k = 0; k < rows * columns; ++k)
    made.elements.emplace_back(elements.at(item * rows * columns + k));
  return made;
}

template <class T>
double tolerance() {
  return 2000 * std::numeric_limits<typename Element<T>::Real>::epsilon();
}

template <class T>
std::vector<T> values_of(const DeviceArray& array) {
  return download<T>(array, Stream::current(gpu));
}

template <class Test>
void for_each_element(const Test& test) {
  test(float());
  test(double());
  test(std::complex<float>());
  test(std::complex<double>());
}

struct Child {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("heddle_spectral_" + std::to_string(getpid()));
  Child() { std::filesystem::create_directories(folder); }
  ~Child() { std::filesystem::remove_all(folder); }

  /// What the process asked cuSOLVER for.
  std::string calls(const std::string& test_case,
                    const std::string& library = HEDDLE_FAKE_CUSOLVER) const {
    const auto result =
        test::run_child(test_case, {std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER,
                                    "HEDDLE_CUSOLVER=" + library, "HEDDLE_CACHE=0",
                                    "HEDDLE_FAKE_CUSOLVER_LOG=" + (folder / "log").string()});
    CHECK_MESSAGE(result.status == 0, result.output);
    std::string text = test::read_text(folder / "log");
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }
};

/// What the DeviceError says that a function ends with; empty without one.
template <class Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const DeviceError& error) {
    return error.what();
  }
  return {};
}

/// The call of cuSOLVER fails once, and the next attempt is right.
template <class Function>
void check_failure(const char* call, const std::string& name, const Function& function) {
  CAPTURE(call);
  setenv("HEDDLE_FAKE_CUSOLVER_FAILS", call, 1);
  CHECK(error_of(function).find(name + " failed: cuSOLVER's status 7.") != std::string::npos);
  unsetenv("HEDDLE_FAKE_CUSOLVER_FAILS");
  CHECK(error_of(function) == "");
}

}  // namespace heddle::test

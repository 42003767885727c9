// Cholesky factorisations by a cuSOLVER of the tests' own on the fake driver, whose kernels do
// nothing: programs of the call alone.

#include "tests/runtime/cholesky_problem.h"

using namespace heddle;
using namespace heddle::runtime;
using namespace heddle::test;

namespace {

constexpr Device gpu{DeviceKind::cuda, 0};

/// The factors and infos of f32[b,n,n] or another dtype.
std::unique_ptr<ProgramRunner> load_call(DType dtype, bool upper, bool in_place = false) {
  const ir::Dim b = ir::Dim::symbol("b"), n = ir::Dim::symbol("n");
  passes::CallStep call = planned_call(dtype, upper, "sm_90:h200");
  call.operands.at(0).buffer = {Ref::Kind::input, 0};
  call.results.at(0).buffer = {in_place ? Ref::Kind::input : Ref::Kind::output, 0};
  call.results.at(1).buffer = {Ref::Kind::output, 1};
  passes::Program program;
  program.name = "cholesky";
  program.inputs.push_back({{dtype, {b, n, n}}});
  program.outputs.push_back({{dtype, {b, n, n}}, {}, {}});
  program.outputs.push_back({{DType::i32, {b}}, {}, {}});
  if (in_place) {
    program.inputs[0].donated = true;
    program.outputs[0].input = 0;
  }
  program.steps.emplace_back().work = std::move(call);
  auto launcher = load_kernels({program, {}}, gpu);
  return std::make_unique<ProgramRunner>(std::move(program), std::move(launcher));
}

template <class T>
void check_call(ProgramRunner& runner, const Problem<T>& problem, Other other = Other::any) {
  CAPTURE(name_of(problem.dtype));
  CAPTURE(problem.n);
  CAPTURE(problem.batch);
  Stream stream = Stream::current(gpu);
  const DeviceArray matrices = upload(problem, stream);
  const std::vector<ArgumentView> arguments = {{&matrices}};
  std::vector<DeviceArray> outputs;
  runner.run(arguments, stream, outputs);
  REQUIRE(outputs.size() == 2);
  CHECK(problem.fault(download<T>(outputs[0], stream), download<std::int32_t>(outputs[1], stream),
                      other) == "");
  const bool in_place = runner.program().outputs[0].input.has_value();
  if (!in_place) CHECK(download<T>(matrices, stream) == problem.given);
}

/// What the DeviceError says that a call ends with; empty without one.
template <class T>
std::string error_of(ProgramRunner& runner, const Problem<T>& problem) {
  try {
    check_call(runner, problem);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return {};
}

struct Child {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("heddle_cholesky_" + std::to_string(getpid()));
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

}  // namespace

TEST_CASE("child: factorisations on a GPU" * doctest::skip()) {
  for_each_kind([]<class T>(T, bool upper) {
    const auto runner = load_call(Problem<T>::dtype, upper);
    check_call(*runner, Problem<T>(upper, 5, 4, true));
    check_call(*runner, Problem<T>(upper, 7, 1), Other::kept);
  });
}

TEST_CASE("a batch of small matrices is one call of cuSOLVER, and so is a single matrix") {
  const Child child;
  std::string expected = "Create CreateParams ";
  for (int i = 0; i < 2; ++i) {
    for (const char* letter : {"S", "D", "C", "Z"})
      expected += std::string(letter) + "potrfBatched Xpotrf_bufferSize Xpotrf ";
  }
  CHECK(child.calls("child: factorisations on a GPU") == expected);
}

TEST_CASE("child: factorisations of large matrices on a GPU" * doctest::skip()) {
  const auto runner = load_call(DType::f32, true);
  check_call(*runner, Problem<float>(true, 512, 2, true));
  check_call(*runner, Problem<float>(true, 513, 2, true), Other::kept);
}

TEST_CASE("each large matrix is a call of cuSOLVER, and all use the same workspace") {
  const Child child;
  CHECK(child.calls("child: factorisations of large matrices on a GPU") ==
        "Create CreateParams SpotrfBatched Xpotrf_bufferSize Xpotrf Xpotrf ");
}

TEST_CASE("child: factorisations on a GPU of nothing" * doctest::skip()) {
  const auto runner = load_call(DType::f64, false);
  check_call(*runner, Problem<double>(false, 0, 4));
  check_call(*runner, Problem<double>(false, 0, 0));
  check_call(*runner, Problem<double>(false, 5, 0));
}

TEST_CASE("cuSOLVER is not called for empty matrices and empty batches") {
  const Child child;
  CHECK(child.calls("child: factorisations on a GPU of nothing").empty());
}

TEST_CASE("child: factorisations on a GPU in place" * doctest::skip()) {
  const auto runner = load_call(DType::c128, false, true);
  for (const std::int64_t batch : {1, 3}) {
    const Problem<std::complex<double>> problem(false, 6, batch);
    check_call(*runner, problem);
    Stream stream = Stream::current(gpu);
    const DeviceArray matrices = upload(problem, stream);
    const std::vector<ArgumentView> arguments = {{&matrices}};
    std::vector<DeviceArray> outputs;
    runner->run(arguments, stream, outputs);
    CHECK(outputs.at(0).buffer == matrices.buffer);
  }
}

TEST_CASE("factors are written over donated matrices") {
  const Child child;
  CHECK(child.calls("child: factorisations on a GPU in place") ==
        "Create CreateParams Xpotrf_bufferSize Xpotrf Xpotrf_bufferSize Xpotrf ZpotrfBatched "
        "ZpotrfBatched ");
}

namespace {

/// The call of cuSOLVER fails once, and the next factorisation is right.
void check_failure(ProgramRunner& runner, const char* call, const std::string& name,
                   std::int64_t batch = 1) {
  CAPTURE(call);
  const Problem<float> problem(false, 9, batch);
  setenv("HEDDLE_FAKE_CUSOLVER_FAILS", call, 1);
  CHECK(error_of(runner, problem).find(name + " failed: cuSOLVER's status 7.") !=
        std::string::npos);
  unsetenv("HEDDLE_FAKE_CUSOLVER_FAILS");
  check_call(runner, problem);
}

}  // namespace

TEST_CASE("child: factorisations on a GPU that fail" * doctest::skip()) {
  const auto runner = load_call(DType::f32, false);
  check_failure(*runner, "CreateParams", "cusolverDnCreateParams");
  check_failure(*runner, "Xpotrf_bufferSize", "cusolverDnXpotrf_bufferSize");
  check_failure(*runner, "Xpotrf", "cusolverDnXpotrf");
  check_failure(*runner, "SpotrfBatched", "potrfBatched", 3);
}

TEST_CASE("child: a cuSOLVER that does not start" * doctest::skip()) {
  check_failure(*load_call(DType::f32, false), "Create", "cusolverDnCreate");
}

TEST_CASE("a call of cuSOLVER that fails is a DeviceError, and the next one works") {
  const Child child;
  const std::string asked = child.calls("child: factorisations on a GPU that fail");
  // What failed beside a handle leaves it to the calls that follow.
  CHECK(asked.find("Create ", asked.find("Xpotrf")) == std::string::npos);
  CHECK(child.calls("child: a cuSOLVER that does not start").substr(asked.size()) ==
        "Create Create CreateParams Xpotrf_bufferSize Xpotrf ");
}

TEST_CASE("child: factorisations on a GPU without cuSOLVER" * doctest::skip()) {
  const auto runner = load_call(DType::f32, false);
  for (const std::int64_t batch : {1, 3}) {
    const std::string message = error_of(*runner, Problem<float>(false, 4, batch));
    for (const char* part : {"matrices cannot be factorised on the GPU", HEDDLE_FAKE_CUBLAS,
                             "cusolverDnXpotrf", "nvidia-cusolver"})
      CHECK(message.find(part) != std::string::npos);
  }
  // What does not take it needs none.
  check_call(*runner, Problem<float>(false, 0, 3));
}

TEST_CASE("without cuSOLVER, a factorisation on a GPU is a DeviceError that names it") {
  // A library that opens, so that no other one is looked for.
  const Child child;
  CHECK(child.calls("child: factorisations on a GPU without cuSOLVER", HEDDLE_FAKE_CUBLAS).empty());
}

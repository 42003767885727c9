// Cholesky factorisations by LAPACK, and by programs on the CPU.

#include "tests/runtime/cholesky_problem.h"

using namespace heddle;
using namespace heddle::runtime;
using namespace heddle::test;

TEST_CASE("LAPACK factorises one triangle and leaves the other unchanged") {
  struct Size {
    std::int64_t n, batch;
  };
  for_each_kind([]<class T>(T, bool upper) {
    for (const Size size : {Size{1, 4}, {2, 50}, {7, 3}, {64, 10}, {300, 2}}) {
      for (const bool some_fail : {false, true}) {
        const Problem<T> problem(upper, size.n, size.batch, some_fail);
        CAPTURE(name_of(problem.dtype));
        CAPTURE(size.n);
        CAPTURE(some_fail);
        std::vector<T> matrices = problem.given;
        Infos infos = unset(size.batch);
        lapack::cholesky(problem.dtype, upper, size.n, size.batch, matrices.data(), infos.data());
        CHECK(problem.fault(matrices, infos, Other::kept) == "");
      }
    }
  });
}

TEST_CASE("the status is the order of the first leading minor that is not positive") {
  const std::int64_t n = 300;
  for (const std::int64_t order : {1, 2, 65, 299, 300}) {
    CAPTURE(order);
    Problem<double> problem(false, n, 2);
    const auto diagonal = static_cast<std::size_t>(n * n + (order - 1) * (n + 1));
    problem.given[diagonal] = order == 1 ? 0 : -1;
    Infos infos = unset(2);
    lapack::cholesky(DType::f64, false, n, 2, problem.given.data(), infos.data());
    CHECK(infos == Infos{0, static_cast<std::int32_t>(order)});
  }
}

TEST_CASE("CPU programs factorise batches of all sizes, also empty batches and 0 by 0 matrices") {
  Stream stream = Stream::current(cpu);
  for_each_kind([&]<class T>(T, bool upper) {
    const auto executable =
        Executable::get(ir::parse(graph_text(Problem<T>::dtype, upper)), {}, cpu);
    for (const std::int64_t n : {0, 1, 2, 7, 40}) {
      for (const std::int64_t batch : {0, 1, 5}) {
        const Problem<T> problem(upper, n, batch, true);
        CAPTURE(name_of(problem.dtype));
        CAPTURE(n);
        CAPTURE(batch);
        std::vector<Argument> arguments = {upload(problem, stream)};
        const auto outputs = executable->run(std::move(arguments), stream);
        REQUIRE(outputs.size() == 2);
        CHECK(outputs[0].type == ir::Type{problem.dtype, {batch, n, n}});
        CHECK(outputs[1].type == ir::Type{DType::i32, {batch}});
        CHECK(problem.fault(download<T>(outputs[0], stream),
                            download<std::int32_t>(outputs[1], stream), Other::zero) == "");
      }
    }
  });
}

TEST_CASE("CPU programs may return only the factors or only the statuses") {
  Stream stream = Stream::current(cpu);
  for (const bool donated : {false, true}) {
    const CompileOptions options{.donated = {donated}};
    for (const std::int64_t n : {0, 7}) {
      const Problem<double> problem(true, n, 5, true);
      const auto run = [&](const std::string& results) {
        const auto executable =
            Executable::get(ir::parse(graph_text(DType::f64, true, results)), options, cpu);
        std::vector<Argument> arguments = {upload(problem, stream)};
        return executable->run(std::move(arguments), stream).at(0);
      };
      const Infos infos = download<std::int32_t>(run("%2"), stream);
      CHECK(infos == problem.infos);
      CHECK(problem.fault(download<double>(run("%1"), stream), infos, Other::zero) == "");
    }
  }
}

TEST_CASE("a call on the CPU keeps its operand, or overwrites it if they share memory") {
  /// The matrices, the factors and the infos.
  class Frame final : public CallBuffers {
   public:
    Frame(const Stream& stream, std::vector<void*> buffers)
        : CallBuffers(stream), buffers_(std::move(buffers)) {}
    std::byte* address(const Ref& buffer) const override {
      return static_cast<std::byte*>(buffers_.at(buffer.index));
    }
    const ir::ElementBits& scalar(std::uint32_t) const override { return none_; }
    BufferRef allocate(std::size_t, const Label&) const override {
      throw InternalError("no memory is asked for");
    }

   private:
    std::vector<void*> buffers_;
    ir::ElementBits none_;
  };
  passes::CallStep call = planned_call(DType::c64, false, "x86-64-v3");
  call.operands.at(0).buffer = {Ref::Kind::input, 0};
  call.results.at(0).buffer = {Ref::Kind::input, 1};
  call.results.at(1).buffer = {Ref::Kind::input, 2};
  const auto prepare = [&](std::int64_t n, std::int64_t batch) {
    const ir::SymbolBindings sizes = {{ir::intern_symbol("n"), n}, {ir::intern_symbol("b"), batch}};
    return call_handler(call.handler, DeviceKind::cpu).prepare(call, {{}, sizes, cpu});
  };
  CHECK(std::get<std::vector<passes::KernelStep>>(prepare(7, 0)).empty());

  const Stream stream = Stream::current(cpu);
  const Problem<std::complex<float>> problem(false, 7, 3, true);
  const CallWork work = prepare(7, 3);
  const auto& prepared = std::get<std::unique_ptr<const PreparedCall>>(work);
  for (const bool in_place : {false, true}) {
    std::vector<std::complex<float>> matrices = problem.given, factors(matrices.size());
    Infos infos = unset(3);
    void* const to = in_place ? matrices.data() : factors.data();
    CHECK(prepared->enqueue(Frame(stream, {matrices.data(), to, infos.data()})) ==
          PreparedCall::Outcome::enqueued);
    CHECK(problem.fault(in_place ? matrices : factors, infos, Other::kept) == "");
    CHECK((matrices == problem.given) == !in_place);
  }
}

TEST_CASE("child: no LAPACK" * doctest::skip()) {
  double matrix = 4;
  std::int32_t info = -1;
  std::string message;
  try {
    lapack::cholesky(DType::f64, false, 1, 1, &matrix, &info);
  } catch (const DeviceError& error) {
    message = error.what();
  }
  CHECK(message.find("cannot be factorised on the CPU") != std::string::npos);
  CHECK(message.find(HEDDLE_FAKE_CUBLAS) != std::string::npos);
  CHECK(matrix == 4);
}

TEST_CASE("without OpenBLAS, a factorisation on the CPU is a DeviceError that says so") {
  // A library that opens, so that no other one is looked for.
  const auto result =
      test::run_child("child: no LAPACK", {std::string("HEDDLE_OPENBLAS=") + HEDDLE_FAKE_CUBLAS});
  CHECK_MESSAGE(result.status == 0, result.output);
}

// On the fake GPU, whose kernels do nothing: programs of the call alone.

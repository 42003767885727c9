// Programs that are saved and loaded whole.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "values.h"

using namespace hd;
using test::check;

namespace {

/// A folder of its own, gone afterwards.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() / ("heddle-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

Array ramp(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return reshape(arange<float>(static_cast<float>(count)), shape);
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void is(const Array& array, const std::vector<float>& expected) {
  check(array, {static_cast<std::int64_t>(expected.size())}, expected);
}

TEST_CASE("a saved program gives what its function gives, for every extent of its symbols") {
  const Folder folder;
  const auto f =
      jit([](const Array& x, const Array& w) { return std::tuple(tanh(x) * w, sum(x, 1), w); });
  f.save(folder.file("f.hdp"), {spec<float>({"n", 4}, "rows of x"), spec<float>({4})});
  const Program program = load_program(folder.file("f.hdp"));
  CHECK(program.input_count() == 2);
  CHECK(program.output_count() == 3);
  const std::vector<ProgramInput> inputs = program.inputs();
  REQUIRE(inputs.size() == 2);
  CHECK(inputs[0].name == "rows of x");
  CHECK(inputs[1].name.empty());
  CHECK_THROWS_AS(f.lower({spec<float>({"n", 4}, "two\nlines"), spec<float>({4})}), ValueError);
  CHECK(inputs[0].dtype == float32);
  CHECK(inputs[0].shape == std::vector<std::string>{"n", "4"});
  CHECK(inputs[1].shape == std::vector<std::string>{"4"});
  CHECK_FALSE(inputs[0].is_number);
  CHECK(program.ir().find("f32[n,4]") != std::string::npos);
  const Array w = ramp({4});
  for (const std::int64_t n : {0, 1, 3, 1000}) {
    const Array x = ramp({n, 4});
    const std::vector<Array> results = program({x, w});
    const auto [a, b, c] = f(x, w);
    REQUIRE(results.size() == 3);
    CHECK(array_equal(results[0], a));
    CHECK(array_equal(results[1], b));
    CHECK(array_equal(results[2], c));
  }
}

TEST_CASE("arguments that are not used, and numbers, keep their places") {
  const Folder folder;
  const auto f = jit([](const Array& /*unused*/, const Array& a, const Array& x, const Array& b) {
    return x * a + b * a;
  });
  const Array x = ramp({5});
  f.save(folder.file("f.hdp"), x, 2.0, x, 0.5f);
  const Program program = load_program(folder.file("f.hdp"));
  CHECK(program.input_count() == 4);
  const std::vector<ProgramInput> inputs = program.inputs();
  REQUIRE(inputs.size() == 4);
  CHECK(inputs[0].shape == std::vector<std::string>{"5"});
  CHECK((inputs[1].is_number && inputs[1].shape.empty()));
  CHECK((!inputs[2].is_number && inputs[2].shape == std::vector<std::string>{"5"}));
  is(program({x, 3.0, x, 2.0})[0], {6.f, 9.f, 12.f, 15.f, 18.f});
  CHECK_THROWS_WITH_AS(
      program({x, x, x, 2.0}),
      doctest::Contains("argument 1 is an array, but the program expects a number"), ValueError);
  CHECK_THROWS_WITH_AS(program({x, 3.0, 1.0, 2.0}), doctest::Contains("argument 2 is a number"),
                       ValueError);
}

TEST_CASE("arrays are pending, views and parts of others' memory") {
  const Folder folder;
  const auto f = jit([](const Array& x) { return x * 2.f; });
  f.save(folder.file("f.hdp"), {spec<float>({7})});
  const Program program = load_program(folder.file("f.hdp"));
  const Array x = ramp({16}).eval();
  const Array pending = x(slice(1, 8)) + 1.f;
  is(program({pending})[0], {4.f, 6.f, 8.f, 10.f, 12.f, 14.f, 16.f});
  is(program({x(slice(3, 10))})[0], {6.f, 8.f, 10.f, 12.f, 14.f, 16.f, 18.f});
  is(program({x(slice({}, 2, -2))})[0], {30.f, 26.f, 22.f, 18.f, 14.f, 10.f, 6.f});
}

TEST_CASE("many threads run one program") {
  const Folder folder;
  const auto f = jit([](const Array& x) { return sum(x * x); });
  f.save(folder.file("f.hdp"), {spec<float>({"n"})});
  const Program program = load_program(folder.file("f.hdp"));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::int64_t n = 3 + t;
        const float expected = static_cast<float>(n * (n - 1) * (2 * n - 1) / 6);
        if (program({ramp({n})})[0].item<float>() != expected) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("what does not fit is an error that names the file") {
  const Folder folder;
  const auto f = jit([](const Array& x) { return x + 1.f; });
  f.save(folder.file("f.hdp"), {spec<float>({"n", "n"})});
  const Program program = load_program(folder.file("f.hdp"));
  CHECK_THROWS_WITH_AS(program({}), doctest::Contains("f.hdp takes 1 arguments, and 0 were given"),
                       ValueError);
  CHECK_THROWS_AS(program({ramp({2, 3})}), ShapeError);
  CHECK_THROWS_AS(program({ramp({4})}), ShapeError);
  CHECK_THROWS_AS(program({zeros({2, 2}, DType::f64)}), DTypeError);
  CHECK_THROWS_AS(jit([&](const Array& x) { return program({x})[0]; })(ramp({2, 2})), TraceError);
  is(program({zeros({1, 1}, DType::f32)})[0](0), {1.f});
}

TEST_CASE("functions that rest on more than their arguments are not saved") {
  const Folder folder;
  const std::string path = folder.file("f.hdp");
  const Array outside = ramp({3}).eval();
  const auto captures = jit([&](const Array& x) { return x + outside; });
  CHECK_THROWS_WITH_AS(captures.save(path, {spec<float>({3})}),
                       doctest::Contains("depends on an array that is not an argument"),
                       ValueError);
  auto rng = random::Generator(1);
  const auto draws = jit([&](const Array& x) { return x + rng.random({3}, DType::f32); });
  CHECK_THROWS_WITH_AS(draws.save(path, {spec<float>({3})}),
                       doctest::Contains("a generator of random numbers"), ValueError);
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK_THROWS_AS(
      jit([](const Array& x) { return x; }).lower({spec<float>({3})}).save(path, {"sm_1"}),
      ValueError);
}

TEST_CASE("a program that others may have written runs only where one says so") {
  const Folder folder;
  const auto f = jit([](const Array& x) { return x + 1.f; });
  const std::string path = folder.file("f.hdp");
  const auto mode_of = [&] {
    return static_cast<unsigned>(std::filesystem::status(path).permissions());
  };
  const auto before = umask(0077);
  f.save(path, {spec<float>({3})});
  CHECK(mode_of() == 0644);
  f.lower({spec<float>({3})}).save(path, {}, 0600);
  umask(before);
  CHECK(mode_of() == 0600);
  std::filesystem::permissions(path, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  CHECK_THROWS_WITH_AS(load_program(path), doctest::Contains("mode 0602"), TrustError);
  CHECK_THROWS_WITH_AS(load_bundle(path), doctest::Contains("trust=True"), TrustError);
  is(load_program(path, Trust::anyone)({ramp({3})})[0], {1.f, 2.f, 3.f});
}

TEST_CASE("files that are missing, cut off or something else are refused") {
  const Folder folder;
  const auto f = jit([](const Array& x) { return x + 1.f; });
  const std::string path = folder.file("f.hdp"), other = folder.file("other.hdp");
  f.save(path, {spec<float>({3})});
  CHECK_THROWS_AS(load_program(folder.file("missing.hdp")), FileError);
  CHECK_THROWS_AS(f.save(folder.file("no/such/folder/f.hdp"), {spec<float>({3})}), FileError);
  const std::string whole = bytes_of(path);
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, std::size_t{12}, std::size_t{40},
                                   whole.size() / 2, whole.size() - 1}) {
    write(other, whole.substr(0, length));
    CAPTURE(length);
    CHECK_THROWS_WITH_AS(load_program(other), doctest::Contains("other.hdp"), FileError);
  }
  std::string changed = whole;
  changed.replace(changed.find("add"), 3, "odd");
  write(other, changed);
  CHECK_THROWS_WITH_AS(load_program(other), doctest::Contains("other.hdp"), FileError);
  is(load_program(path)({ramp({3})})[0], {1.f, 2.f, 3.f});
}

}  // namespace

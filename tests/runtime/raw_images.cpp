// Users' CUDA kernels: how they are compiled for a GPU that this machine need not have, and what is
// in their keys.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/cache/store.h"
#include "runtime/cuda/headers.h"
#include "runtime/cuda/raw_image.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::runtime;
using cuda::raw_key;

namespace {

const ir::Target sm_90 = ir::parse_target("sm_90");

RawSource source_of(std::string code) { return {.name = "scale", .code = std::move(code)}; }

const char* const scale = R"(extern "C" __global__ void scale(float* x, float by) {
  x[threadIdx.x] *= by;
})";

cuda::RawImage make_raw_image(const RawSource& source, const ir::Target& target) {
  return cuda::make_raw_image(source, target, raw_key(source, target));
}

std::string key_text(const RawSource& source) { return raw_key(source, sm_90)->text; }

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

bool has_toolkit() {
  if (!cuda::toolkit_headers().empty()) return true;
  MESSAGE("the headers of the CUDA toolkit are not here");
  return false;
}

std::string failure_of(const RawSource& source) {
  try {
    make_raw_image(source, sm_90);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "it compiled";
}

}  // namespace

TEST_CASE("a user's kernel compiles, and comes from the cache the next time") {
  if (!test::have_nvrtc()) return;
  const TemporaryFolder folder;
  const auto result = test::run_child("child: raw kernels in the cache",
                                      {"HEDDLE_CACHE_DIR=" + folder.path() + "/cache"});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: raw kernels in the cache" * doctest::skip()) {
  RawSource source = source_of(scale);
  const cuda::RawImage first = make_raw_image(source, sm_90);
  CHECK(first.module.built);
  CHECK(
      first.module.bytes.starts_with("\x7f"
                                     "ELF"));
  source.line = {"elsewhere.py", 12};
  const cuda::RawImage second = make_raw_image(source, sm_90);
  CHECK_FALSE(second.module.built);
  CHECK(second.module.bytes == first.module.bytes);

  source = source_of(
      "template <class T> __global__ void scale(T* x, T by) { *x *= by; }\n"
      "template <class T> __device__ T table[4];");
  source.expressions = {"scale<float>", "scale< unsigned long long >", "&table<double>"};
  const cuda::RawImage templates = make_raw_image(source, sm_90);
  CHECK(templates.module.built);
  CHECK(templates.symbols.at("scale<float>") == "_Z5scaleIfEvPT_S0_");
  CHECK(templates.symbols.size() == 3);
  const cuda::RawImage again = make_raw_image(source, sm_90);
  CHECK_FALSE(again.module.built);
  CHECK(again.symbols == templates.symbols);
}

TEST_CASE("headers of the toolkit are found") {
  if (!test::have_nvrtc() || !has_toolkit()) return;
  const RawSource source = source_of(R"(#include <cooperative_groups.h>
#include <cuda/std/limits>
#include <cuda_fp16.h>
#include <cuComplex.h>
extern "C" __global__ void scale(__half* x, cuFloatComplex* z) {
  cooperative_groups::this_thread_block().sync();
  x[0] = __hadd(x[0], x[1]);
  z[0] = cuCmulf(z[0], z[1]);
})");
  CHECK(make_raw_image(source, sm_90).module.bytes.size() > 1000);
}

TEST_CASE("CuPy's header of complex numbers is there without a toolkit") {
  if (!test::have_nvrtc()) return;
  const RawSource source = source_of(R"(#include <cupy/complex.cuh>
#include "cupy/complex.cuh"
extern "C" __global__ void scale(complex<float>* x, thrust::complex<double> by) {
  __shared__ complex<float> kept[32];
  kept[threadIdx.x] = exp(x[threadIdx.x]) * 2.0f + conj(x[0]);
  __syncthreads();
  x[threadIdx.x] = kept[31 - threadIdx.x] / complex<float>(by) + abs(kept[0]) + thrust::norm(x[1]);
  x[1].real(sqrtf(x[1].imag()));
})");
  CHECK(make_raw_image(source, sm_90).module.bytes.size() > 1000);
}

TEST_CASE("an error has the user's lines and the place where the kernel is made") {
  if (!test::have_nvrtc()) return;
  RawSource source =
      source_of("extern \"C\" __global__ void scale(float* x) {\n  x[0] = missing;\n}");
  source.line = {"model.py", 34};
  source.options = {"-DCOUNT=3"};
  const std::string text = failure_of(source);
  for (const char* part : {"kernel 'scale'", "scale(2): error: identifier \"missing\"",
                           "    2 |   x[0] = missing;", "-DCOUNT=3", "model.py:34", "NVRTC"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, part, " in ", text);
  CHECK(text.find("bug in Heddle") == std::string::npos);
}

TEST_CASE("everything that decides the code is in its key, and nothing else") {
  if (!test::have_nvrtc()) return;
  const TemporaryFolder one, other;
  for (const TemporaryFolder* folder : {&one, &other}) {
    write(folder->path() + "/factor.h", "#pragma once\n# include \"number.h\"\n");
    write(folder->path() + "/number.h", "constexpr float factor = 2;\n");
  }
  const auto key = [&](const TemporaryFolder& folder, const char* option = "-DA=1",
                       const char* expression = "f<int>") {
    RawSource source = source_of("#include <factor.h>\n");
    source.options = {"-I" + folder.path(), option};
    source.expressions = {expression};
    source.name = option;  // a name is no part of it
    return key_text(source);
  };
  const std::string first = key(one);
  CHECK(first != key(one, "-DA=2"));
  CHECK(first != key(one, "-DA=1", "f<float>"));
  CHECK(key_text(source_of(scale)) != raw_key(source_of(scale), ir::parse_target("sm_80"))->text);
  CHECK(key_text(source_of(scale)) != key_text(source_of("int x;")));
  write(one.path() + "/number.h", "constexpr float factor = 3;\n");
  CHECK(first != key(one));
  write(one.path() + "/unrelated.h", "int x;\n");
  write(one.path() + "/number.h", "constexpr float factor = 2;\n");
  CHECK(first == key(one));
}

TEST_CASE("a header that the command line includes is in the key") {
  const TemporaryFolder folder;
  const auto hash = [&](const std::vector<std::string>& files) {
    return cuda::includes_of("", {{folder.path()}, files}, {}).hash;
  };
  write(folder.path() + "/a.h", "int a;");
  const std::string before = hash({"a.h"});
  CHECK(before != hash({}));
  write(folder.path() + "/a.h", "#include \"a.h\"\n#include <a.h>\n#include\n#include \"\n");
  CHECK(before != hash({"a.h"}));
}

TEST_CASE("options name folders and files in one word or in two") {
  const cuda::IncludeOptions found = cuda::include_options(
      {"-Ione", "-I", "two", "--include-path=three", "--include-path", "four", "-I five", "-DA=1",
       "-include=six.h", "--pre-include", "seven.h", "-I"});
  CHECK(found.folders == std::vector<std::string>{"one", "two", "three", "four", "five"});
  CHECK(found.files == std::vector<std::string>{"six.h", "seven.h"});
}

TEST_CASE("the toolkit's headers are not in the key") {
  const TemporaryFolder own, toolkit;
  write(own.path() + "/own.h", "#include <half.h>\n");
  write(toolkit.path() + "/half.h", "struct half;\n");
  const auto found = [&](const char* text, const std::vector<std::string>& folders) {
    return cuda::includes_of(text, {{own.path()}, {}}, folders);
  };
  const char* const uses = "#include <own.h>\n";
  CHECK(found(uses, {toolkit.path()}).uses_toolkit);
  CHECK_FALSE(found(uses, {}).uses_toolkit);
  CHECK_FALSE(found("int x;", {toolkit.path()}).uses_toolkit);
  CHECK(found(uses, {toolkit.path()}).hash == found(uses, {}).hash);
}

TEST_CASE("a name in angle brackets is not searched for in the working folder") {
  const std::string name = "heddle_test_header.h";
  write(name, "int a;");
  const auto hash = [&](const char* text) { return cuda::includes_of(text, {}, {}).hash; };
  CHECK(hash("#include <heddle_test_header.h>\n") == hash(""));
  CHECK(hash("#include \"heddle_test_header.h\"\n") != hash(""));
  std::filesystem::remove(name);
}

TEST_CASE("code that includes a file by a macro's name has no key") {
  CHECK_FALSE(raw_key(source_of("#define FILE <a.h>\n # include FILE\n"), sm_90));
  CHECK(raw_key(source_of("// we #include things\n#include\n"), sm_90));
  RawSource file = source_of("");
  file.path = "kernels.cubin";
  CHECK_FALSE(raw_key(file, sm_90));
}

TEST_CASE("a file that is not there, and an empty one, are refused by name") {
  const TemporaryFolder folder;
  write(folder.path() + "/empty.cubin", "");
  for (const char* name : {"/missing.cubin", "/empty.cubin"}) {
    RawSource source{.name = name};
    source.path = folder.path() + name;
    CHECK_THROWS_WITH_AS(make_raw_image(source, sm_90), doctest::Contains(source.path.c_str()),
                         FileError);
  }
}

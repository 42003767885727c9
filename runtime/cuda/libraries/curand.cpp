#include "runtime/cuda/libraries/curand.h"

#include <array>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "runtime/base/library.h"
#include "runtime/cuda/devices.h"
#include "runtime/device/backend.h"

namespace heddle::runtime {

namespace {

enum class Status : int { success = 0 };
constexpr int type_of(CurandKind kind) {
  constexpr std::array types = {101, 121, 161, 201, 202, 203, 204};
  return types[static_cast<std::size_t>(kind)];
}

struct Api {
  Status (*curandCreateGenerator)(void** generator, int type) = nullptr;
  Status (*curandCreateGeneratorHost)(void** generator, int type) = nullptr;
  Status (*curandDestroyGenerator)(void* generator) = nullptr;
  Status (*curandSetStream)(void* generator, cuda::StreamHandle stream) = nullptr;
  Status (*curandSetPseudoRandomGeneratorSeed)(void* generator, unsigned long long seed) = nullptr;
  Status (*curandSetGeneratorOffset)(void* generator, unsigned long long offset) = nullptr;
  Status (*curandSetQuasiRandomGeneratorDimensions)(void* generator, unsigned count) = nullptr;
  Status (*curandGenerate)(void* generator, unsigned* out, std::size_t count) = nullptr;
  Status (*curandGenerateLongLong)(void* generator, unsigned long long* out,
                                   std::size_t count) = nullptr;
  Status (*curandGenerateUniform)(void* generator, float* out, std::size_t count) = nullptr;
  Status (*curandGenerateUniformDouble)(void* generator, double* out, std::size_t count) = nullptr;
  Status (*curandGenerateNormal)(void* generator, float* out, std::size_t count, float mean,
                                 float deviation) = nullptr;
  Status (*curandGenerateNormalDouble)(void* generator, double* out, std::size_t count, double mean,
                                       double deviation) = nullptr;
};

std::string bind(Api& api, const DynamicLibrary& library, std::string& missing) {
#define HEDDLE_CURAND(name) library.bind(api.name, #name, missing)
  HEDDLE_CURAND(curandCreateGenerator);
  HEDDLE_CURAND(curandCreateGeneratorHost);
  HEDDLE_CURAND(curandDestroyGenerator);
  HEDDLE_CURAND(curandSetStream);
  HEDDLE_CURAND(curandSetPseudoRandomGeneratorSeed);
  HEDDLE_CURAND(curandSetGeneratorOffset);
  HEDDLE_CURAND(curandSetQuasiRandomGeneratorDimensions);
  HEDDLE_CURAND(curandGenerate);
  HEDDLE_CURAND(curandGenerateLongLong);
  HEDDLE_CURAND(curandGenerateUniform);
  HEDDLE_CURAND(curandGenerateUniformDouble);
  HEDDLE_CURAND(curandGenerateNormal);
  HEDDLE_CURAND(curandGenerateNormalDouble);
#undef HEDDLE_CURAND
  return version_by_property(library, "curandGetProperty");
}

Library<Api>& library() {
  static auto& library = *new Library<Api>(
      {.request = {.title = "cuRAND",
                   .names = {"libcurand.so.10"},
                   .packages = {"curand"},
                   .variable = ir::Variable::curand},
       .mend = "Install cuRAND 10 (pip install nvidia-curand), or set HEDDLE_CURAND to its file or "
               "HEDDLE_CUDA_PATH to the toolkit. heddle::random::Generator needs no library.",
       .without = "bulk generators are not available",
       .bind = bind});
  return library;
}

const Api& api() { return library().api(); }

void check(Status status, const char* call) {
  if (status == Status::success) return;
  throw DeviceError(fmt::format("{} failed: cuRAND's status {}.{}", call, static_cast<int>(status),
                                cuda::describe_loss()));
}

}  // namespace

std::optional<CurandKind> curand_kind(std::string_view name) {
  constexpr std::array<std::string_view, 7> names = {
      "xorwow",  "mrg32k3a",         "philox", "sobol32", "scrambled_sobol32",
      "sobol64", "scrambled_sobol64"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<CurandKind>(i);
  return std::nullopt;
}

const std::string& curand_unavailable_reason() { return library().unavailable_reason(); }

CurandGenerator::CurandGenerator(CurandKind kind, std::uint64_t seed, int dimensions, Device device)
    : kind_(kind), device_(device), has_streams_(capabilities_of(device).asynchronous) {
  const Api& library = api();
  std::optional<cuda::ContextScope> context;
  if (has_streams_) context.emplace(device.ordinal);
  check(has_streams_ ? library.curandCreateGenerator(&handle_, type_of(kind))
                     : library.curandCreateGeneratorHost(&handle_, type_of(kind)),
        "curandCreateGenerator");
  try {
    if (is_quasirandom(kind)) {
      check(library.curandSetQuasiRandomGeneratorDimensions(handle_,
                                                            static_cast<unsigned>(dimensions)),
            "curandSetQuasiRandomGeneratorDimensions");
      check(library.curandSetGeneratorOffset(handle_, seed), "curandSetGeneratorOffset");
    } else {
      check(library.curandSetPseudoRandomGeneratorSeed(handle_, seed),
            "curandSetPseudoRandomGeneratorSeed");
    }
  } catch (...) {
    library.curandDestroyGenerator(handle_);
    throw;
  }
}

CurandGenerator::~CurandGenerator() {
  // At exit the driver may already be unloaded, and the generator's memory with it.
  if (has_streams_ && cuda::unusable()) return;
  try {
    std::optional<cuda::ContextScope> context;
    if (has_streams_) context.emplace(device_.ordinal);
    api().curandDestroyGenerator(handle_);
  } catch (const Error&) {
    // A failed device has no resources left to release.
  }
}

template <class Call>
void CurandGenerator::generate(const Stream& stream, const char* name, const Call& call) {
  std::lock_guard lock(mutex_);
  std::optional<cuda::ContextScope> context;
  if (has_streams_) {
    context.emplace(device_.ordinal);
    // The previous call writes the generator's state in the order of its own stream.
    if (stream_ && !(*stream_ == stream)) stream.wait(Event(*stream_));
    check(api().curandSetStream(handle_, stream.handle()), "curandSetStream");
    stream_ = stream;
  }
  check(call(api()), name);
}

void CurandGenerator::uniform(void* out, DType dtype, std::size_t count, const Stream& stream) {
  generate(stream, "curandGenerateUniform", [&](const Api& library) {
    return dtype == DType::f64
               ? library.curandGenerateUniformDouble(handle_, static_cast<double*>(out),
                                                     written(count))
               : library.curandGenerateUniform(handle_, static_cast<float*>(out), written(count));
  });
}

void CurandGenerator::normal(void* out, DType dtype, std::size_t count, double mean,
                             double deviation, const Stream& stream) {
  generate(stream, "curandGenerateNormal", [&](const Api& library) {
    return dtype == DType::f64
               ? library.curandGenerateNormalDouble(handle_, static_cast<double*>(out),
                                                    written(count), mean, deviation)
               : library.curandGenerateNormal(handle_, static_cast<float*>(out), written(count),
                                              static_cast<float>(mean),
                                              static_cast<float>(deviation));
  });
}

void CurandGenerator::bits(void* out, std::size_t count, const Stream& stream) {
  generate(stream, "curandGenerate", [&](const Api& library) {
    return bits_dtype() == DType::u64
               ? library.curandGenerateLongLong(handle_, static_cast<unsigned long long*>(out),
                                                written(count))
               : library.curandGenerate(handle_, static_cast<unsigned*>(out), written(count));
  });
}

}  // namespace heddle::runtime

// The words of CUDA that generated kernels use, for the host's compiler.
#pragma once

#include "machine.h"

#define __global__
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__

/// The emulator runs loops and branches itself, and reads their conditions.
extern "C" void cudaGraphSetConditional(unsigned long long, unsigned int) {}

extern "C" void* memcpy(void*, const void*, decltype(sizeof(0))) noexcept;

namespace heddle_emulator {

static Machine machine;

// The last parameters of what kernels call: where the call stands.
#define HEDDLE_EMULATOR_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()

[[noreturn]] static inline void fail(const Fault& fault) {
  machine.fail(fault);
  __builtin_unreachable();
}

template <class T>
struct ParameterOf {
  static constexpr ParameterInfo info{sizeof(T), 0, false};
};
template <class T>
struct ParameterOf<T*> {
  static constexpr ParameterInfo info{sizeof(T*), sizeof(T), false};
};
template <class T>
struct ParameterOf<const T*> {
  static constexpr ParameterInfo info{sizeof(T*), sizeof(T), true};
};

template <int... I>
struct Indices {};
template <int N, int... I>
struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <int... I>
struct MakeIndices<0, I...> {
  using Type = Indices<I...>;
};

/// A kernel's parameters, and a call of it with all arguments behind pointers.
template <class F>
struct Signature;
template <class... A>
struct Signature<void(A...)> {
  static constexpr int count = sizeof...(A);
  static constexpr ParameterInfo parameters[count + 1] = {ParameterOf<A>::info..., {0, 0, false}};

  template <int... I>
  static void call(void (*kernel)(A...), void* const* arguments, Indices<I...>) {
    kernel(*static_cast<A*>(arguments[I])...);
  }
  static void call(void (*kernel)(A...), void* const* arguments) {
    call(kernel, arguments, typename MakeIndices<count>::Type());
  }
};

}  // namespace heddle_emulator

#define threadIdx heddle_emulator::machine.thread_index
#define blockIdx heddle_emulator::machine.block_index
#define blockDim heddle_emulator::machine.block_extent
#define gridDim heddle_emulator::machine.grid_extent

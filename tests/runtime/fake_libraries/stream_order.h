#pragma once

#include <cstdlib>
#include <dlfcn.h>
#include <functional>

/// Runs what the fake driver still has to run on a stream, so that what a library computes at once
/// comes behind it.
inline void finish_before(void* stream) {
  static void* const driver = dlopen(std::getenv("HEDDLE_CUDA_DRIVER"), RTLD_NOW | RTLD_NOLOAD);
  static const auto synchronize =
      reinterpret_cast<int (*)(void*)>(dlsym(driver, "cuStreamSynchronize"));
  synchronize(stream);
}

/// Does the work in the stream's turn, or puts it into the graph that is captured from it.
inline void enqueue(void* stream, const std::function<void()>& work) {
  static void* const driver = dlopen(std::getenv("HEDDLE_CUDA_DRIVER"), RTLD_NOW | RTLD_NOLOAD);
  static const auto enqueue_work = reinterpret_cast<void (*)(void*, const std::function<void()>*)>(
      dlsym(driver, "fake_enqueue"));
  enqueue_work(stream, &work);
}

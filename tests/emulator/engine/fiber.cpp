// glibc's checked longjmp takes a switch to another stack for an overrun.
#undef _FORTIFY_SOURCE
#include "tests/emulator/engine/fiber.h"

#include <new>
#include <sys/mman.h>
#include <ucontext.h>

namespace heddle::emulator {
namespace {

constexpr std::size_t guard_bytes = 4096;
constexpr std::size_t stack_bytes = 256 << 10;

thread_local Fiber* starting = nullptr;

}  // namespace

Fiber::Fiber(std::function<void(Fiber&)> body) : body_(std::move(body)) {
  void* memory = mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  stack_ = static_cast<std::byte*>(memory);
  if (mprotect(stack_, guard_bytes, PROT_NONE) != 0) {
    munmap(stack_, guard_bytes + stack_bytes);
    throw std::bad_alloc();
  }
}

Fiber::~Fiber() { munmap(stack_, guard_bytes + stack_bytes); }

void Fiber::enter() {
  Fiber& self = *starting;
  self.body_(self);
  __builtin_unreachable();
}

void Fiber::start() {
  started_ = true;
  starting = this;
  ucontext_t initial;
  getcontext(&initial);
  initial.uc_stack.ss_sp = stack_ + guard_bytes;
  initial.uc_stack.ss_size = stack_bytes;
  initial.uc_link = nullptr;
  makecontext(&initial, &Fiber::enter, 0);
  setcontext(&initial);
}

void Fiber::resume(Context& from) {
  if (_setjmp(from.registers) != 0) return;
  if (!started_) start();
  _longjmp(context_.registers, 1);
}

void Fiber::suspend(Context& to) {
  if (_setjmp(context_.registers) != 0) return;
  _longjmp(to.registers, 1);
}

}  // namespace heddle::emulator

#include <cstring>
#include <string>

#include "tests/emulator/engine/scheduler.h"

namespace heddle::emulator {
namespace {

using heddle_emulator::ExchangeKind;

const char* name_of(ExchangeKind kind) {
  switch (kind) {
    case ExchangeKind::index:
      return "shuffle";
    case ExchangeKind::down:
      return "shuffle_down";
    case ExchangeKind::up:
      return "shuffle_up";
    case ExchangeKind::exclusive_or:
      return "shuffle_xor";
    case ExchangeKind::ballot:
      return "ballot";
    case ExchangeKind::barrier:
      return "warp_barrier";
  }
  return "exchange";
}

/// What is wrong with the lane's own arguments; empty when nothing.
std::string argument_fault(const Exchange& e) {
  const int width = e.width;
  if (width < 1 || width > warp_size || (width & (width - 1)) != 0) {
    return "width " + std::to_string(width) + " is not a power of two from 1 to 32";
  }
  if (e.operand >= 0 && e.operand < width) return {};
  const std::string outside = " reaches outside its group of " + std::to_string(width) + " lanes";
  switch (e.kind) {
    case ExchangeKind::index:
      return "lane " + std::to_string(e.operand) + outside;
    case ExchangeKind::down:
    case ExchangeKind::up:
      return "delta " + std::to_string(e.operand) + outside;
    case ExchangeKind::exclusive_or:
      return "lane mask " + std::to_string(e.operand) + outside;
    case ExchangeKind::ballot:
    case ExchangeKind::barrier:
      break;
  }
  return {};
}

/// Whether two lanes call the same thing; the lane of `index` may differ from lane to lane.
bool same_call(const Exchange& a, const Exchange& b) {
  return a.kind == b.kind && a.width == b.width && a.bytes == b.bytes &&
         (a.operand == b.operand || a.kind == ExchangeKind::index) &&
         a.place.line == b.place.line && std::strcmp(a.place.file, b.place.file) == 0;
}

int source_lane(const Exchange& e, int lane) {
  const int group = lane / e.width * e.width;
  const int within = lane - group;
  switch (e.kind) {
    case ExchangeKind::index:
      return group + e.operand;
    case ExchangeKind::down:
      return within + e.operand < e.width ? lane + e.operand : lane;
    case ExchangeKind::up:
      return within - e.operand >= 0 ? lane - e.operand : lane;
    case ExchangeKind::exclusive_or:
      return group + (within ^ e.operand);
    case ExchangeKind::ballot:
    case ExchangeKind::barrier:
      break;
  }
  return lane;
}

void move_values(const std::array<const Exchange*, warp_size>& lanes) {
  for (int lane = 0; lane < warp_size; ++lane) {
    const Exchange& e = *lanes[static_cast<std::size_t>(lane)];
    const Exchange& source = *lanes[static_cast<std::size_t>(source_lane(e, lane))];
    std::memcpy(e.out, source.in, static_cast<std::size_t>(e.bytes));
  }
}

void count_votes(const std::array<const Exchange*, warp_size>& lanes) {
  unsigned int votes = 0;
  for (int lane = 0; lane < warp_size; ++lane) {
    unsigned int vote = 0;
    std::memcpy(&vote, lanes[static_cast<std::size_t>(lane)]->in, sizeof(vote));
    votes |= vote << lane;
  }
  for (const Exchange* e : lanes) std::memcpy(e->out, &votes, sizeof(votes));
}

}  // namespace

/// Called by each lane; the last of its warp to come moves the values of all.
void Scheduler::exchange(const Exchange& exchange) {
  const auto complain = [&](const std::string& fault) {
    current_->place = exchange.place;
    fail(describe(*current_) + ", " + name_of(exchange.kind) + " " + whereabouts(*current_) + ": " +
         fault);
  };
  if (block_threads_ % warp_size != 0) {
    complain("the block has " + std::to_string(block_threads_) +
             " threads, so its last warp has lanes missing");
  }
  if (const std::string fault = argument_fault(exchange); !fault.empty()) complain(fault);
  Warp& warp = warps_[current_->number / warp_size];
  const std::uint32_t lane = current_->number % warp_size;
  current_->state = Thread::State::at_exchange;
  current_->place = exchange.place;
  warp.exchanges[lane] = &exchange;
  if (++warp.arrived < warp_size) return wait();

  warp.arrived = 0;
  for (std::uint32_t other = 0; other < warp_size; ++other) {
    if (same_call(exchange, *warp.exchanges[other])) continue;
    complain(std::string("lane ") + std::to_string(other) + " of the warp is in another call, " +
             name_of(warp.exchanges[other]->kind) + " with width " +
             std::to_string(warp.exchanges[other]->width) + " and operand " +
             std::to_string(warp.exchanges[other]->operand) + ", " +
             whereabouts(threads_[current_->number - lane + other]));
  }
  if (exchange.kind == ExchangeKind::ballot) {
    count_votes(warp.exchanges);
  } else {
    move_values(warp.exchanges);
  }
  for (std::uint32_t other = 0; other < warp_size; ++other) {
    make_ready(threads_[current_->number - lane + other]);
  }
  if (exchange.kind == ExchangeKind::barrier) {
    warp.barrier_time = step();
    install(*current_);
  }
}

}  // namespace heddle::emulator

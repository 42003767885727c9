#include "runtime/cuda/call_recordings.h"

#include <algorithm>

#include "heddle/error.h"

#include "runtime/base/log.h"
#include "runtime/base/statistics.h"

namespace heddle::runtime::cuda {

GraphSegment* CallRecordings::find(ArgumentSlots& arguments, const CallBuffers& run,
                                   ContextHandle context) {
  const auto found = std::ranges::find_if(
      recordings_, [&](const std::unique_ptr<Recording>& each) { return each->uses.hold(run); });
  if (found != recordings_.end()) {
    std::rotate(recordings_.begin(), found, found + 1);
    return recordings_.front()->graph.get();
  }
  if (!is_worthwhile(run)) return nullptr;
  ++made_;
  try {
    std::unique_ptr<Recording> made = record(arguments, run, context);
    if (recordings_.size() == most_kept) recordings_.pop_back();
    recordings_.insert(recordings_.begin(), std::move(made));
  } catch (const Error& failure) {
    log().debug("library calls are not captured: {}", failure.what());
    made_ = most_made;
    return nullptr;
  }
  return recordings_.front()->graph.get();
}

/// True for the first run, and for runs whose addresses and scalars have occurred before.
bool CallRecordings::is_worthwhile(const CallBuffers& run) {
  if (made_ == most_made) return false;
  if (recordings_.empty()) return true;
  const std::uint64_t hash = recordings_.front()->uses.hash(run);
  if (std::ranges::find(unserved_, hash) != unserved_.end()) return true;
  unserved_[next_unserved_++ % unserved_.size()] = hash;
  return false;
}

std::unique_ptr<CallRecordings::Recording> CallRecordings::record(ArgumentSlots& arguments,
                                                                  const CallBuffers& run,
                                                                  ContextHandle context) const {
  auto recording = std::make_unique<Recording>();
  recording->scratch = CallScratch::of(run.stream());
  recording->graph = std::make_unique<GraphSegment>(actions_, context);
  const Stream capturing = Stream::create(run.stream().device());
  for (std::size_t i = first_; i < last_; ++i) {
    if (actions_[i].kind != Action::Kind::call) {
      recording->graph->add(i, launcher_, arguments);
      continue;
    }
    StreamCapture capture = recording->graph->begin_capture(capturing);
    const RecordingBuffers buffers(run, capturing, recording->uses, *recording->scratch,
                                   recording->held);
    enqueue_call_(actions_[i], buffers);
    recording->graph->end_capture(capture, buffers.kernels());
    // Captured kernels have not been launched.
    statistics().kernel_launches.fetch_sub(buffers.kernels(), std::memory_order_relaxed);
  }
  recording->graph->instantiate();
  return recording;
}

}  // namespace heddle::runtime::cuda

#include "runtime/device/captured_source.h"

#include <cstring>
#include <memory>
#include <utility>

#include "runtime/device/backend.h"
#include "runtime/device/pinned.h"

namespace heddle::runtime {

namespace {

/// Its destruction needs no call of the driver.
class CapturedSource final : public GraphResource {
 public:
  explicit CapturedSource(std::shared_ptr<PinnedBlock> block) : block_(std::move(block)) {}
  void on_graph_destroyed() override {}

 private:
  std::shared_ptr<PinnedBlock> block_;
};

/// Permits this thread to allocate during a capture.
class RelaxedScope {
 public:
  explicit RelaxedScope(const Backend& backend)
      : backend_(backend), mode_(backend.relax_capturing()) {}
  ~RelaxedScope() { backend_.restore_capturing(mode_); }
  RelaxedScope(const RelaxedScope&) = delete;
  RelaxedScope& operator=(const RelaxedScope&) = delete;

 private:
  const Backend& backend_;
  int mode_;
};

}  // namespace

const void* kept_by_captured_graph(const void* from, std::size_t bytes, const Stream& stream) {
  const Backend& backend = backend_of(stream.device());
  const RelaxedScope relaxed(backend);
  std::shared_ptr<PinnedBlock> block = pinned_block_at(from, stream.device());
  const void* source = from;
  if (!block) {
    block = allocate_pinned(bytes, stream.device());
    std::memcpy(block->pointer(), from, bytes);
    source = block->pointer();
  }
  backend.retain_by_captured_graph(stream.handle(),
                                   std::make_unique<CapturedSource>(std::move(block)));
  return source;
}

}  // namespace heddle::runtime

#pragma once

#include <memory>
#include <optional>

#include "heddle/dlpack.h"

#include "frontend/exchange/foreign_memory.h"
#include "frontend/graph/node.h"
#include "runtime/device/memory.h"

namespace heddle::frontend {

/// Data that an exported array keeps alive. It may be released on any thread.
struct ExportedMemory {
  runtime::BufferRef buffer;
  std::optional<runtime::Stream> consumer = {};  ///< uses the memory until this is released
  Shape shape;
  Strides strides;
  dlpack::Tensor tensor{};
  std::uint64_t flags = 0;
};

/// Where elements lie in a value's memory. All counts are in elements.
struct ElementLayout {
  DType dtype;
  Shape shape;
  Strides strides;
  std::int64_t offset = 0;
};
/// Elements of an evaluated value as a tensor.
std::unique_ptr<ExportedMemory> exported_memory(const NodeRef& node, ElementLayout layout);
/// All elements of an evaluated value as a tensor.
std::unique_ptr<ExportedMemory> exported_memory(const NodeRef& node);

/// Makes the consumer's stream wait for the work that this thread has enqueued and for writes to
/// the memory. The memory is used again only after the consumer's work.
void order_before(ExportedMemory& exported, const runtime::Stream& consumer);

/// The structure to hand over, whose deleter releases the memory.
dlpack::VersionedTensor* versioned_tensor(std::unique_ptr<ExportedMemory> exported);
dlpack::ManagedTensor* unversioned_tensor(std::unique_ptr<ExportedMemory> exported);

}  // namespace heddle::frontend

#include "runtime/program_runner.h"

#include <algorithm>

#include "heddle/error.h"

#include "runtime/blas.h"
#include "runtime/sort.h"
#include "runtime/statistics.h"

namespace heddle::runtime {

namespace {

constexpr std::size_t kept_bindings = 8;

/// Memory of one run, from which steps' buffer references become pointers.
class Frame {
 public:
  Frame(const passes::Program& program, const Prepared& prepared,
        const std::vector<Argument>& arguments, Label label, Stream& stream)
      : program_(program),
        prepared_(prepared),
        arguments_(arguments),
        label_(std::move(label)),
        stream_(stream) {
    wait_for_inputs();
    own_donated_inputs();
    allocate_outputs();
    // Also of 0 bytes, when all temporaries are empty: kernels may still be given their addresses.
    if (!program.temporaries.empty()) {
      arena_ = allocate(static_cast<std::size_t>(prepared.arena.bytes), stream, label_);
    }
  }

  struct Memory {
    std::byte* pointer;
    std::size_t bytes;
  };

  Memory memory(const passes::BufferRef& reference) const {
    switch (reference.kind) {
      case passes::BufferRef::Kind::input:
        return of(input(reference.index));
      case passes::BufferRef::Kind::output:
        return of(outputs_[reference.index]);
      case passes::BufferRef::Kind::temporary:
        break;
    }
    const std::int64_t offset = prepared_.arena.offsets[reference.index];
    return {static_cast<std::byte*>(arena_->pointer()) + offset,
            static_cast<std::size_t>(prepared_.temporary_bytes[reference.index])};
  }

  const ir::ElementBits& scalar(std::uint32_t index) const {
    return std::get<ScalarArgument>(arguments_[index]).bits;
  }

  std::vector<DeviceArray> finish() {
    // Work that changed a donated buffer outside its own stream is waited for there, so that
    // whoever looks at the buffer next only has to know its own stream.
    for (const passes::ProgramOutput& output : program_.outputs) {
      if (!output.input) continue;
      Buffer& buffer = *input(*output.input).buffer;
      if (!(buffer.stream() == stream_) && buffer.device().is_cuda())
        buffer.stream().wait(Event(stream_));
    }
    return std::move(outputs_);
  }

 private:
  const DeviceArray& input(std::uint32_t index) const {
    const auto copied = std::find_if(copies_.begin(), copies_.end(),
                                     [&](const auto& copy) { return copy.first == index; });
    return copied != copies_.end() ? copied->second : std::get<DeviceArray>(arguments_[index]);
  }

  static Memory of(const DeviceArray& array) {
    return {static_cast<std::byte*>(array.buffer->pointer()) + array.offset,
            array.buffer->bytes() - static_cast<std::size_t>(array.offset)};
  }

  // An input that another stream made may still be in the making.
  void wait_for_inputs() {
    for (const Argument& argument : arguments_) {
      const auto* array = std::get_if<DeviceArray>(&argument);
      if (array == nullptr || !array->buffer || array->buffer->stream() == stream_) continue;
      if (array->buffer->device().is_cuda()) stream_.wait(Event(array->buffer->stream()));
      array->buffer->used_on(stream_);
    }
  }

  // What the program writes in place must be the caller's alone.
  void own_donated_inputs() {
    for (const passes::ProgramOutput& output : program_.outputs) {
      if (!output.input || !program_.inputs[*output.input].donated) continue;
      const DeviceArray& array = input(*output.input);
      if (array.buffer.unique() && array.buffer->pooled()) continue;
      const std::size_t bytes = bytes_of(array.type);
      DeviceArray copy_of{array.type, allocate(bytes, stream_, label_), 0};
      copy(copy_of.buffer->pointer(), stream_.device(), of(array).pointer, stream_.device(), bytes,
           stream_);
      copies_.emplace_back(*output.input, std::move(copy_of));
    }
  }

  static std::size_t bytes_of(const ir::Type& type) {
    std::size_t bytes = size_of(type.dtype);
    for (const ir::Dim extent : type.shape) bytes *= static_cast<std::size_t>(extent.constant());
    return bytes;
  }

  void allocate_outputs() {
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      const passes::ProgramOutput& output = program_.outputs[i];
      DeviceArray array;
      if (output.input) {
        array = input(*output.input);
      } else if (output.output) {
        array = outputs_[*output.output];
      } else {
        array.buffer =
            allocate(static_cast<std::size_t>(prepared_.output_bytes[i]), stream_, label_);
      }
      array.type = {output.type.dtype, prepared_.output_shapes[i]};
      outputs_.push_back(std::move(array));
    }
  }

  const passes::Program& program_;
  const Prepared& prepared_;
  const std::vector<Argument>& arguments_;
  std::vector<std::pair<std::uint32_t, DeviceArray>>
      copies_;  ///< of donated inputs that others hold too
  Label label_;
  Stream& stream_;
  std::vector<DeviceArray> outputs_;
  BufferRef arena_;
};

void launch_kernel(const passes::KernelStep& step, const PreparedKernel& prepared,
                   const Frame& frame, KernelLauncher& launcher, const Stream& stream) {
  if (prepared.blocks == 0) return;
  KernelArguments arguments;
  std::size_t next_size = 0;
  for (const passes::Parameter& parameter : step.parameters) {
    std::size_t bytes = 0;
    switch (parameter.kind) {
      case passes::Parameter::Kind::buffer: {
        const Frame::Memory memory = frame.memory(parameter.buffer);
        arguments.slots.emplace_back(reinterpret_cast<std::uint64_t>(memory.pointer));
        bytes = memory.bytes;
        if (parameter.cleared > 0) {
          const auto cleared = static_cast<std::size_t>(parameter.cleared * prepared.blocks);
          fill(memory.pointer, 0, cleared, stream);
        }
        break;
      }
      case passes::Parameter::Kind::size:
        arguments.slots.emplace_back(static_cast<std::uint64_t>(prepared.sizes[next_size++]));
        break;
      case passes::Parameter::Kind::scalar:
        arguments.slots.push_back(frame.scalar(parameter.scalar));
        break;
    }
    arguments.bytes.push_back(bytes);
  }
  launcher.launch(step, prepared.blocks, arguments, stream);
}

void multiply(const passes::MatmulStep& step, const ir::SymbolBindings& bindings,
              const Frame& frame, const Stream& stream) {
  const auto value = [&](ir::Dim dim) { return dim.evaluate(bindings); };
  Gemm product;
  product.dtype = step.dtype;
  product.precision = step.precision;
  product.rows = value(step.rows);
  product.columns = value(step.columns);
  product.depth = value(step.depth);
  product.batch = value(step.batch);
  product.a_leading = value(step.a_leading);
  product.b_leading = value(step.b_leading);
  product.a_transposed = step.a_transposed;
  product.b_transposed = step.b_transposed;
  product.a_batch_stride = value(step.a_batch_stride);
  product.b_batch_stride = value(step.b_batch_stride);
  product.out_batch_stride = value(step.out_batch_stride);
  if (product.rows == 0 || product.columns == 0 || product.batch == 0) return;
  const BufferRef workspace = allocate(blas_workspace_bytes(stream.device()), stream);
  gemm(product, frame.memory(step.a).pointer, frame.memory(step.b).pointer,
       frame.memory(step.out).pointer, workspace->pointer(), stream);
}

void sort(const passes::SortStep& step, const PreparedSort& prepared, const Frame& frame,
          KernelLauncher& launcher, const Stream& stream) {
  if (step.kernels) {
    for (const PreparedLaunch& launch : prepared.launches)
      launch_kernel(launch.step, launch.kernel, frame, launcher, stream);
    return;
  }
  sort_rows(step.dtype, step.indices, frame.memory(step.keys).pointer,
            frame.memory(step.out).pointer, frame.memory(step.scratch[0]).pointer, prepared.rows,
            prepared.length);
}

}  // namespace

std::shared_ptr<const Prepared> ProgramRunner::prepared_for(ir::SymbolBindings bindings,
                                                            const ir::Graph* graph) {
  const auto same = [&](const std::shared_ptr<const Prepared>& one) {
    return std::equal(
        one->bindings.begin(), one->bindings.end(), bindings.begin(), bindings.end(),
        [](const auto& a, const auto& b) { return a.symbol == b.symbol && a.value == b.value; });
  };
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(prepared_.begin(), prepared_.end(), same);
    if (found != prepared_.end()) {
      std::rotate(prepared_.begin(), found, found + 1);
      return prepared_.front();
    }
  }
  auto made = std::make_shared<const Prepared>(prepare(program_, std::move(bindings), graph));
  const std::lock_guard lock(mutex_);
  prepared_.insert(prepared_.begin(), made);
  if (prepared_.size() > kept_bindings) prepared_.pop_back();
  return made;
}

std::vector<DeviceArray> ProgramRunner::run(const std::vector<Argument>& arguments, Stream& stream,
                                            const ir::Graph* graph) {
  const std::shared_ptr<const Prepared> prepared =
      prepared_for(bind_arguments(program_, arguments), graph);
  Frame frame(program_, *prepared, arguments, label_, stream);
  for (std::size_t i = 0; i < program_.steps.size(); ++i) {
    const passes::Step& step = program_.steps[i];
    switch (step.kind) {
      case passes::Step::Kind::kernel:
        launch_kernel(step.kernel, prepared->kernels[i], frame, *launcher_, stream);
        break;
      case passes::Step::Kind::matmul:
        multiply(step.matmul, prepared->bindings, frame, stream);
        break;
      case passes::Step::Kind::sort:
        sort(step.sort, prepared->sorts[i], frame, *launcher_, stream);
        break;
      case passes::Step::Kind::zero:
        fill(frame.memory(step.zero.buffer).pointer, 0,
             static_cast<std::size_t>(step.zero.bytes.evaluate(prepared->bindings)), stream);
        break;
    }
  }
  statistics().program_launches.fetch_add(1, std::memory_order_relaxed);
  return frame.finish();
}

}  // namespace heddle::runtime

// A cuBLASLt that is a program of its own: it multiplies float32 matrices as its manual says,
// columns first, in its stream's turn and on the host, whose memory is the fake driver's device's.
// What it is asked for it appends to the file that HEDDLE_FAKE_CUBLASLT_LOG names. It has as many
// algorithms as HEDDLE_FAKE_CUBLASLT_ALGORITHMS says, which is one, of which the last is the
// fastest.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "runtime/cuda/libraries/cublaslt_abi.h"
#include "tests/runtime/fake_libraries/stream_order.h"

using namespace heddle::runtime::cublaslt;

namespace heddle::runtime::cublaslt {

struct HandleOpaque {};
struct OperationOpaque {
  std::int32_t transpose_a = 0, transpose_b = 0;
  std::uint32_t epilogue = epilogues::none;
  const float* bias = nullptr;
};
struct LayoutOpaque {
  std::int64_t rows = 0, columns = 0, leading = 0;
  std::int32_t batch = 1;
  std::int64_t stride = 0;
};
struct PreferenceOpaque {
  std::uint64_t workspace = 0;
  std::uint32_t reductions = 7, alignments[4] = {256, 256, 256, 256};
};

}  // namespace heddle::runtime::cublaslt

namespace {

constexpr std::uint64_t made_here = 0x48444cab;

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr ? text : "";
}

void note(const std::string& line) {
  std::ofstream(variable("HEDDLE_FAKE_CUBLASLT_LOG"), std::ios::app) << line << "\n";
}

Status asked(const std::string& call) {
  note(call);
  return variable("HEDDLE_FAKE_CUBLASLT_REFUSES") == call ? Status::not_supported : Status::success;
}

std::uint64_t algorithms() {
  const std::string count = variable("HEDDLE_FAKE_CUBLASLT_ALGORITHMS");
  return count.empty() ? 1 : std::stoul(count);
}

float element(const void* matrix, const LayoutOpaque& layout, std::int64_t batch, std::int64_t row,
              std::int64_t column) {
  return static_cast<const float*>(matrix)[batch * layout.stride + column * layout.leading + row];
}

float finished(float value, std::uint32_t epilogue) {
  if ((epilogue & epilogues::relu) != 0) return std::max(value, 0.0f);
  if ((epilogue & epilogues::gelu) != 0)
    return 0.5f * value *
           (1 + std::tanh(0.7978845608f * (value + 0.044715f * value * value * value)));
  return value;
}

}  // namespace

extern "C" {

Status cublasLtCreate(Handle* handle) {
  if (variable("HEDDLE_FAKE_CUBLASLT_REFUSES") == "create") return Status::not_supported;
  return *handle = new HandleOpaque, Status::success;
}
std::size_t cublasLtGetVersion() {
  const std::string version = variable("HEDDLE_FAKE_CUBLASLT_VERSION");
  return version.empty() ? 130000 : std::stoul(version);
}
const char* cublasLtGetStatusString(Status) { return "the fake library says so"; }

Status cublasLtMatmulDescCreate(Operation* operation, ComputeType, DataType) {
  return *operation = new OperationOpaque, Status::success;
}
Status cublasLtMatmulDescDestroy(Operation operation) { return delete operation, Status::success; }
Status cublasLtMatmulDescSetAttribute(Operation operation, OperationAttribute attribute,
                                      const void* value, std::size_t bytes) {
  void* const targets[] = {&operation->transpose_a, &operation->transpose_b, &operation->epilogue,
                           &operation->bias};
  const OperationAttribute names[] = {OperationAttribute::transpose_a,
                                      OperationAttribute::transpose_b, OperationAttribute::epilogue,
                                      OperationAttribute::bias_pointer};
  for (std::size_t i = 0; i < 4; ++i) {
    const bool is_pointer = i == 3;
    if (names[i] != attribute) continue;
    if (bytes != (is_pointer ? 8u : 4u)) return Status::invalid_value;
    std::memcpy(targets[i], value, bytes);
    return Status::success;
  }
  return Status::invalid_value;
}

Status cublasLtMatrixLayoutCreate(Layout* layout, DataType type, std::uint64_t rows,
                                  std::uint64_t columns, std::int64_t leading) {
  if (type != DataType::f32 || leading < static_cast<std::int64_t>(rows))
    return Status::invalid_value;
  *layout = new LayoutOpaque{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns),
                             leading};
  return Status::success;
}
Status cublasLtMatrixLayoutDestroy(Layout layout) { return delete layout, Status::success; }
Status cublasLtMatrixLayoutSetAttribute(Layout layout, LayoutAttribute attribute, const void* value,
                                        std::size_t bytes) {
  const bool is_count = attribute == LayoutAttribute::batch_count;
  if (bytes != (is_count ? 4u : 8u)) return Status::invalid_value;
  std::memcpy(is_count ? static_cast<void*>(&layout->batch) : &layout->stride, value, bytes);
  return Status::success;
}

Status cublasLtMatmulPreferenceCreate(Preference* preference) {
  return *preference = new PreferenceOpaque, Status::success;
}
Status cublasLtMatmulPreferenceDestroy(Preference preference) {
  return delete preference, Status::success;
}
Status cublasLtMatmulPreferenceSetAttribute(Preference preference, PreferenceAttribute attribute,
                                            const void* value, std::size_t bytes) {
  if (attribute == PreferenceAttribute::max_workspace_bytes) {
    if (bytes != 8) return Status::invalid_value;
    return std::memcpy(&preference->workspace, value, bytes), Status::success;
  }
  if (bytes != 4) return Status::invalid_value;
  const int place =
      static_cast<int>(attribute) - static_cast<int>(PreferenceAttribute::min_alignment_a_bytes);
  std::memcpy(place < 0 ? &preference->reductions : &preference->alignments[place], value, bytes);
  return Status::success;
}

Status cublasLtMatmulAlgoGetHeuristic(Handle, Operation, Layout, Layout, Layout, Layout,
                                      Preference preference, int wanted, HeuristicResult* results,
                                      int* found) {
  *found = 0;
  if (wanted < 1 || preference->workspace == 0 ||
      preference->reductions != reduction_in_compute_type)
    return Status::invalid_value;
  const Status status = asked("heuristic");
  if (status != Status::success) return status;
  for (; *found < wanted && static_cast<std::uint64_t>(*found) < algorithms(); ++*found) {
    HeuristicResult& result = results[*found];
    result = {};
    result.algorithm.data[0] = made_here;
    result.algorithm.data[1] = static_cast<std::uint64_t>(*found);
    result.workspace_bytes = 1024;
  }
  return Status::success;
}

Status cublasLtMatmulAlgoCheck(Handle, Operation, Layout, Layout, Layout, Layout,
                               const Algorithm* algorithm, HeuristicResult* result) {
  result->workspace_bytes = 1024;
  const Status status = asked("check");
  return algorithm->data[0] == made_here ? status : Status::invalid_value;
}

Status cublasLtMatmul(Handle, Operation operation, const void* alpha, const void* a,
                      Layout a_layout, const void* b, Layout b_layout, const void* beta,
                      const void* c, Layout c_layout, void* d, Layout d_layout,
                      const Algorithm* algorithm, void* workspace, std::size_t workspace_bytes,
                      heddle::runtime::cuda::StreamHandle stream) {
  const std::uint64_t number = algorithm->data[1];
  const Status status = asked(algorithms() == 1 ? "matmul" : "matmul" + std::to_string(number));
  if (status != Status::success) return status;
  std::this_thread::sleep_for(std::chrono::milliseconds(2 * (algorithms() - 1 - number)));
  const bool usable = algorithm->data[0] == made_here && workspace != nullptr;
  if (!usable || workspace_bytes != 1024) return Status::invalid_value;
  const float scale = *static_cast<const float*>(alpha), more = *static_cast<const float*>(beta);
  enqueue(stream, [=, operation = *operation, a_layout = *a_layout, b_layout = *b_layout,
                   c_layout = *c_layout, d_layout = *d_layout] {
    const std::int64_t depth = operation.transpose_a != 0 ? a_layout.rows : a_layout.columns;
    for (std::int64_t i = 0; i < d_layout.batch; ++i) {
      for (std::int64_t column = 0; column < d_layout.columns; ++column) {
        for (std::int64_t row = 0; row < d_layout.rows; ++row) {
          float sum = 0;
          for (std::int64_t k = 0; k < depth; ++k) {
            sum += (operation.transpose_a != 0 ? element(a, a_layout, i, k, row)
                                               : element(a, a_layout, i, row, k)) *
                   (operation.transpose_b != 0 ? element(b, b_layout, i, column, k)
                                               : element(b, b_layout, i, k, column));
          }
          float value = scale * sum;
          if (more != 0) value += more * element(c, c_layout, i, row, column);
          if ((operation.epilogue & epilogues::bias) != 0) value += operation.bias[row];
          static_cast<float*>(d)[i * d_layout.stride + column * d_layout.leading + row] =
              finished(value, operation.epilogue);
        }
      }
    }
  });
  return Status::success;
}

}  // extern "C"

#include "runtime/cuda/examination.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/base/dynamic_library.h"
#include "runtime/cuda/devices.h"
#include "runtime/cuda/libraries/blas.h"
#include "runtime/cuda/libraries/curand.h"
#include "runtime/cuda/libraries/cusolver.h"
#include "runtime/cuda/libraries/nccl.h"
#include "runtime/cuda/nvrtc.h"

namespace heddle::runtime::cuda {

namespace {

std::vector<Finding> gpu_findings() {
  std::vector<Finding> findings;
  const int count = device_count();
  if (!available() || count == 0) {
    const std::string& reason = unavailable_reason();
    findings.push_back(missing("GPU", reason.empty() ? "the driver reports no GPU" : reason,
                               "Programs run on the CPU. To use a GPU, install NVIDIA's driver, "
                               "and check that CUDA_VISIBLE_DEVICES does not hide the GPU. To "
                               "compile for another machine's GPU, use 'heddle warm'."));
    return findings;
  }
  const int version = driver_version();
  Finding driver;
  driver.name = "driver";
  driver.text = fmt::format("supports CUDA {}.{}", version / 1000, version % 1000 / 10);
  driver.facts = {{"cuda", version}};
  for (const LibraryReport& report : library_reports()) {
    if (!report.title.starts_with("the CUDA driver")) continue;
    driver.text += ", at " + report.path;
    driver.facts["path"] = report.path;
  }
  findings.push_back(std::move(driver));
  for (int i = 0; i < count; ++i) {
    findings.push_back(
        device_finding(fmt::format("GPU {}", i), {DeviceKind::cuda, i}, "multiprocessors"));
  }
  return findings;
}

Finding nvrtc_finding() {
  if (!nvrtc::available()) {
    return missing("NVRTC", nvrtc::unavailable_reason(),
                   "CUDA programs are loaded from the cache only. Install NVRTC: pip install "
                   "nvidia-cuda-nvrtc, or set HEDDLE_NVRTC to its file.");
  }
  Finding finding;
  finding.name = "NVRTC";
  const std::vector<int>& architectures = nvrtc::supported_architectures();
  finding.text = fmt::format("{}, for sm_{}, at {}", nvrtc::version(),
                             fmt::join(architectures, " sm_"), nvrtc::path());
  finding.facts = {
      {"version", nvrtc::version()}, {"path", nvrtc::path()}, {"architectures", architectures}};
  return finding;
}

}  // namespace

std::vector<Finding> examine() {
  std::vector<Finding> findings = gpu_findings();
  findings.push_back(nvrtc_finding());
  findings.push_back(
      library_finding("cuBLAS", blas().unavailable_reason(), "matmul on a GPU needs it."));
  findings.push_back(library_finding(
      "cuBLASLt", blas().epilogues_unavailable_reason(),
      "Fusing matmul with the ops after it needs it; otherwise they take two steps."));
  findings.push_back(
      library_finding("cuSOLVER", cusolver::unavailable_reason(), "linalg on a GPU needs it."));
  findings.push_back(library_finding("cuRAND", curand_unavailable_reason(),
                                     "random::bulk needs it; random::Generator does not."));
  findings.push_back(library_finding("NCCL", nccl::unavailable_reason(),
                                     "Exchanging arrays among GPUs needs it."));
  return findings;
}

}  // namespace heddle::runtime::cuda

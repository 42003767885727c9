#pragma once

#include <string>
#include <vector>

#include "ir/graph/graph.h"

namespace heddle::runtime {

/// A user's CUDA code: a text with kernels, or a file with compiled ones.
struct RawSource {
  std::string name;                           ///< of the kernel or the module, for messages
  std::string code = {};                      ///< CUDA C++; empty if `path` is set
  std::string path = {};                      ///< of a cubin, a fatbin or PTX
  std::vector<std::string> options = {};      ///< of NVRTC
  std::vector<std::string> expressions = {};  ///< templated kernels and globals to instantiate:
                                              ///< "scale<float>"
  bool cooperative = false;                   ///< launches are cooperative
  ir::Location line = {};                     ///< where the user made it; in messages only
};

}  // namespace heddle::runtime

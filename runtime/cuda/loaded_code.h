#pragma once

#include <map>
#include <memory>
#include <string>

#include "runtime/compile/raw_source.h"
#include "runtime/cuda/module.h"

namespace heddle::runtime::cuda {

/// A user's code in a GPU's memory.
struct LoadedCode {
  std::unique_ptr<CudaModule> module;
  std::map<std::string, std::string> symbols;  ///< of name expressions: their names in the module
};

/// The code on a GPU. Texts that were used lately stay loaded, so that a program may make the same
/// kernel again and again. Throws CompileError, DeviceError, FileError.
std::shared_ptr<const LoadedCode> loaded_code(const RawSource& source, int ordinal);

}  // namespace heddle::runtime::cuda

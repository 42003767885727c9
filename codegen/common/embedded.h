#pragma once

#include <array>
#include <span>
#include <string_view>

namespace heddle::codegen {

/// A file of ir/scalar/, codegen/device/ or codegen/page/, embedded when Heddle is built
/// (cmake/HeddleEmbed.cmake).
struct EmbeddedText {
  std::string_view path;  ///< relative to the root of the tree: "ir/scalar/arithmetic.h"
  std::string_view text;
};

/// Sorted by path.
std::span<const EmbeddedText> embedded_texts();
/// The files of codegen/page/, sorted by path.
std::span<const EmbeddedText> page_texts();

/// SHA-256 in hex of the sources of ir/, passes/ and codegen/. It is part of a program's key, so
/// that cache entries of another Heddle version are not used.
std::string_view source_fingerprint();

}  // namespace heddle::codegen

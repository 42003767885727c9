#pragma once

#include <string_view>

#include "ir/graph/graph.h"

/// "[n,64]" as a shape.
heddle::ir::Shape shape_of(std::string_view text);
/// "f32[n,64]" as a type.
heddle::ir::Type type_of(std::string_view text);

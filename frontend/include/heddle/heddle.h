#pragma once

/// \file
/// Everything of Heddle's C++ interface. Users write `namespace hd = heddle;`.

#include "heddle/array.h"
#include "heddle/creation.h"
#include "heddle/elementwise.h"
#include "heddle/indexing.h"
#include "heddle/io.h"
#include "heddle/jit.h"
#include "heddle/linear_algebra.h"
#include "heddle/manipulation.h"
#include "heddle/reductions.h"
#include "heddle/settings.h"

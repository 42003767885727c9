#pragma once

/// \file
/// Everything of Heddle's C++ interface. Users write `namespace hd = heddle;`.

#include "heddle/array.h"
#include "heddle/creation.h"
#include "heddle/differences.h"
#include "heddle/dtype_info.h"
#include "heddle/elementwise.h"
#include "heddle/grids.h"
#include "heddle/indexing.h"
#include "heddle/io.h"
#include "heddle/jit.h"
#include "heddle/joining.h"
#include "heddle/linear_algebra.h"
#include "heddle/manipulation.h"
#include "heddle/matrices.h"
#include "heddle/polynomials.h"
#include "heddle/rearranging.h"
#include "heddle/reductions.h"
#include "heddle/scans.h"
#include "heddle/selection.h"
#include "heddle/settings.h"
#include "heddle/statistics.h"

// SPDX-License-Identifier: BSL-1.0
// Out: heed's version, as the preprocessor compares it: `#if HEED_VERSION >= 200` asks for 0.2.0. CMakeLists.txt reads it
// from here. Semantic versions: before 1.0 a new minor version may break what stood in the one before.
#pragma once

#define HEED_VERSION_MAJOR 0
#define HEED_VERSION_MINOR 1
#define HEED_VERSION_PATCH 0
#define HEED_VERSION (HEED_VERSION_MAJOR * 10000 + HEED_VERSION_MINOR * 100 + HEED_VERSION_PATCH)

// SPDX-License-Identifier: BSL-1.0
// heed is headers only. A program of many files may compile the loops once instead of in each of them: define
// HEED_SEPARATE_COMPILATION for all its files, and include this header in exactly one of them. (CMake: link heed::kernels, which
// does both.) All files must be compiled for the same instruction set; those for another one bring their own file like this one.
#pragma once

#include "kernel/instances.hpp"

HEED_KERNEL_INSTANCES(template)

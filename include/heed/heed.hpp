// SPDX-License-Identifier: BSL-1.0
// heed: attention, written once in the notation of the paper, checked by the compiler, run as fused SIMD loops.
// The includes below, read from top to bottom, are the way of the data: names, data, words, plan, loops, results.
// Start with ops/dot.hpp and ops/reduce.hpp for the words, evaluate.hpp for running them. nn.hpp, which is not included
// here, has the usual layers made of them.
#pragma once

// The order is the contents.
// clang-format off
#include "version.hpp"          // HEED_VERSION
#include "arch.hpp"             // flags: the instruction set, and what is refused
#include "axis.hpp"             // names: tags, extents, the algebra of axes (Boost.Hana)
#include "check.hpp"            // how a mistake is said, at compile time and at run time
#include "mistakes.hpp"         // the rules that an expression must keep, and their sentences
#include "storage.hpp"          // bf16 and f16, types to store in
#include "tensor.hpp"           // data: tensor, view, leaf
#include "expression.hpp"       // the tree: every node on one screen
#include "ops/elementwise.hpp"  // + - * /, functions, comparisons, casts
#include "ops/index.hpp"        // coordinates and masks: where, causal, window, alibi
#include "ops/reduce.hpp"       // softmax, log_sum_exp, sum, mean, max, norms
#include "ops/dot.hpp"          // contraction
#include "ops/rename.hpp"       // one tag in another's place
#include "ops/shape.hpp"        // rename, split, merge, slice, at, roll, expect
#include "ops/gather.hpp"       // take, concat, stack, let, dropout, combine
#include "ops/rope.hpp"         // rotary positions
#include "ops/calls.hpp"        // calls that no word takes
#include "ops/concepts.hpp"     // can_softmax, can_split, ...: true where a word compiles
#include "loops.hpp"            // what plan and kernels say to each other; tile sizes
#include "plan/lower.hpp"       // tree in, stages out
#include "kernel/stream.hpp"    // the loops: xsimd in kernel/simd.hpp, OpenMP in kernel/parallel.hpp
#include "kernel/instances.hpp" // the loops that one file can compile for all: src.hpp
#include "program.hpp"          // flat trees to programs, axes to numbers
#include "runner.hpp"           // stages to kernels
#include "evaluate.hpp"         // evaluate, evaluate_into, explain
#include "cache.hpp"            // kv_cache, packed
// clang-format on

// SPDX-License-Identifier: BSL-1.0
// The file whose precompiled headers the tests share; it has nothing of its own.

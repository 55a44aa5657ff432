// SPDX-License-Identifier: BSL-1.0
// In: flags that heed refuses, and its first header by another flag. Out: the sentence that refuses them.

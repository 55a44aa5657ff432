// SPDX-License-Identifier: BSL-1.0
// In: an expression of heed. Out: the implementation that evaluates it into one tensor, with one workspace.
// Next to read: heed_attention.cpp.
#pragma once

#include "cell.hpp"
#include <heed/heed.hpp>

namespace peers {

/// Steady state, as in a model's loop: destination and workspace stay. The expression owns its tensors' memory.
template <class E> implementation heed_run(E const& e, bool fused) {
  auto const schedule = fused ? heed::fused : heed::unfused;
  auto const memory = std::make_shared<heed::workspace>();
  auto const policy = [=](int threads) {
    return heed::policy{.schedule = schedule, .threads = threads, .memory = memory.get()};
  };
  auto const out = std::make_shared<decltype(heed::evaluate(policy(1), e))>();
  return {.run =
              [=](int threads) {
                if (out->size() == 0)
                  *out = heed::evaluate(policy(threads), e);
                else
                  heed::evaluate_into(policy(threads), *out, e);
              },
          .result = [=] { return std::span<float const>(out->data(), static_cast<std::size_t>(out->size())); }};
}

template <class Tensor> void copy(std::vector<float> const& from, Tensor& to) {
  if (static_cast<std::size_t>(to.size()) != from.size()) throw std::logic_error("an array of another size");
  std::copy(from.begin(), from.end(), to.begin());
}

}  // namespace peers

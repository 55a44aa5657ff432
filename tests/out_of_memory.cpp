// SPDX-License-Identifier: BSL-1.0
// In: formulas of every kind of stage, run with every single allocation failing in turn, once it alone and once all that
// follow. Out: std::bad_alloc and nothing else; inputs, destinations, caches and workspace are as they were, and the next
// run gives the right bits.
// Next: words_memory.cpp, which counts allocations.
#include "support/allocations.hpp"
#include "support/layer.hpp"
#include "support/parameters.hpp"

#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

using namespace heed;
using namespace test;

namespace {

/// The bytes of everything that must not change.
template <class... Tensor> std::vector<char> bytes_of(const Tensor&... tensors) {
  std::vector<char> all;
  ((all.insert(all.end(), reinterpret_cast<const char*>(tensors.data()),
               reinterpret_cast<const char*>(tensors.data() + tensors.size()))),
   ...);
  return all;
}

/// Lets allocation 0, 1, 2, ... of the action fail (from_then: and all that follow) until it succeeds; after each failure
/// held() must be what it was before. How many failed.
template <class Action, class Held> long fail_each_allocation(Action action, Held held, bool from_then) {
  constexpr long most = 400;
  const auto before = held();
  for (long limit = 0; limit < most; ++limit) {
    bool refused = false;
    const long failed_before = allocations_failed;
    fails_from_then = from_then;
    allocations_left = limit;
    try {
      action();
    } catch (const std::bad_alloc&) {
      refused = true;
    }
    allocations_left = -1;
    if (refused)
      BOOST_TEST_REQUIRE((held() == before), "changed by the failure of allocation " << limit);
    else if (allocations_failed == failed_before)  // else a workspace did without what it was refused
      return limit;
  }
  BOOST_TEST_REQUIRE(false, "more allocations than expected");
  return most;
}

constexpr double untouched = -7;
template <class T, class... A> void reset(tensor<T, A...>& t) {
  for (T& element : t) element = to_element<T>(untouched);
}

/// evaluate_into(policy, std::tie(destination...), ...) under every schedule, with 1 and 2 threads, with and without a workspace:
/// run(policy) is to write all destinations. Afterwards they hold what a run with memory enough gives.
template <class Run, class... Input, class... Destination>
void check_destinations(Run run, const std::tuple<const Input&...>& inputs, Destination&... destination) {
  const auto held = [&] {
    return std::apply([&](const auto&... input) { return bytes_of(input..., destination...); }, inputs);
  };
  for (const schedule how : {fused, unfused})
    for (const int threads : {1, 2})
      for (const bool in_workspace : {false, true})
        BOOST_TEST_CONTEXT((how == fused ? "fused" : "unfused")
                           << ", threads " << threads << (in_workspace ? ", a workspace" : "")) {
          (reset(destination), ...);
          run(policy{.schedule = how});
          const auto want = held();
          const auto action = [&] {
            workspace fresh;  // no memory of an earlier run helps
            run(policy{.schedule = how, .threads = threads, .memory = in_workspace ? &fresh : nullptr});
          };
          for (const bool from_then : {true, false}) {
            (reset(destination), ...);
            const long failures = fail_each_allocation(action, held, from_then);
            BOOST_TEST(failures > 0);
            BOOST_TEST((held() == want));
          }
        }
}

template <class Cache> std::vector<char> bytes_of_cache(const Cache& cache) {
  return bytes_of(evaluate(cache.keys.view()), evaluate(cache.values.view()));
}

/// append() adds five positions to the five of the cache, or where it throws, none; inputs() stay as they are.
template <class Cache, class Inputs, class Append> void check_appended(Cache& cache, Inputs inputs, Append append) {
  const auto held = [&] {
    return std::tuple(inputs(), bytes_of_cache(cache), cache.keys.length(), cache.values.length());
  };
  const auto before = held();
  for (const bool from_then : {true, false})
    for (const int threads : {1, 2}) {
      cache.how.threads = threads;
      BOOST_TEST(fail_each_allocation(append, held, from_then) > 0);
      BOOST_TEST(cache.keys.length() == 10);
      BOOST_TEST(cache.values.length() == 10);
      cache.truncate(5);
      BOOST_TEST((held() == before));
    }
}

struct source : axis<> {};  // the positions of a memory

struct operands {
  tensor<float, head, query, d_head> q = normal<float, head, query, d_head>(1, head{2}, query{40}, d_head{16});
  tensor<float, head, key, d_head> k = normal<float, head, key, d_head>(2, head{2}, key{130}, d_head{16});
  tensor<float, head, key, d_value> v = normal<float, head, key, d_value>(3, head{2}, key{130}, d_value{16});
  tensor<float, query, key> bias = normal<float, query, key>(4, query{40}, key{130});

  auto scores() const { return dot<d_head>(q, k) * 0.25F; }
  auto context() const { return dot<key>(softmax<key>(where(causal<query, key>(90), scores() + bias)), v); }
};

struct layer : layer_tensors {
  auto expression() const {
    const auto n = layer_norm<model>(x, 1.F, 0.F);
    const auto k = rename<query, key>(dot<model>(n, w_k)), v = rename<query, key>(dot<model>(n, w_v));
    const auto weights = softmax<key>(where(causal<query, key>(), dot<d_head>(dot<model>(n, w_q), k) * 0.25F));
    return x + dot<head, d_head>(dot<key>(weights, v), w_o);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(out_of_memory)

BOOST_AUTO_TEST_CASE(one_result) {
  const operands o;
  tensor<float, head, query, d_value> c{head{2}, query{40}, d_value{16}};
  check_destinations([&](const policy& p) { evaluate_into(p, c, o.context()); }, std::tie(o.q, o.k, o.v, o.bias), c);
  tensor<float, head, query, key> products{head{2}, query{40}, key{130}};
  check_destinations([&](const policy& p) { evaluate_into(p, products, o.scores()); }, std::tie(o.q, o.k), products);
  const layer l;
  tensor<float, query, model> y{query{40}, model{32}};
  check_destinations([&](const policy& p) { evaluate_into(p, y, l.expression()); }, std::tie(l.x, l.w_q, l.w_o), y);
}

// The product of what a mask excludes and what is not finite is found only when the result is written.
BOOST_AUTO_TEST_CASE(poisoned_values) {
  operands o;
  for (extent_t h = 0; h < 2; ++h) o.v(h, 129, 3) = std::numeric_limits<float>::quiet_NaN();
  const auto weights = where(index<key>() < 129, o.scores());
  tensor<float, head, query, d_value> c{head{2}, query{40}, d_value{16}};
  tensor<bf16, head, query, d_value> narrow{head{2}, query{40}, d_value{16}};
  const auto inputs = std::tie(std::as_const(o.q), std::as_const(o.k), std::as_const(o.v), std::as_const(o.bias));
  check_destinations([&](const policy& p) { evaluate_into(p, c, dot<key>(weights, o.v)); }, inputs, c);
  check_destinations([&](const policy& p) { evaluate_into(p, narrow, dot<key>(weights, o.v)); }, inputs, narrow);
  check_destinations([&](const policy& p) { evaluate_into(p, c, dot<key>(weights, o.v) * 2); }, inputs, c);
  check_destinations([&](const policy& p) { evaluate_into(p, c, o.context()); }, inputs, c);
}

// The first is small and written first; the last ones need more memory than any before them.
BOOST_AUTO_TEST_CASE(several_results) {
  const operands o;
  const auto scores = o.scores();
  const auto norms = sum<d_head>(o.q * o.q);
  const auto lse = log_sum_exp<key>(scores);
  tensor<float, head, query> n{head{2}, query{40}}, l{head{2}, query{40}};
  tensor<float, head, query, d_value> c{head{2}, query{40}, d_value{16}};
  check_destinations(
      [&](const policy& p) {
        evaluate_into(p, std::tie(n, c, l), norms, dot<key>(softmax<key>(scores + o.bias), o.v), lse);
      },
      std::tie(o.q, o.k, o.v, o.bias), n, c, l);
  // products that an excluded element takes part in, and weights that are read once more
  tensor<float, head, query, key> w{head{2}, query{40}, key{130}};
  const auto weights = softmax<key>(where(causal<query, key>(90), scores));
  check_destinations(
      [&](const policy& p) { evaluate_into(p, std::tie(n, w, c), norms, weights, dot<key>(weights, o.v)); },
      std::tie(o.q, o.k, o.v), n, w, c);
}

BOOST_AUTO_TEST_CASE(results_over_inputs) {
  const layer l;
  tensor<float, query, model> x = l.x, y{query{40}, model{32}};
  const auto with = [&](const policy& p) {
    evaluate_into(x, l.x);  // counted, too: a failure leaves x as it is
    evaluate_into(p, std::tie(y, x), x * 2,
                  dot<hidden>(relu(dot<model>(x, rename<head, hidden>(at<d_head>(l.w_q, 0)))),
                              rename<head, hidden>(at<d_head>(l.w_o, 3))));
  };
  const auto want = [&] {
    with({});
    return bytes_of(x, y);
  }();
  std::copy(l.x.begin(), l.x.end(), x.begin());
  for (const bool from_then : {true, false}) {
    std::copy(l.x.begin(), l.x.end(), x.begin());
    reset(y);
    BOOST_TEST(fail_each_allocation([&] { with({}); }, [&] { return bytes_of(l.x, x, y); }, from_then) > 0);
    BOOST_TEST((bytes_of(x, y) == want));
  }
}

// A feed-forward network so wide that it goes band by band: none is written before all have their memory.
BOOST_AUTO_TEST_CASE(bands) {
  const auto x = normal<float, query, model>(1, query{194}, model{192});
  const auto w_1 = normal<float, model, hidden>(2, model{192}, hidden{23000});
  const auto w_2 = normal<float, hidden, d_value>(3, hidden{23000}, d_value{192});
  const auto e = dot<hidden>(relu(dot<model>(x, w_1)), w_2);
  const std::string plan = explain(e).str();
  BOOST_TEST(plan.find("2 bands") != plan.npos, plan);
  tensor<float, query, d_value> y{query{194}, d_value{192}};
  reset(y);
  const auto want = evaluate(e);
  BOOST_TEST(fail_each_allocation([&] { evaluate_into(y, e); }, [&] { return bytes_of(y); }, false) > 0);
  BOOST_TEST(identical(y, want));
}

BOOST_AUTO_TEST_CASE(caches) {
  const auto rows = normal<float, key, head, d_head>(1, key{5}, head{2}, d_head{8});
  const auto q = normal<float, head, query, d_head>(2, head{2}, query{1}, d_head{8});
  const tensor<std::int32_t, head> turned = row<std::int32_t, head>({1, 0});
  kv_cache<float, key, head, d_head> cache{key{20}, head{2}, d_head{8}};
  cache.append(rows);
  const auto held = [&] {
    const auto now = evaluate<key, head, d_head>(cache.view());
    return bytes_of(rows, now);
  };
  const auto each = [&](auto action) {
    for (const bool from_then : {true, false}) {
      const extent_t before = cache.length();
      BOOST_TEST(fail_each_allocation(action, held, from_then) > 0);
      if (cache.length() > before) cache.truncate(before);
    }
  };
  each([&] { cache.append(softmax<d_head>(rows) * 2); });
  tensor<float, head, query, d_head> c{head{2}, query{1}, d_head{8}};
  each([&] { evaluate_into(c, dot<key>(softmax<key>(dot<d_head>(q, cache.view())), cache.view())); });
  each([&] { cache.template reorder<head>(turned); });
  BOOST_TEST(identical(evaluate<key, head, d_head>(cache.view()), rows));  // turned twice
  each([&] { cache.drop(1, 2); });
  BOOST_TEST(cache.length() == 3);
}

// Keys and values of a layer: both are stored or neither, whether a layer stores them or the user.
BOOST_AUTO_TEST_CASE(caches_of_layers) {
  using parameters = nn::attention_parameters<float, model, head, d_head>;
  parameters p{model{32}, head{2}, d_head{16}};
  fill_parameters(p, 3);
  const auto x = normal<float, query, model>(1, query{5}, model{32});
  nn::attention_cache<bf16, parameters, key> cache{key{20}, head{2}, d_head{16}};
  (void)nn::multi_head_attention<query, key>(x, p, cache);
  const auto inputs = [&] { return bytes_of(x, p.w_q, p.w_k, p.w_v, p.w_o); };
  const auto rows = normal<float, key, head, d_head>(2, key{5}, head{2}, d_head{16});
  check_appended(cache, inputs, [&] { cache.append(softmax<d_head>(rows) * 2, rms_norm<d_head>(rows, 1.F)); });
  check_appended(cache, inputs, [&] { (void)nn::multi_head_attention<query, key>(x, p, cache); });
  const auto y = nn::multi_head_attention<query, key>(x, p, cache);
  tensor<float, query, model> into{query{5}, model{32}};
  check_destinations([&](const policy& how) { evaluate_into(how, into, y); },
                     std::tie(x, std::as_const(p.w_q), std::as_const(p.w_o)), into);
}

// A whole decoder layer, with a memory and without: it computes and stores its keys and values when it is called.
BOOST_AUTO_TEST_CASE(caches_of_decoder_layers) {
  using self = nn::attention_parameters<float, model_16, head_2, d_head_8>;
  using cross = nn::attention_parameters<float, model_16, head_2, d_head_8, d_value_6, memory_12>;
  using feed_forward = nn::feed_forward_parameters<float, model_16, hidden_20>;
  using norm = nn::layer_norm_parameters<float, model_16>;
  const auto x = normal<float, query, model_16>(1, query{5});
  const auto memory = normal<float, source, memory_12>(2, source{9});
  nn::decoder_layer_parameters<self, cross, feed_forward, norm> p;
  nn::encoder_layer_parameters<self, feed_forward, norm> q;
  fill_parameters(p, 3);
  fill_parameters(q, 50);
  const auto check_layer = [&](const auto& parameters, auto layer) {
    nn::attention_cache<bf16, self, key> cache{key{20}};
    (void)layer(cache);
    const auto inputs = [&] {
      std::vector<char> all = bytes_of(x, memory);
      nn::for_each_parameter(parameters, [&](const auto& tensor) {
        const auto bytes = bytes_of(tensor);
        all.insert(all.end(), bytes.begin(), bytes.end());
      });
      return all;
    };
    check_appended(cache, inputs, [&] { (void)layer(cache); });
    const auto y = layer(cache);
    tensor<float, query, model_16> into{query{5}};
    const auto before = bytes_of_cache(cache);
    check_destinations([&](const policy& how) { evaluate_into(how, into, y); }, std::tie(x, memory), into);
    BOOST_TEST((bytes_of_cache(cache) == before));
  };
  check_layer(p,
              [&](auto& cache) { return nn::decoder_layer<query, key, source>(nn::post_norm, x, memory, p, cache); });
  check_layer(q, [&](auto& cache) { return nn::decoder_layer<query, key>(nn::pre_norm, x, q, cache); });
}

// What is assigned to a variable gets its memory before the variable loses its own, which expressions may share.
BOOST_AUTO_TEST_CASE(assignment_to_a_variable) {
  const operands o;
  const auto small = normal<float, head, query, d_value>(5, head{1}, query{3}, d_value{7});
  const auto large = normal<float, head, query, d_value>(6, head{3}, query{50}, d_value{16});
  auto t = small, u = large;
  const auto held = [&] {
    return std::tuple(bytes_of(o.q, o.k, o.v, o.bias, small, large, t, u), t.data(), t.extent<head>(),
                      t.extent<query>(), t.extent<d_value>(), u.data(), u.extent<query>());
  };
  const auto each = [&](auto assign, const auto& want_t, const auto& want_u) {
    for (const bool from_then : {true, false}) {
      t = small, u = large;
      const auto earlier = t + 0;
      BOOST_TEST(fail_each_allocation(assign, held, from_then) > 0);
      BOOST_TEST(identical(t, want_t));
      BOOST_TEST(identical(u, want_u));
      BOOST_TEST(identical(evaluate(earlier), small));
    }
  };
  each([&] { t = large; }, large, large);
  each([&] { u = small; }, small, small);
  for (const schedule how : {fused, unfused})
    for (const int threads : {1, 2})
      for (const bool in_workspace : {false, true})
        BOOST_TEST_CONTEXT((how == fused ? "fused" : "unfused")
                           << ", threads " << threads << (in_workspace ? ", a workspace" : "")) {
          const auto with = [&](auto run) {
            return [&, run] {
              workspace fresh;  // no memory of an earlier run helps
              run(policy{.schedule = how, .threads = threads, .memory = in_workspace ? &fresh : nullptr});
            };
          };
          const policy plain{.schedule = how};
          const auto context = evaluate<head, query, d_value>(plain, o.context());
          const auto doubled = evaluate(plain, softmax<d_value>(small) * 2 + small * 0);
          const auto over_t = [&] { return softmax<d_value>(small) * 2 + t * 0; };  // the same again, once t is that
          each(with([&](const policy& p) { t = evaluate<head, query, d_value>(p, o.context()); }), context, large);
          each(with([&](const policy& p) { t = evaluate(p, over_t()); }), doubled, large);
          each(with([&](const policy& p) { std::tie(t, u) = evaluate(p, over_t(), o.context()); }), doubled, context);
        }
}

// A snapshot for the kernels that gets no memory leaves its weight and the snapshots before it.
BOOST_AUTO_TEST_CASE(packed_weights) {
  const auto w = normal<float, model, hidden>(1, model{40}, hidden{130});
  const auto narrow = normal<bf16, model, hidden>(2, model{40}, hidden{130});
  const auto x = normal<float, query, model>(3, query{7}, model{40});
  auto ready = packed<model>(w);
  const auto want = evaluate(dot<model>(x, ready));
  const auto held = [&] {
    const auto y = evaluate(dot<model>(x, ready));
    return bytes_of(x, w, narrow, y);
  };
  for (const bool from_then : {true, false}) {
    BOOST_TEST(fail_each_allocation([&] { ready = packed<model>(w); }, held, from_then) > 0);
    BOOST_TEST(fail_each_allocation([&] { ready = packed<model>(w * 1); }, held, from_then) > 0);
    BOOST_TEST(fail_each_allocation([&] { (void)packed<model>(narrow); }, held, from_then) > 0);
  }
  BOOST_TEST(identical(evaluate(dot<model>(x, ready)), want));
  tensor<float, query, hidden> into{query{7}, hidden{130}};
  check_destinations([&](const policy& how) { evaluate_into(how, into, relu(dot<model>(x, ready))); }, std::tie(x, w),
                     into);
}

// Bad ids, too, are found before the first of several results is written.
BOOST_AUTO_TEST_CASE(ids_out_of_range) {
  const auto table = counted<float, model, d_head>(model{4}, d_head{3});
  const tensor<std::int32_t, query> ids = row<std::int32_t, query>({0, 9});
  tensor<float, model, d_head> doubled{model{4}, d_head{3}};
  tensor<float, query, d_head> taken{query{2}, d_head{3}};
  for (const schedule how : {fused, unfused}) {
    reset(doubled), reset(taken);
    const auto before = bytes_of(doubled, taken);
    BOOST_TEST(throws<std::out_of_range>(
        [&] { evaluate_into(how, std::tie(doubled, taken), table * 2, take<model>(table, ids)); }));
    BOOST_TEST((bytes_of(doubled, taken) == before));
  }
}

BOOST_AUTO_TEST_SUITE_END()

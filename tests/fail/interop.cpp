// SPDX-License-Identifier: BSL-1.0
// In: wrong uses of views of other libraries' arrays, and of maps of heed's. Out: one error each.
// Next: ../interop/eigen.cpp, what works and what is refused at run time.
// page: arrays of other libraries
#include <heed/heed.hpp>
#include <heed/interop/eigen.hpp>

namespace {

using namespace heed;
struct batch : axis<2> {};
struct query : axis<> {};
struct d_head : axis<64> {};

}  // namespace

int main() {
  Eigen::MatrixXf m(12, 64);
  Eigen::Matrix<float, 12, 32> narrow;
  tensor<float, batch, query, d_head> q{query{12}};

  {
    // mistake 1: An array gets another number of axes than it has
    // says: view_of: the array has rank 2, the axes are (query)
    // literal: view_of: the array has another rank
#if HEED_MISTAKE == 1
    const auto v = interop::view_of<query>(m);
#else
    const auto v = interop::view_of<query, d_head>(m);
#endif
  }
  {
    // mistake 2: An array gets an axis whose extent its type contradicts
    // why: Extents that either type leaves open are compared at run time.
    // says: view_of: axis d_head has extent 64, the array has 32
    // literal: view_of: the array has another extent
#if HEED_MISTAKE == 2
    const auto v = interop::view_of<query, d_head>(narrow);
#else
    const auto v = interop::view_of<query, d_head>(m);
#endif
  }
  {
    // mistake 3: A view of an array that is gone at the end of the line
    // says: view_of: the Matrix is a temporary, its elements would be gone before they are read (give it a name)
    // literal: view_of: the array is a temporary, its elements would be gone before they are read (give it a name)
#if HEED_MISTAKE == 3
    const auto v = interop::view_of<query, d_head>(Eigen::MatrixXf(m * 2.f));
#else
    const Eigen::MatrixXf twice = m * 2.f;
    const auto v = interop::view_of<query, d_head>(twice);
#endif
  }
  {
    // mistake 4: A view of another library's expression
    // says: view_of: CwiseBinaryOp is no array in memory that the included headers of heed/interop know
    // literal: view_of: it is no array in memory that the included headers of heed/interop know
#if HEED_MISTAKE == 4
    const auto v = interop::view_of<query, d_head>(m + m);
#else
    const Eigen::MatrixXf twice = m + m;
    const auto v = interop::view_of<query, d_head>(twice);
#endif
  }
  {
    // mistake 5: A map of three axes
    // says: eigen_map: a matrix has two axes and a vector one, but the axes are (batch, query, d_head) (take a part,
    // as in at<batch>(x, 0), or merge axes)
    // literal: eigen_map: a matrix has two axes and a vector one
#if HEED_MISTAKE == 5
    const auto e = interop::eigen_map(q);
#else
    const auto e = interop::eigen_map(at<batch>(q, 0));
#endif
  }
  {
    // mistake 6: A map of an expression
    // says: eigen_map: an expression with axes (query, d_head) has no elements yet: say evaluate(...)
    // literal: an expression has no elements yet: say evaluate(...)
#if HEED_MISTAKE == 6
    const auto e = interop::eigen_map(at<batch>(q, 0) * 2.f);
#else
    const tensor twice = evaluate(at<batch>(q, 0) * 2.f);
    const auto e = interop::eigen_map(twice);
#endif
  }
}

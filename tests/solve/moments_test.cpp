#include "solve/moments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "reference.hpp"

namespace mfga {
namespace {

// Calls body for all sorted tuples of this length.
void for_each_tuple(Index n_inputs, int length, const std::function<void(const std::vector<Index>&)>& body) {
  std::vector<Index> tuple(static_cast<std::size_t>(length), 0);
  for (;;) {
    if (std::is_sorted(tuple.begin(), tuple.end())) body(tuple);
    std::size_t i = 0;
    while (i < tuple.size() && ++tuple[i] == n_inputs) tuple[i++] = 0;
    if (i == tuple.size()) return;
  }
}

TEST(Moments, EveryTupleHasAPlaceOfItsOwn) {
  for (const Index n_inputs : {1, 2, 5, 7}) {
    const MomentLayout layout(n_inputs, 6);
    std::set<Index> taken;
    Index count = 0;
    for (int order = 0; order <= 6; ++order) {
      for_each_tuple(n_inputs, order, [&](const std::vector<Index>& tuple) {
        const Index position = layout.position(tuple);
        EXPECT_GE(position, layout.first(order));
        EXPECT_LT(position, layout.first(order + 1));
        EXPECT_TRUE(taken.insert(position).second) << position;
        if (order > 2) {
          EXPECT_GE(position, layout.first_with_middle(order, tuple[1]));
        }
        ++count;
      });
    }
    EXPECT_EQ(MomentLayout::count(n_inputs, 6), static_cast<double>(count));
    // Of an order 2 the lower triangle is there, too; else there is no room left.
    EXPECT_EQ(layout.first(7), count + n_inputs * (n_inputs - 1) / 2);
  }
}

TEST(Moments, AreSumsOfProducts) {
  constexpr Index kRows = 77;
  const Matrix x = reference::random_matrix(kRows, 8, 1);
  const std::vector<double> weights = reference::random_vector(kRows, 2);
  for (const Index n_inputs : {1, 3, 8}) {
    const BlockedRows rows(x.view(), reference::plain_inputs(n_inputs));
    Arena arena;
    const RowBlock block = rows.load(0, arena);
    const MomentLayout layout(n_inputs, 5);
    std::vector<double> moments(static_cast<std::size_t>(layout.first(6)));
    // In two parts, as if the rows belonged to two groups.
    for (const auto& [first, count] : {std::pair<Index, Index>{0, 30}, {30, kRows - 30}}) {
      const RowMoments part(block, first, count, arena);
      for (int order = 0; order <= 5; ++order) {
        if (order <= 2)
          part.add_low_order(order, weights.data() + first, moments.data() + layout.first(order));
        for (Index input = 0; order > 2 && input < n_inputs; ++input) {
          part.add_with_middle(order, input, weights.data() + first,
                               moments.data() + layout.first_with_middle(order, input));
        }
      }
    }
    for (int order = 0; order <= 5; ++order) {
      for_each_tuple(n_inputs, order, [&](const std::vector<Index>& tuple) {
        double expected = 0;
        for (Index i = 0; i < kRows; ++i) {
          double product = weights[static_cast<std::size_t>(i)];
          for (const Index input : tuple) product *= x(i, input);
          expected += product;
        }
        EXPECT_NEAR(moments[static_cast<std::size_t>(layout.position(tuple))], expected,
                    1e-11 * (1 + std::abs(expected)));
      });
    }
  }
}

}  // namespace
}  // namespace mfga

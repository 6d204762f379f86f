// Products of all candidates looked at so far, so that other sets made of them are fitted without another
// pass over the rows.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "solve/engine.hpp"

namespace mfga {

class KnownProducts {
 public:
  KnownProducts(const Candidates& candidates, Engine& engine) : candidates_(candidates), engine_(engine) {}

  // As Engine::products gives them if nothing is active: [list x (1 + target columns + list)], the columns
  // being 1, the targets and the list.
  [[nodiscard]] Matrix of(std::span<const Index> list);
  // For one of a problem with so many target columns.
  void archive(Archive& bytes, Index target_columns);

 private:
  [[nodiscard]] Matrix looked_up(std::span<const Index> list) const;
  void learn(std::span<const Index> list);
  // `products` of the list with the known ones and with one another.
  void append(const std::vector<Index>& list, const Matrix& products);
  // Keeps the memory bounded.
  void forget_all_but(std::span<const Index> list);

  const Candidates& candidates_;
  Engine& engine_;
  ActiveSet known_;                        // without coefficients
  Index first_atom_ = 0;                   // among products: after those with 1 and the targets
  std::vector<std::vector<double>> rows_;  // of the known ones: with 1, the targets, those before, and itself
  std::unordered_map<Index, Index> place_;  // in known_
};

}  // namespace mfga

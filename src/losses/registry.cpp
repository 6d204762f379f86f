#include <array>

#include "losses/logistic.hpp"
#include "losses/loss.hpp"
#include "losses/squared.hpp"

namespace mfga {

std::span<const Loss* const> losses() {
  static const std::array<const Loss*, 2> all = {&squared_loss(), &logistic_loss()};
  return all;
}

const Loss* find_loss(std::string_view name) {
  for (const Loss* loss : losses()) {
    if (loss->name() == name) return loss;
  }
  return nullptr;
}

}  // namespace mfga

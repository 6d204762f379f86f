// One fit repeated with several seeds: mean and standard error of what is measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace mfga::cli {

struct Evaluations {
  Evaluation train;
  std::optional<Evaluation> test;
};

class RepeatedEvaluations {
 public:
  void add(const Evaluations& evaluations);
  [[nodiscard]] std::size_t count() const { return train_.size(); }
  // Null for a single fit.
  [[nodiscard]] Json to_json() const;
  // One line for the training rows and one for the test, each with a line end; empty for a single fit.
  [[nodiscard]] std::string to_text() const;

 private:
  std::vector<Json> train_;  // what to_json(Evaluation) gives: numbers by name
  std::vector<Json> test_;
};

}  // namespace mfga::cli

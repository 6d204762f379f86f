// What refits share that take the curvature of the loss to be the same for all rows and outputs: the Hessian
// of the objective is then h (A^T A + (2 ridge / h) D) for every output, where the first column of A is 1 for
// the intercept, D is 0 there and 1 elsewhere, and sums over rows are by their weights. Its factor grows with
// the active set.
#pragma once

#include <span>
#include <vector>

#include "solve/growing_cholesky.hpp"
#include "solve/refit.hpp"

namespace mfga {

class FactoredRefit : public Refit {
 public:
  FactoredRefit(const Problem& problem, const Penalty& penalty, double curvature);

  void append(std::span<const double> products) override;
  [[nodiscard]] bool needs_products() const final { return true; }
  [[nodiscard]] Matrix explained(const Matrix& cross) final;
  [[nodiscard]] std::vector<double> drop_costs(const ActiveSet& active) final;
  [[nodiscard]] Matrix orthonormal_combinations(Index first) const final;
  [[nodiscard]] std::vector<double> hessian(double ridge) const final;
  void archive(Archive& bytes) override { bytes(rows_, factor_); }
  [[nodiscard]] bool is_of(Index atoms) const override;

 protected:
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const Penalty& penalty() const { return penalty_; }
  // 1 if there is an intercept.
  [[nodiscard]] Index offset() const { return offset_; }
  // Of the intercept, if there is one, and the atoms.
  [[nodiscard]] Index size() const { return std::ssize(rows_); }
  [[nodiscard]] double curvature() const { return curvature_; }
  [[nodiscard]] const std::vector<std::vector<double>>& gram_rows() const { return rows_; }
  [[nodiscard]] const GrowingCholesky& factor() const { return factor_; }

 private:
  void append_row(std::vector<double> row, double ridge);

  Problem problem_;
  Penalty penalty_;
  Index offset_;
  double curvature_;
  std::vector<std::vector<double>> rows_;  // lower triangle of A^T A
  GrowingCholesky factor_;
};

}  // namespace mfga

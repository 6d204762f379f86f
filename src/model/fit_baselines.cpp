// The methods that the paper compares with.
#include <fmt/format.h>

#include "baselines/kernel_machine.hpp"
#include "baselines/random_features.hpp"
#include "core/random.hpp"
#include "mfga/error.hpp"
#include "model/fitter.hpp"
#include "solve/atom_products.hpp"
#include "solve/independent_atoms.hpp"

namespace mfga {

void Fitter::learn_random_features() {
  const bool draws_only = options_.method == "rks";
  const Index n_candidates = draws_only                ? options_.terms
                             : options_.candidates > 0 ? options_.candidates
                                                       : 10 * options_.terms;
  refuse_if_too_large(n_candidates);
  const double sigma = width_of_kernel();
  report().prepare_seconds = lap();
  if (validation_ != nullptr) {
    choose_ridge({options_.terms}, [&](const Folds& folds) { return losses_by_fits(folds); });
  }
  const auto score_start = Clock::now();
  const std::vector<Atom> atoms = choose_random_features(
      problem(), {options_.method, options_.terms, n_candidates, sigma, options_.seed});
  if (!draws_only) report().score_seconds = seconds_since(score_start);
  report().candidates = n_candidates;
  report().features = fmt::format("fourier(count={})", n_candidates);
  report().engine = "lazy";
  report().sigmas = {sigma};

  const auto fit_start = Clock::now();
  const auto refit = make_refit();
  IndependentAtoms independent(problem(), *refit);
  const std::vector<bool> accepted = independent.add(
      atom_products(rows_, target_.values, atoms, static_cast<Index>(atoms.size()), workers_));
  ActiveSet active;
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    const auto text = [&] { return describe(atoms[i], model().formula_names()).text; };
    if (accepted[i]) {
      active.candidates.push_back(static_cast<Index>(i));
      active.atoms.push_back(atoms[i]);
    } else {
      report().dependent_atoms.push_back(text());
    }
  }
  const RefitReport refit_report = refit->solve(active);
  const double loss = refit_report.loss_sum ? *refit_report.loss_sum : loss_sum(problem(), active.score());
  const double risk = loss / static_cast<double>(rows_.rows());
  report().fit_seconds = seconds_since(fit_start);
  add_terms(active);
  record_one_step(risk, refit_report.ridge, refit_report.newton_steps);
  warn_of_leverage(active, *refit, refit_report.ridge);
  finish(refit_report.ridge, risk, refit_report.converged);
}

void Fitter::refuse_if_too_large(Index n_candidates) const {
  // Frequencies of the candidates, sums over rows for each shard, and the Gram matrix of the terms.
  const double inputs = static_cast<double>(rows_.inputs());
  const double terms = static_cast<double>(options_.terms);
  const double bytes =
      sizeof(double) * (static_cast<double>(n_candidates) * (inputs + 32) + terms * (inputs + 10 * terms));
  if (bytes <= memory_limit_bytes(options_)) return;
  throw Error(
      ErrorKind::kInvalidArgument,
      fmt::format(
          "{} random features and {} terms need {:.1f} MiB; the limit is {:.1f} MiB. Use fewer, or raise "
          "--memory-limit",
          n_candidates, options_.terms, bytes * 0x1p-20, memory_limit_bytes(options_) * 0x1p-20));
}

void Fitter::learn_with_kernel() {
  if (options_.norm_bound > 0) {
    throw Error(ErrorKind::kInvalidArgument, "--norm-bound is not possible with gk and glk; use --ridge");
  }
  for (const double ridge :
       validation_ != nullptr ? validation_->ridges : std::vector<double>{options_.ridge}) {
    if (ridge > 0) continue;
    throw Error(ErrorKind::kInvalidArgument, "--ridge must be positive for gk and glk");
  }
  const auto n_rows = static_cast<Index>(options_.subsample * static_cast<double>(rows_.rows()));
  if (n_rows < kFewestRows) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("--subsample {} leaves {} rows; at least {} are needed", options_.subsample,
                            n_rows, kFewestRows));
  }
  const double bytes = KernelMachine::bytes(static_cast<double>(n_rows), static_cast<double>(rows_.inputs()));
  if (bytes > memory_limit_bytes(options_)) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format(
            "the kernel matrix of {} rows needs {:.1f} MiB; the limit is {:.1f} MiB. Use fewer rows with "
            "--subsample, or raise --memory-limit",
            n_rows, bytes * 0x1p-20, memory_limit_bytes(options_) * 0x1p-20));
  }
  const double sigma = width_of_kernel();
  report().prepare_seconds = lap();
  if (validation_ != nullptr) {
    choose_ridge({options_.method == "gk" ? n_rows : n_rows + rows_.inputs()},
                 [&](const Folds& folds) { return losses_by_fits(folds); });
  }
  report().features = options_.method == "gk" ? "gaussian kernel" : "linear kernel + gaussian kernel";
  report().engine = "exact";
  report().candidates = n_rows;
  report().sigmas = {sigma};

  const auto fit_start = Clock::now();
  const std::vector<Index> chosen =
      random_rows(rows_.rows(), n_rows, options_.seed, RandomStream::kSubsample);
  std::vector<double> targets;
  for (const Index row : chosen) targets.push_back(target_.values[static_cast<std::size_t>(row)]);
  KernelMachine machine(rows_, chosen, sigma, workers_);
  if (options_.method == "glk") machine.add_linear_kernel();
  const KernelSolution solution = machine.solve(targets, *target_.loss, penalty_.ridge, settings_.intercept);
  report().fit_seconds = seconds_since(fit_start);
  model().terms = machine.terms(solution);
  model().intercept = solution.intercept + target_.offset;
  const double risk = solution.loss_sum / static_cast<double>(n_rows);
  record_one_step(risk, penalty_.ridge, solution.newton_steps);
  finish(penalty_.ridge, risk, solution.converged);
}

}  // namespace mfga

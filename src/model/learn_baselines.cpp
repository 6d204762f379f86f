// The methods that the paper compares with.
#include <fmt/format.h>

#include <chrono>

#include "baselines/kernel_machine.hpp"
#include "baselines/random_features.hpp"
#include "core/random.hpp"
#include "mfga/error.hpp"
#include "model/learners.hpp"
#include "solve/atom_products.hpp"
#include "solve/independent_atoms.hpp"

namespace mfga {
namespace {

Index count_of_candidates(const Plan& plan) {
  return plan.paper.method == paper::Method::kRks ? plan.terms
         : plan.paper.candidates > 0              ? plan.paper.candidates
                                                  : 10 * plan.terms;
}

double risk_of_constant(const Problem& problem) {
  return loss_sum(problem, ScoreFunction({}, {}, problem.best_constants())) / problem.count();
}

// Methods that choose all their terms at once have a path of one step.
void record_one_step(Learned& learned, Index terms, double seconds, int newton_steps) {
  learned.path.push_back({{}, {}, terms, learned.risk, 0, learned.ridge, seconds, newton_steps});
}

}  // namespace

void check_random_features(const Plan& plan, const PreparedData& data) {
  // Frequencies of the candidates, sums over rows for each shard, and the Gram matrix of the terms.
  const Index n_candidates = count_of_candidates(plan);
  const double inputs = static_cast<double>(data.rows.inputs());
  const double terms = static_cast<double>(plan.terms);
  const double bytes =
      sizeof(double) * (static_cast<double>(n_candidates) * (inputs + 32) + terms * (inputs + 10 * terms));
  if (bytes <= memory_limit_bytes(plan.options)) return;
  throw Error(
      ErrorKind::kInvalidArgument,
      fmt::format(
          "{} random features and {} terms need {:.1f} MiB; the limit is {:.1f} MiB. Use fewer, or raise "
          "`memory_limit`",
          n_candidates, plan.terms, bytes * 0x1p-20, memory_limit_bytes(plan.options) * 0x1p-20));
}

Learned learn_random_features(Work& work, const PreparedData& data, double ridge, double sigma) {
  const FitOptions& options = work.plan.options;
  const Problem problem = data.problem(work.workers);
  const Index n_candidates = count_of_candidates(work.plan);
  const double begin = work.plan.times.seconds();
  const std::vector<Atom> atoms = choose_random_features(
      problem, {work.plan.paper.method, work.plan.terms, n_candidates, sigma, options.seed});
  const double chosen = work.plan.times.seconds();
  if (work.plan.paper.method != paper::Method::kRks) work.report.score_seconds = chosen - begin;
  const Penalty penalty{work.plan.penalty.norm_bound > 0 ? 0 : ridge, work.plan.penalty.norm_bound};
  std::unique_ptr<Refit> refit = make_refit(problem, penalty);
  IndependentAtoms independent(problem, *refit);
  const std::vector<bool> accepted = independent.add(
      atom_products(data.rows, data.target.values, atoms, static_cast<Index>(atoms.size()), work.workers));
  Learned learned;
  learned.engine = "lazy";
  learned.features = fmt::format("fourier(count={})", n_candidates);
  learned.candidates = n_candidates;
  learned.sigmas = {sigma};
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    if (accepted[i]) {
      learned.active.candidates.push_back(static_cast<Index>(i));
      learned.active.atoms.push_back(atoms[i]);
    } else {
      learned.dependent_atoms.push_back(describe(atoms[i], work.names).text);
    }
  }
  const RefitReport report = refit->solve(learned.active);
  const double loss = report.loss_sum ? *report.loss_sum : loss_sum(problem, learned.score());
  learned.risk = loss / problem.count();
  learned.ridge = report.ridge;
  learned.converged = report.converged;
  learned.initial_risk = risk_of_constant(problem);
  record_one_step(learned, learned.active.size(), work.plan.times.seconds() - chosen, report.newton_steps);
  if (problem.outputs() == 1) learned.hessian = refit->hessian(learned.ridge);
  return learned;
}

Index check_kernel(const Plan& plan, const PreparedData& data) {
  const FitOptions& options = plan.options;
  if (plan.paper.norm_bound > 0) {
    throw Error(ErrorKind::kInvalidArgument, "`norm_bound` is not possible with gk and glk; use `ridge`");
  }
  for (const double ridge : plan.ridges()) {
    if (ridge > 0) continue;
    throw Error(ErrorKind::kInvalidArgument, "`ridge` must be positive for gk and glk");
  }
  const auto n_rows = static_cast<Index>(plan.paper.subsample * static_cast<double>(data.rows.rows()));
  if (n_rows < kFewestRows) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`subsample={}` leaves {} rows; at least {} are needed", plan.paper.subsample,
                            n_rows, kFewestRows));
  }
  const double bytes =
      KernelMachine::bytes(static_cast<double>(n_rows), static_cast<double>(data.rows.inputs()));
  if (bytes > memory_limit_bytes(options)) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format(
            "the kernel matrix of {} rows needs {:.1f} MiB; the limit is {:.1f} MiB. Use fewer rows with "
            "`subsample`, or raise `memory_limit`",
            n_rows, bytes * 0x1p-20, memory_limit_bytes(options) * 0x1p-20));
  }
  return n_rows;
}

Learned learn_with_kernel(Work& work, const PreparedData& data, double ridge, double sigma) {
  const FitOptions& options = work.plan.options;
  const Index n_rows = check_kernel(work.plan, data);
  const double begin = work.plan.times.seconds();
  const std::vector<Index> chosen =
      random_rows(data.rows.rows(), n_rows, options.seed, RandomStream::kSubsample);
  const PreparedData some = data.subset(chosen, &work.workers);
  KernelMachine machine(data.rows, chosen, sigma, work.workers);
  if (work.plan.paper.method == paper::Method::kGlk) machine.add_linear_kernel();
  const KernelSolution solution = machine.solve(some.target.values, *data.target.loss, ridge, data.intercept);
  Learned learned;
  learned.engine = "exact";
  learned.features =
      work.plan.paper.method == paper::Method::kGk ? "gaussian kernel" : "linear kernel + gaussian kernel";
  learned.candidates = n_rows;
  learned.sigmas = {sigma};
  for (Term& term : machine.terms(solution)) {
    learned.active.candidates.push_back(-1);
    learned.active.atoms.push_back(std::move(term.atom));
    learned.active.theta.push_back(term.coefficients.front());
  }
  learned.active.intercepts = {solution.intercept};
  learned.ridge = ridge;
  learned.risk = solution.loss_sum / some.rows.total_weight();
  learned.converged = solution.converged;
  learned.initial_risk = risk_of_constant(data.problem(work.workers));
  record_one_step(learned, learned.active.size(), work.plan.times.seconds() - begin, solution.newton_steps);
  return learned;
}

}  // namespace mfga

// What all parts of a fit share: its clock, its progress, and what a learner hands over.
#include "mfga/fit.hpp"
#include "model/learners.hpp"

namespace mfga {

void Learned::tell(const PreparedTarget& target, Model& model, FitReport& report) const {
  for (std::size_t i = 0; i < active.atoms.size(); ++i) {
    const std::span<const double> theta = active.theta_of(i);
    model.terms.push_back({active.atoms[i], {theta.begin(), theta.end()}});
  }
  for (std::size_t k = 0; k < model.outputs.size(); ++k)
    model.outputs[k].intercept = active.intercepts[k] + target.outputs[k].intercept;
  report.engine = engine;
  report.features = features;
  report.candidates = candidates;
  report.sigmas = sigmas;
  report.kernel_weights = kernel_weights;
  report.dependent_atoms = dependent_atoms;
  report.initial_risk = initial_risk;
  report.path = path;
}

double Work::lap() {
  const double now = plan.times.seconds();
  const double seconds = now - last_lap;
  last_lap = now;
  return seconds;
}

void Work::show_search(Index terms, double risk, int tuning_steps) const {
  Progress state{terms, plan.terms, risk, plan.times.seconds()};
  state.tuning_steps = tuning_steps;
  state.phase = phase;
  state.done = done;
  workers.show(state);
}

void Work::show_validation(double part) const {
  if (part >= 1) return;
  stop_if_over(plan.times.deadline(Timetable::kPartOfValidation));
  Progress state;
  state.validated = part;
  state.seconds = plan.times.seconds();
  workers.show(state);
}

}  // namespace mfga

// Derivatives of atoms on a device. It answers by the numbers that the steps of a function hold; how these
// change with an atom's coordinates is found here from two atoms nearby, which takes nothing that grows with
// the rows.
#include <algorithm>
#include <cmath>

#include "device/row_functions.hpp"
#include "device/row_values.hpp"
#include "solve/device_problem.hpp"

namespace mfga {
namespace {

// Moves by so much of a coordinate's unit: what central differences lose by rounding and by curvature is some
// 1e-11 then.
constexpr double kNearby = 1e-5;

class AtomFunction {
 public:
  AtomFunction(const Atom& atom, Index n_inputs)
      : atom_(atom), family_(*find_feature_family(atom.family)), n_inputs_(n_inputs) {
    for (const Coordinate& coordinate : family_.coordinates(atom)) {
      coordinates_.push_back(coordinate);
      values_.push_back(coordinate.value);
    }
  }

  // Appends the atom itself.
  [[nodiscard]] bool append_to(RowFunctions& functions) const { return append_atom(atom_, functions); }

  // out[k] += sum over its steps of by_number * d(number)/d(coordinate k). False if the steps are others
  // nearby.
  [[nodiscard]] bool add_derivatives(std::span<const double> by_number, std::span<const RowStep> steps,
                                     std::span<double> out) const {
    // Places on inputs that steps tell apart are moved together.
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k < coordinates_.size(); ++k)
      if (coordinates_[k].input >= 0) places.push_back(k);
    const bool together = places.size() > 2 && add_of_places(places, by_number, steps, out);
    for (std::size_t k = 0; k < coordinates_.size(); ++k) {
      if (together && coordinates_[k].input >= 0) continue;
      std::vector<double> rates(steps.size());
      if (!rates_of_change({&k, 1}, rates)) return false;
      for (std::size_t s = 0; s < rates.size(); ++s) out[k] += by_number[s] * rates[s];
    }
    return true;
  }

  [[nodiscard]] std::size_t coordinates() const { return coordinates_.size(); }

 private:
  [[nodiscard]] bool append_atom(const Atom& atom, RowFunctions& functions) const {
    ExpressionGraph graph;
    return append(graph, family_.expression(atom, input_expressions(n_inputs_, graph), graph), functions);
  }

  // How the number of each step changes where these coordinates are moved by as much as their units say, all
  // at once, per move of each.
  [[nodiscard]] bool rates_of_change(std::span<const std::size_t> moved, std::span<double> rates) const {
    RowFunctions nearby[2];
    for (const int side : {0, 1}) {
      std::vector<double> values = values_;
      for (const std::size_t k : moved) values[k] += (side == 0 ? -kNearby : kNearby) * coordinates_[k].unit;
      if (!append_atom(family_.moved(atom_, values), nearby[side])) return false;
    }
    const auto same_kind = [](const RowStep& a, const RowStep& b) {
      return a.kind == b.kind && a.position == b.position && a.count == b.count;
    };
    if (nearby[0].steps.size() != rates.size() || nearby[0].tables != nearby[1].tables ||
        !std::ranges::equal(nearby[0].steps, nearby[1].steps, same_kind))
      return false;
    const double distance = 2 * kNearby * coordinates_[moved.front()].unit;
    for (std::size_t s = 0; s < rates.size(); ++s)
      rates[s] = (nearby[1].steps[s].number - nearby[0].steps[s].number) / distance;
    return true;
  }

  // The steps that a place changes look at its input, such as those of a distance.
  [[nodiscard]] bool add_of_places(const std::vector<std::size_t>& places, std::span<const double> by_number,
                                   std::span<const RowStep> steps, std::span<double> out) const {
    std::vector<std::size_t> place_on(static_cast<std::size_t>(n_inputs_), coordinates_.size());
    for (const std::size_t k : places) {
      std::size_t& place = place_on[static_cast<std::size_t>(coordinates_[k].input)];
      if (place != coordinates_.size() || coordinates_[k].unit != coordinates_[places.front()].unit)
        return false;
      place = k;
    }
    std::vector<double> rates(steps.size());
    if (!rates_of_change(places, rates)) return false;
    const auto owner = [&](const RowStep& step) {
      const bool is_of_input = step.kind == RowStep::Kind::kAddSquare ||
                               step.kind == RowStep::Kind::kAddDistance ||
                               step.kind == RowStep::Kind::kAddInput;
      return is_of_input ? place_on[static_cast<std::size_t>(step.position)] : coordinates_.size();
    };
    for (std::size_t s = 0; s < steps.size(); ++s)
      if (rates[s] != 0 && owner(steps[s]) == coordinates_.size()) return false;
    for (std::size_t s = 0; s < steps.size(); ++s)
      if (rates[s] != 0) out[owner(steps[s])] += by_number[s] * rates[s];
    return true;
  }

  const Atom& atom_;
  const FeatureFamily& family_;
  Index n_inputs_;
  std::vector<Coordinate> coordinates_;
  std::vector<double> values_;
};

// Whether the device derives it.
bool is_derivable(std::span<const RowStep> steps) {
  return std::ssize(steps) <= kMostDerivedSteps &&
         std::ranges::count_if(steps, is_recorded, &RowStep::kind) <= kMostRecordedSteps;
}

// The input that a step looks at; -1: none.
Index input_of(const RowStep& step) {
  using Kind = RowStep::Kind;
  switch (step.kind) {
    case Kind::kInput:
    case Kind::kAddInput:
    case Kind::kTimesInput:
    case Kind::kAddSquare:
    case Kind::kAddDistance:
      return step.position;
    default:
      return -1;
  }
}

}  // namespace

bool DeviceProblem::pull_back(std::span<const Atom> atoms, std::span<const double> theta,
                              std::span<double> coordinates, std::span<double> stretches) const {
  RowFunctions functions;
  std::vector<AtomFunction> of_atoms;
  std::size_t first = 0;
  for (const Atom& atom : atoms) {
    const AtomFunction& own = of_atoms.emplace_back(atom, blocked_.inputs());
    if (!own.append_to(functions) || !is_derivable(std::span(functions.steps).subspan(first))) return false;
    first = functions.steps.size();
  }
  std::vector<double> by_number(functions.steps.size());
  std::vector<double> by_input(functions.steps.size());
  rows_->pull_back(functions, theta, first_derivatives(), by_number, by_input);

  std::vector<double> found(coordinates.size());
  std::vector<std::size_t> offsets = {0};
  for (const AtomFunction& atom : of_atoms) offsets.push_back(offsets.back() + atom.coordinates());
  bool all = true;
  for (std::size_t m = 0; m < of_atoms.size(); ++m) {
    const auto begin = static_cast<std::size_t>(m == 0 ? 0 : functions.ends[m - 1]);
    const auto count = static_cast<std::size_t>(functions.ends[m]) - begin;
    all = all && of_atoms[m].add_derivatives(std::span(by_number).subspan(begin, count),
                                             std::span(functions.steps).subspan(begin, count),
                                             std::span(found).subspan(offsets[m], of_atoms[m].coordinates()));
  }
  if (!all) return false;
  std::ranges::transform(coordinates, found, coordinates.begin(), std::plus());
  for (std::size_t s = 0; s < by_input.size() && !stretches.empty(); ++s) {
    const Index input = input_of(functions.steps[s]);
    if (input >= 0) stretches[static_cast<std::size_t>(input)] += by_input[s];
  }
  return true;
}

}  // namespace mfga

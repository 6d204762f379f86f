#include "solve/device_problem.hpp"

#include <algorithm>

#include "device/row_functions.hpp"

namespace mfga {
namespace {

// Of the memory that is free; products need some on the way.
constexpr double kUsedPart = 0.7;

// What a run of atoms is computed from.
enum class Way { kMonomials, kFunctions, kHere };

void append(const Monomial& monomial, RowMonomials& all) {
  all.factors.push_back(monomial.factor);
  all.rates.push_back(monomial.rate);
  for (const Index input : monomial.inputs) all.inputs.push_back(static_cast<std::int32_t>(input));
  all.ends.push_back(static_cast<std::int32_t>(all.inputs.size()));
}

}  // namespace

DeviceProblem::DeviceProblem(Device& device, const Problem& problem)
    : device_(device),
      blocked_(problem.rows),
      workers_(problem.workers),
      weighted_(!problem.rows.weights().empty()),
      rows_(device.make_rows(blocked_.rows(), blocked_.inputs())),
      per_row_(rows_->make_columns(kPerRow)) {
  workers_.note_use_of_device();
  for_each_block(blocked_, workers_, [&](const RowBlock& block, Arena& /*arena*/) {
    rows_->set_inputs(block.first_row, block.rows, block.values, block.stride, block.square_norms);
  });
  constexpr Index kFewest = 60;
  make_columns(kFewest);
  rows_->set(*columns_, kTarget, problem.targets);
  if (weighted_) rows_->set(*per_row_, kWeight, blocked_.weights());
}

bool DeviceProblem::is_worthwhile(const Problem& problem, Index candidates) {
  const Device* device = problem.workers.device();
  const double values = static_cast<double>(problem.rows.rows()) * static_cast<double>(candidates);
  return device != nullptr && values >= device->fewest_values() && problem.outputs() == 1;
}

bool DeviceProblem::has_room(const Problem& problem, Index rows, Index columns) {
  const Index all = columns + problem.rows.inputs() + kPerRow + kFirstAtom;
  return static_cast<double>(all) * static_cast<double>(rows) * sizeof(double) <
         kUsedPart * problem.workers.device()->free_bytes();
}

std::unique_ptr<DeviceProblem> DeviceProblem::if_worthwhile(const Problem& problem, Index candidates) {
  if (!is_worthwhile(problem, candidates)) return nullptr;
  return std::make_unique<DeviceProblem>(*problem.workers.device(), problem);
}

void DeviceProblem::stretch(std::span<const double> factors) {
  rows_->stretch(factors);
  stretch_.assign(factors.begin(), factors.end());
  evaluated_.clear();
}

void DeviceProblem::evaluate(std::span<const Atom> atoms, DeviceColumns& out, Index first) const {
  const FeatureFamily* family = nullptr;
  ExpressionGraph graph;
  const std::vector<Expression> inputs = input_expressions(blocked_.inputs(), graph);
  RowMonomials monomials;
  RowFunctions functions;
  std::size_t begin = 0;
  Way way = Way::kMonomials;
  const auto flush = [&](std::size_t end) {
    const Index column = first + static_cast<Index>(begin);
    if (way == Way::kMonomials) rows_->evaluate(monomials, out, column);
    if (way == Way::kFunctions) rows_->evaluate(functions, out, column);
    if (way == Way::kHere) evaluate_here(atoms.subspan(begin, end - begin), out, column);
    if (way == Way::kMonomials) monomials = {};
    if (way == Way::kFunctions) functions = {};
    begin = end;
  };
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    workers_.check();
    if (family == nullptr || family->name() != atoms[i].family) family = find_feature_family(atoms[i].family);
    const auto switch_to = [&](Way next) {
      if (next != way) flush(i);
      way = next;
    };
    if (const std::optional<Monomial> monomial = family->monomial(atoms[i])) {
      switch_to(Way::kMonomials);
      append(*monomial, monomials);
      continue;
    }
    // Functions of another run are none of this one: they are there only while `way` says so.
    switch_to(append(graph, family->expression(atoms[i], inputs, graph), functions) ? Way::kFunctions
                                                                                    : Way::kHere);
  }
  flush(atoms.size());
}

void DeviceProblem::evaluate_here(std::span<const Atom> atoms, DeviceColumns& out, Index first) const {
  constexpr std::size_t kAtATime = 8;
  const BlockedRows rows = stretch_.empty() ? blocked_ : blocked_.stretched(stretch_);
  for (std::size_t begin = 0; begin < atoms.size(); begin += kAtATime) {
    const AtomValues values(atoms.subspan(begin, std::min(kAtATime, atoms.size() - begin)));
    Matrix numbers(values.size(), blocked_.rows());
    for_each_block(rows, workers_, [&](const RowBlock& block, Arena& arena) {
      values.evaluate(block, 0, values.size(), numbers.row(0) + block.first_row, numbers.cols, arena);
    });
    for (Index i = 0; i < values.size(); ++i) {
      rows_->set(out, first + static_cast<Index>(begin) + i,
                 {numbers.row(i), static_cast<std::size_t>(numbers.cols)});
    }
  }
}

ColumnRange DeviceProblem::values(std::span<const Atom> active, std::span<const Atom> more) {
  std::vector<Atom> wanted(active.begin(), active.end());
  wanted.insert(wanted.end(), more.begin(), more.end());
  const Index count = std::ssize(wanted);
  // Room for those that will join, so that most calls evaluate the new ones only.
  if (columns_->size() < kFirstAtom + count)
    make_columns(std::min(2 * count, count + room_for_columns() / 4));
  const auto same = std::ranges::mismatch(wanted, evaluated_).in1 - wanted.begin();
  evaluated_.resize(static_cast<std::size_t>(same));  // what follows may be interrupted
  evaluate(std::span(wanted).subspan(static_cast<std::size_t>(same)), *columns_, kFirstAtom + same);
  evaluated_ = std::move(wanted);
  return {columns_.get(), kOne, 1 + count};
}

void DeviceProblem::make_columns(Index atoms) {
  std::unique_ptr<DeviceColumns> before = std::move(columns_);
  columns_ = rows_->make_columns(kFirstAtom + atoms);
  const double zero = 0;
  const double one = 1;
  for (const Index column : {kSecond, kFirst, kTarget})
    if (before) rows_->combine({&zero, 1}, {&one, 1}, {before.get(), column, 1}, *columns_, column);
  rows_->combine({&one, 1}, {}, {columns_.get(), 0, 0}, *columns_, kOne);
  evaluated_.clear();
}

Matrix DeviceProblem::products(std::span<const Atom> atoms) {
  const ColumnRange all = with_target(values(atoms));
  const Index n = std::ssize(atoms);
  Matrix products(all.count, all.count);
  rows_->products_with_itself(all, weights(), products.values);
  constexpr Index kTargetHere = 0;
  constexpr Index kOneHere = 1;
  constexpr Index kFirstHere = 2;
  Matrix result(n, 2 + n);
  for (Index i = 0; i < n; ++i) {
    result(i, 0) = products(kOneHere, kFirstHere + i);
    result(i, 1) = products(kTargetHere, kFirstHere + i);
    for (Index j = 0; j < n; ++j)
      result(i, 2 + j) = products(kFirstHere + std::min(i, j), kFirstHere + std::max(i, j));
  }
  return result;
}

double DeviceProblem::derivatives(const Problem& problem, double intercept, std::span<const double> theta,
                                  ColumnRange values, bool with_second) {
  workers_.check();
  const ColumnRange atoms{values.columns, values.first + 1, std::ssize(theta)};
  rows_->combine({&intercept, 1}, theta, atoms, *per_row_, kScore);
  const std::optional<DeviceLoss> loss = problem.loss.on_device();
  if (!loss) return derivatives_here(problem, with_second);
  return rows_->derivatives(*loss, {per_row_.get(), kScore, 1}, {columns_.get(), kTarget, 1}, weights(),
                            *columns_, kFirst, with_second ? Index{kSecond} : -1);
}

double DeviceProblem::derivatives_here(const Problem& problem, bool with_second) {
  const auto n_rows = static_cast<std::size_t>(blocked_.rows());
  std::vector<double> scores(n_rows);
  std::vector<double> first(n_rows);
  std::vector<double> second(with_second ? n_rows : 0);
  rows_->get(*per_row_, kScore, scores);
  double loss = 0;
  sum_over_blocks(blocked_.without_inputs(), workers_, {&loss, 1},
                  [&](const RowBlock& block, Arena& /*arena*/, double* out) {
                    double* own = first.data() + block.first_row;
                    const double* score = scores.data() + block.first_row;
                    out[0] += with_second
                                  ? problem.derivatives_of(block, score, own, second.data() + block.first_row)
                                  : problem.gradient_of(block, score, own);
                  });
  rows_->set(*columns_, kFirst, first);
  if (with_second) rows_->set(*columns_, kSecond, second);
  return loss;
}

Index DeviceProblem::room_for_columns() const {
  return static_cast<Index>(kUsedPart * device_.free_bytes() /
                            (sizeof(double) * static_cast<double>(blocked_.rows())));
}

}  // namespace mfga

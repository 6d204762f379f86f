#include "export/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "features/family.hpp"
#include "losses/loss.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

// Texts that stand for a missing one in files, in any case of their letters (docs/data-formats.md).
std::vector<std::string> missing_marks(const Model& model) {
  std::vector<std::string> marks = {"", "?"};
  for (const std::string_view word : {"na", "nan"}) {
    for (unsigned upper = 0; upper < 1U << word.size(); ++upper) {
      std::string mark(word);
      for (std::size_t i = 0; i < mark.size(); ++i) {
        if ((upper >> i & 1U) != 0) mark[i] = static_cast<char>(mark[i] - 'a' + 'A');
      }
      marks.push_back(mark);
    }
  }
  marks.insert(marks.end(), model.missing_texts.begin(), model.missing_texts.end());
  return marks;
}

ProgramColumn text_column(const Model& model, const TextColumn& text, Index position) {
  ProgramColumn column{text.name, position, true, text.levels};
  for (int i = 0; i < static_cast<int>(text.levels.size()); ++i)
    column.codes.emplace(text.levels[static_cast<std::size_t>(i)], i);
  const auto level_called = [&](std::string_view name, int otherwise) {
    const auto found = column.codes.find(std::string(name));
    return found == column.codes.end() ? otherwise : found->second;
  };
  if (!text.rare.empty()) {
    column.of_unknown = level_called(kOtherLevel, ProgramColumn::kUnknown);
    for (const std::string& rare : text.rare) column.codes.emplace(rare, column.of_unknown);
  }
  column.of_missing = level_called(kMissingLevel, ProgramColumn::kMissing);
  for (const std::string& mark : missing_marks(model)) column.codes.emplace(mark, column.of_missing);
  return column;
}

class Composer {
 public:
  Composer(const Model& model, MissingCases missing) : model_(model), missing_(missing) {
    program_.model = &model;
    program_.n_predictors = predictor_count(model.n_columns, model.text_columns);
  }

  // With those of the inputs' columns that are wanted; without a list, all.
  Program compose(const std::set<Index>* wanted) {
    std::set<Index> positions;
    for (const ModelInput& input : model_.inputs) {
      const Index position = origin_of(input.column, model_.text_columns).predictor;
      if (wanted == nullptr || wanted->contains(position)) positions.insert(position);
    }
    for (const Index position : positions) program_.columns.push_back({{}, position});
    for (const ModelInput& input : model_.inputs) add_input(input);
    std::vector<Expression> seen = program_.inputs;
    if (model_.mixing.rows > 0) {
      for (Index i = 0; i < model_.mixing.rows; ++i) {
        seen[static_cast<std::size_t>(i)] =
            graph().sum(program_.inputs, {model_.mixing.row(i), program_.inputs.size()});
      }
    }
    for (const Term& term : model_.terms)
      program_.terms.push_back(find_feature_family(term.atom.family)->expression(term.atom, seen, graph()));
    add_scores();
    add_results();
    return std::move(program_);
  }

 private:
  ExpressionGraph& graph() { return program_.graph; }

  void add_input(const ModelInput& input) {
    const ColumnOrigin origin = origin_of(input.column, model_.text_columns);
    const auto found = std::ranges::find(program_.columns, origin.predictor, &ProgramColumn::position);
    if (found == program_.columns.end()) {
      program_.inputs.push_back(graph().constant(0));
      program_.input_columns.push_back(-1);
      return;
    }
    const Index place = found - program_.columns.begin();
    if (found->name.empty())
      *found = origin.text != nullptr ? text_column(model_, *origin.text, origin.predictor)
                                      : ProgramColumn{input.column_name(), origin.predictor};
    program_.input_columns.push_back(place);
    const Expression zero = graph().constant(0);
    // A missing text whose column has a level for that is not missing.
    const bool can_be_missing = !found->is_text || found->of_missing == ProgramColumn::kMissing;
    if (input.is_missing) {
      const Expression is_one =
          can_be_missing ? graph().select(graph().is_missing(place), graph().constant(1), zero) : zero;
      program_.inputs.push_back(select_scaled(input, is_one));
      return;
    }
    Expression value = graph().column(place);
    if (origin.text != nullptr) {
      const auto level = static_cast<Index>(found->codes.at(origin.level));
      value = graph().select(graph().is_level(place, level), graph().constant(1), zero);
    }
    const Expression z = select_scaled(input, value);
    const bool is_provided_for = missing_ == MissingCases::kAll || had_missing(origin.predictor);
    program_.inputs.push_back(
        can_be_missing && is_provided_for ? graph().select(graph().is_missing(place), zero, z) : z);
  }

  [[nodiscard]] bool had_missing(Index predictor) const {
    return std::ranges::any_of(model_.inputs, [&](const ModelInput& input) {
      return (input.is_missing || input.missing > 0) &&
             origin_of(input.column, model_.text_columns).predictor == predictor;
    });
  }

  // What is chosen between two constants stays a choice between two constants.
  Expression select_scaled(const ModelInput& input, Expression value) {
    const ExpressionNode& node = graph().node(value);
    if (node.kind != ExpressionKind::kSelect) return scaled(input, value);
    const std::vector<Expression> parts = node.arguments;
    return graph().select(parts[0], scaled(input, parts[1]), scaled(input, parts[2]));
  }

  // As BlockedRows computes it.
  Expression scaled(const ModelInput& input, Expression value) {
    const Expression centred = graph().plus(value, -input.mean);
    if (input.warp.kind() == ScaleKind::kStandard)
      return graph().times(centred, input.stretch / input.deviation);
    Expression z = graph().times(centred, 1 / input.deviation);
    if (input.warp.kind() == ScaleKind::kQuantile) {
      z = graph().line(z, input.warp.knots, input.warp.values);
    } else {
      z = graph().max(graph().constant(-input.warp.limit),
                      graph().min(graph().constant(input.warp.limit), z));
    }
    return graph().times(z, input.stretch);
  }

  void add_scores() {
    std::vector<Expression> bases;
    std::vector<double> factors;
    for (const Expression term : program_.terms) {
      const ExpressionGraph::Scaled parts = graph().scaled(term);
      bases.push_back(parts.base);
      factors.push_back(parts.factor);
    }
    for (std::size_t k = 0; k < model_.outputs.size(); ++k) {
      std::vector<double> weights;
      for (std::size_t i = 0; i < bases.size(); ++i)
        weights.push_back(model_.terms[i].coefficients[k] * factors[i]);
      program_.scores.push_back(graph().sum(bases, weights, model_.outputs[k].intercept));
    }
    program_.largest_score = graph().largest(program_.scores);
  }

  void add_results() {
    const std::string_view usual = model_.task == Task::kRegression ? "squared" : "logistic";
    const Loss& loss = loss_of_kind(model_.loss.empty() ? usual : model_.loss);
    program_.results = loss.link(program_.scores, graph());
    if (model_.task == Task::kRegression) {
      program_.predicts_scores = program_.results == program_.scores;
      for (std::size_t k = 0; k < model_.outputs.size(); ++k) {
        Expression& result = program_.results[k];
        const Output& output = model_.outputs[k];
        result = graph().sum(std::span(&result, 1), std::array{output.scale}, output.shift);
      }
    } else if (model_.has_one_output()) {
      const Expression second = program_.results[0];
      program_.results = {graph().sum(std::span(&second, 1), std::array{-1.0}, 1), second};
    }
  }

  const Model& model_;
  MissingCases missing_;
  Program program_;
};

// Names are looked up by programs: they must be there, and differ.
void check_names(const Program& program) {
  std::set<std::string> names;
  for (const ProgramColumn& column : program.columns) {
    if (column.name.empty())
      throw Error(ErrorKind::kInvalidArgument, "the model cannot be exported: a column has an empty name");
    if (names.insert(column.name).second) continue;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("the model cannot be exported: two columns have the name \"{}\"", column.name));
  }
}

}  // namespace

std::vector<std::string> ProgramColumn::texts_of(int code) const {
  std::vector<std::string> texts;
  for (const auto& [text, own] : codes) {
    if (own == code) texts.push_back(text);
  }
  return texts;
}

bool Program::has_text() const { return std::ranges::any_of(columns, &ProgramColumn::is_text); }

double Program::contribution_factor(std::size_t term, std::size_t output) const {
  return model->terms[term].coefficients[output] * (predicts_scores ? model->outputs[output].scale : 1);
}

std::vector<bool> reachable(const ExpressionGraph& graph, const std::vector<Expression>& roots) {
  std::vector<bool> found(static_cast<std::size_t>(graph.size()));
  for (const Expression root : roots) found[static_cast<std::size_t>(root.id)] = true;
  for (std::size_t id = found.size(); id-- > 0;) {
    if (!found[id]) continue;
    for (const Expression argument : graph.node({static_cast<std::int32_t>(id)}).arguments)
      found[static_cast<std::size_t>(argument.id)] = true;
  }
  return found;
}

Program make_program(const Model& model, MissingCases missing) {
  const Program all = Composer(model, missing).compose(nullptr);
  std::vector<Expression> roots = all.results;
  roots.insert(roots.end(), all.scores.begin(), all.scores.end());
  roots.insert(roots.end(), all.terms.begin(), all.terms.end());
  const std::vector<bool> is_needed = reachable(all.graph, roots);
  std::set<Index> wanted;
  for (std::size_t id = 0; id < is_needed.size(); ++id) {
    const Index column = all.graph.node({static_cast<std::int32_t>(id)}).column;
    if (is_needed[id] && column >= 0) wanted.insert(all.columns[static_cast<std::size_t>(column)].position);
  }
  Program program = Composer(model, missing).compose(&wanted);
  check_names(program);
  return program;
}

}  // namespace mfga

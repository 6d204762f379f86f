// A feature family: the explicit features of one kind of kernel. A new family is one file that implements
// FeatureFamily, and one line in registry.cpp; the dictionary language, the model format, the help texts and
// the registry-wide tests pick it up from there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/arena.hpp"
#include "core/expression.hpp"
#include "core/row_blocks.hpp"
#include "mfga/dictionary.hpp"

namespace mfga {

class FormulaWriter;  // features/formula.hpp

// An option of a family in the dictionary language.
struct FamilyOption {
  std::string_view name;
  std::string_view values;  // what may be written, for help and error messages
  std::string_view default_value;
  std::string_view help;
};

// The values of a family's options, defaults filled in, in the order of FeatureFamily::options().
using FamilyOptionValues = std::vector<std::string>;

// What a summand of the dictionary may depend on besides its options.
struct CandidateContext {
  Index n_inputs = 0;
  double auto_sigma = 1;              // the width that sigma=auto means
  std::uint64_t seed = 0;             // of random draws
  const BlockedRows* rows = nullptr;  // the training rows, for families that take atoms from the data
  // Of each input: the text column that it is a level of, or -1. Empty: no input is a level.
  std::span<const Index> text_columns = {};
  Workers* workers = nullptr;  // null: one thread does

  // Throws if there are none.
  [[nodiscard]] const BlockedRows& training_rows(std::string_view family) const;
  [[nodiscard]] Workers& parallel() const;
};

// A field of Atom::parameters in model files: one number, one per input of the model, or all that are left
// (the last field only; FeatureFamily::validate checks how many).
struct ParameterField {
  enum class Size { kOne, kPerInput, kRest };
  std::string_view name;
  Size size = Size::kOne;
  std::span<const std::string_view> labels = {};  // if any: the number is a position in this list
  std::optional<double> usual = std::nullopt;     // this value of one number is left out
};

// Correlations in single precision, for families where that pays; see CandidateFamily::correlate.
class SingleCorrelator {
 public:
  virtual ~SingleCorrelator() = default;
  // out[j] += sum over the block's rows n of weights[n] * phi_j(x_n). The block has single-precision values.
  // The result for all rows, if it is finite, is off by at most
  // |weights|_2 * (relative_error() * |phi_j|_2 + the root of what add_square_errors adds up for j).
  // Families may give all of it as either.
  virtual void correlate_single(const RowBlock& block, const double* weights, double* out,
                                Arena& arena) const = 0;
  [[nodiscard]] virtual double relative_error() const = 0;
  // out[j] += sum over the block's rows n of the square of what phi_j(x_n) in single precision is off by
  // at most, besides the relative error.
  virtual void add_square_errors(const RowBlock& /*block*/, double* /*out*/, Arena& /*arena*/) const {}
};

// The candidates of one summand of the dictionary, for a known number of inputs.
class CandidateFamily {
 public:
  virtual ~CandidateFamily() = default;
  [[nodiscard]] virtual Index size() const = 0;
  [[nodiscard]] virtual Atom atom(Index candidate) const = 0;
  // out[c * out_stride + j] += sum over the block's rows n of weights[c * weight_stride + n] * phi_j(x_n),
  // for `columns` weight columns c and every candidate j.
  virtual void correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                         double* out, Index out_stride, Arena& arena) const = 0;
  // out[j] += sum over the block's rows n of their weight times phi_j(x_n)^2, for every candidate j.
  virtual void add_square_norms(const RowBlock& block, double* out, Arena& arena) const = 0;
  // Null if the family has none.
  [[nodiscard]] virtual const SingleCorrelator* single() const { return nullptr; }
  // What kept_for would take for this many rows; 0: there is nothing worth keeping.
  [[nodiscard]] virtual double kept_bytes(Index /*rows*/) const { return 0; }
  // The same candidates, to be asked about blocks of these rows only, with what takes long to compute kept in
  // memory. They refer to this family.
  [[nodiscard]] virtual std::unique_ptr<CandidateFamily> kept_for(const BlockedRows& /*rows*/,
                                                                  Workers& /*workers*/) const {
    return nullptr;
  }
};

// The values of a fixed list of atoms of one family.
class AtomEvaluator {
 public:
  virtual ~AtomEvaluator() = default;
  // out[i * out_stride + n] = atom i on row n of the block, for the atoms [first, first + count).
  virtual void evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                        Arena& arena) const = 0;
  // out[i * columns + c] += sum over the block's rows n of atom i on row n * weights[c * weight_stride + n],
  // for the atoms [first, first + count).
  virtual void correlate(const RowBlock& block, Index first, Index count, const double* weights,
                         Index weight_stride, Index columns, double* out, Arena& arena) const;
};

// A linear combination of a fixed list of atoms of one family. Families that can share work between the atoms
// of a combination have their own; others are served by their evaluator.
//
// Predictors compute a row by itself with these: what a row gets is the same to the last bit whatever the
// block holds besides, memory comes from the arena alone, and BLAS, which may start threads, is not called.
class AtomCombination {
 public:
  virtual ~AtomCombination() = default;
  // scores[n] += sum over the atoms of coefficient * value on row n of the block.
  virtual void add_to(const RowBlock& block, double* scores, Arena& arena) const = 0;
};

// A number of an atom that may be moved so that the atom fits the data better, in the family's own terms: the
// logarithm of a width, a place on an input, ...
struct Coordinate {
  double value = 0;
  double unit = 1;   // a move by this much changes the atom a lot
  Index input = -1;  // of a place on an input: that input. Places are stretched along with their input
};

// How a fixed list of atoms of one family changes with their coordinates and with the inputs.
class AtomDerivatives {
 public:
  virtual ~AtomDerivatives() = default;
  // For F = sum over atoms i and the block's rows n of weights[i * weight_stride + n] * atom i on row n:
  // adds the derivatives of F to `coordinates`, atom by atom as FeatureFamily::coordinates lists them, and
  // to inputs[j * block.stride + n], those by input j of row n. Either may be null.
  virtual void pull_back(const RowBlock& block, const double* weights, Index weight_stride,
                         double* coordinates, double* inputs, Arena& arena) const = 0;
};

// An atom that is factor * exp(-rate |x|^2) * a product of inputs.
struct Monomial {
  double factor = 1;
  double rate = 0;
  std::vector<Index> inputs;  // sorted, with repetitions
};

class FeatureFamily {
 public:
  virtual ~FeatureFamily() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view help() const = 0;
  [[nodiscard]] virtual std::span<const FamilyOption> options() const = 0;

  // Throws if a value is wrong; called when the dictionary is parsed.
  virtual void check(const FamilyOptionValues& values) const = 0;
  [[nodiscard]] virtual bool needs_sigma(const FamilyOptionValues& values) const = 0;
  // The number of candidates, or the most there can be if it depends on the training rows or on chance.
  [[nodiscard]] virtual double candidates(const FamilyOptionValues& values, Index n_inputs) const = 0;
  [[nodiscard]] virtual std::unique_ptr<CandidateFamily> bind(const FamilyOptionValues& values,
                                                              const CandidateContext& context,
                                                              double nu) const = 0;

  [[nodiscard]] virtual std::unique_ptr<AtomEvaluator> evaluator(std::span<const Atom> atoms) const = 0;
  [[nodiscard]] virtual std::unique_ptr<AtomCombination> combination(
      std::span<const Atom> atoms, std::span<const double> coefficients) const;
  // What of an atom may be moved; usually its continuous parameters.
  [[nodiscard]] virtual std::vector<Coordinate> coordinates(const Atom& /*atom*/) const { return {}; }
  // The atom with its coordinates at these values.
  [[nodiscard]] virtual Atom moved(const Atom& atom, std::span<const double> /*values*/) const {
    return atom;
  }
  [[nodiscard]] virtual std::unique_ptr<AtomDerivatives> derivatives(std::span<const Atom> atoms) const = 0;
  // If the family's atoms are monomials, products of atoms can be computed together.
  [[nodiscard]] virtual std::optional<Monomial> monomial(const Atom& /*atom*/) const { return std::nullopt; }
  [[nodiscard]] virtual AtomFormula describe(const Atom& atom, FormulaWriter& writer) const = 0;
  // The atom as a function of all inputs of the model, to be computed elsewhere.
  [[nodiscard]] virtual Expression expression(const Atom& atom, std::span<const Expression> inputs,
                                              ExpressionGraph& graph) const = 0;
  // Throws Error(kBadData) if an atom (read from a file) is not one of this family. Its inputs, exponents and
  // numbers are as many as they have to be; see is_possible.
  virtual void validate(const Atom& atom, Index n_inputs) const = 0;
  // Whether atoms have numbers in common, Atom::shared.
  [[nodiscard]] virtual bool shares_numbers() const { return false; }
  // The layout of Atom::parameters.
  [[nodiscard]] virtual std::span<const ParameterField> parameter_fields() const = 0;
};

// All families, in a fixed order.
[[nodiscard]] std::span<const FeatureFamily* const> feature_families();
// Null if there is none of that name.
[[nodiscard]] const FeatureFamily* find_feature_family(std::string_view name);

inline constexpr int kHighestExponent = 1000;
// Whether an atom, whatever is in it, is one of its family and may be computed with.
[[nodiscard]] bool is_possible(const Atom& atom, Index n_inputs);

// Option values of a request with defaults filled in. Every family also has the option `nu`.
[[nodiscard]] FamilyOptionValues option_values(const FeatureFamily& family, const FamilyRequest& request);
[[nodiscard]] const FamilyOption& nu_option();
// The weight of a summand before the weights are scaled to sum to one.
[[nodiscard]] double kernel_weight(const FamilyRequest& request);

// Values of the kinds that several families share.
struct SigmaChoice {
  bool automatic = true;
  double value = 1;  // the width, or the multiple of the automatic one
  [[nodiscard]] double resolve(double auto_sigma) const { return automatic ? value * auto_sigma : value; }
};
// The dictionary turns a list of widths into one summand for each, so families see one width.
inline constexpr FamilyOption kSigmaOption = {
    "sigma", "auto|NUMBER|auto*NUMBER|[WIDTH, ...]", "auto",
    "kernel width; auto: mean distance within which a training row has 5 % of the others, or, as in the "
    "paper, "
    "to the 50th nearest one with `preset=paper`; a list: one kernel for each width"};
[[nodiscard]] SigmaChoice parse_sigma(std::string_view text);
[[nodiscard]] bool parse_yes_no(std::string_view option, std::string_view text);
// The position of the text among the choices.
[[nodiscard]] std::size_t parse_choice(std::string_view option, std::string_view text,
                                       std::span<const std::string_view> choices);
[[nodiscard]] double parse_positive(std::string_view option, std::string_view text);
[[nodiscard]] double parse_number(std::string_view option, std::string_view text, double lowest,
                                  double highest);
[[nodiscard]] int parse_small_integer(std::string_view option, std::string_view text, int lowest,
                                      int highest);
// The number whose logarithm a coordinate is, so far from 0 and infinity that its square is neither.
[[nodiscard]] double positive_from_logarithm(double logarithm);

}  // namespace mfga

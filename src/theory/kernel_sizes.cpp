#include "theory/kernel_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "features/candidates.hpp"
#include "features/family.hpp"
#include "features/kernel_columns.hpp"
#include "features/neighbour_width.hpp"

namespace mfga {
namespace {

// As it is written in a dictionary.
std::string request_text(const FamilyRequest& request) {
  std::string text;
  for (const FamilyRequest::Option& option : request.options)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", option.name, option.value);
  return text.empty() ? request.family : fmt::format("{}({})", request.family, text);
}

class KernelSizer {
 public:
  KernelSizer(const BlockedRows& rows, Workers& workers) : rows_(rows), workers_(workers) {
    std::vector<double> largest(static_cast<std::size_t>(rows.blocks()));
    for_each_block(rows, workers, [&](const RowBlock& block, Arena& /*arena*/) {
      largest[static_cast<std::size_t>(block.first_row / kBlockRows)] =
          *std::max_element(block.square_norms, block.square_norms + block.rows);
    });
    square_norm_ = *std::max_element(largest.begin(), largest.end());
  }

  KernelSize size_of(const FamilyRequest& request) {
    family_ = find_feature_family(request.family);
    values_ = option_values(*family_, request);
    const auto [largest, basis] = size();
    return {request_text(request), largest, std::string(basis)};
  }

 private:
  using Size = std::pair<double, std::string_view>;

  Size size() {
    const std::string_view family = family_->name();
    const auto inputs = static_cast<double>(rows_.inputs());
    if (family == "linear") return {square_norm_, "the largest |x|^2"};
    if (family == "gaussian") return {1, "of the whole Gaussian kernel"};
    if (family == "polynomial") {
      return {std::pow(number("offset") + square_norm_, number("degree")),
              "(offset + |x|^2)^degree; less without powers"};
    }
    if (family == "fourier") return {2, "at most, for any draw: 2 / count for each wave"};
    if (family == "landmark") {
      const double column = kernel_at_zero_distance();
      return {std::min(number("count"), static_cast<double>(rows_.rows())) * column * column,
              depends_on_auto_sigma() ? "estimated, with the width found again: the square of each column"
                                      : "at most, for any landmarks: the square of each column"};
    }
    if (family == "nystrom") {
      return {kernel_at_zero_distance(),
              depends_on_auto_sigma() ? "estimated, with the width found again: the kernel approximated"
                                      : "at most: that of the kernel approximated"};
    }
    if (family == "step" || family == "spline") return {inputs, "at most: 1 for each input"};
    if (family == "periodic") return {number("count") * inputs, "at most: count for each input"};
    if (family == "hinge" && value("interactions") == "2") {
      // sum_i K_i + sum_(i<j) K_i K_j, the second of which is at most half the square of the first.
      set("interactions", "1");
      const double singles = measured();
      return {singles + 0.5 * singles * singles,
              "at most: S + S^2 / 2, S measured, the squares of the single hinges"};
    }
    return {measured(), family == "maclaurin" ? "measured with another draw: the squares of the features"
                                              : "measured: the squares of the features"};
  }

  [[nodiscard]] std::size_t position(std::string_view option) const {
    const auto options = family_->options();
    return static_cast<std::size_t>(
        std::ranges::find_if(options, [&](const FamilyOption& o) { return o.name == option; }) -
        options.begin());
  }
  [[nodiscard]] const std::string& value(std::string_view option) const { return values_[position(option)]; }
  [[nodiscard]] double number(std::string_view option) const { return std::stod(value(option)); }
  void set(std::string_view option, std::string text) { values_[position(option)] = std::move(text); }

  // A model does not say what its sigma=auto was, and only polynomial kernels are larger where it is smaller.
  [[nodiscard]] bool depends_on_auto_sigma() const {
    return parse_column_kernel(value("kernel")).name == Kernel::Name::kPolynomial &&
           parse_sigma(value("sigma")).automatic;
  }

  // What sigma=auto stands for, found again.
  double auto_sigma() {
    if (!auto_sigma_) auto_sigma_ = automatic_width(rows_, 0, workers_).sigma;
    return *auto_sigma_;
  }

  // The largest k(x, c) with x and c among the rows: kernels of a distance are 1 at most.
  double kernel_at_zero_distance() {
    const Kernel kernel = parse_column_kernel(value("kernel"));
    if (kernel.name != Kernel::Name::kPolynomial) return 1;
    const SigmaChoice choice = parse_sigma(value("sigma"));
    const double sigma = choice.resolve(choice.automatic ? auto_sigma() : 1);
    return std::pow(1 + square_norm_ / (sigma * sigma), kernel.parameter);
  }

  // The largest sum over the features of their squares on a row.
  double measured() {
    constexpr Index kTile = 256;
    const double sigma = family_->needs_sigma(values_) ? auto_sigma() : 1;
    const auto candidates = family_->bind(values_, {rows_.inputs(), sigma, 0, &rows_}, 1);
    std::vector<double> sums(static_cast<std::size_t>(rows_.rows()));
    for (Index first = 0; first < candidates->size(); first += kTile) {
      std::vector<Atom> atoms;
      for (Index j = first; j < std::min(first + kTile, candidates->size()); ++j)
        atoms.push_back(candidates->atom(j));
      const AtomValues features(atoms);
      for_each_block(rows_, workers_, [&](const RowBlock& block, Arena& arena) {
        double* features_of_block = arena.take(features.size() * block.stride);
        features.evaluate(block, 0, features.size(), features_of_block, block.stride, arena);
        double* sum = sums.data() + block.first_row;
        for (Index i = 0; i < features.size(); ++i) {
          const double* feature = features_of_block + i * block.stride;
          for (Index n = 0; n < block.rows; ++n) sum[n] += feature[n] * feature[n];
        }
      });
    }
    return *std::max_element(sums.begin(), sums.end());
  }

  const BlockedRows& rows_;
  Workers& workers_;
  double square_norm_ = 0;  // the largest of a row
  std::optional<double> auto_sigma_;
  const FeatureFamily* family_ = nullptr;  // of the summand at hand
  FamilyOptionValues values_;
};

}  // namespace

std::vector<KernelSize> kernel_sizes(const Dictionary& dictionary, const BlockedRows& rows,
                                     Workers& workers) {
  KernelSizer sizer(rows, workers);
  std::vector<KernelSize> sizes;
  for (const FamilyRequest& request : dictionary.requests()) sizes.push_back(sizer.size_of(request));
  return sizes;
}

}  // namespace mfga

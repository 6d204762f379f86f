#include "mfga/columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "mfga/error.hpp"

namespace mfga {
namespace {

// Looks names up among those of columns, and keeps those that are not there.
class NamedColumns {
 public:
  explicit NamedColumns(std::span<const std::string> names) : count_(names.size()) {
    for (std::size_t i = 0; i < names.size(); ++i) positions_.emplace(names[i], static_cast<Index>(i));
  }

  // A name that is looked up several times in a row counts once, as the levels of a text do.
  std::optional<Index> find(const std::string& name) {
    const bool is_new = wanted_ == 0 || name != last_;
    last_ = name;
    if (is_new) ++wanted_;
    const auto found = positions_.find(name);
    if (found != positions_.end()) return found->second;
    if (is_new) missing_.push_back(name);
    return std::nullopt;
  }

  // `kind` is what the columns belong to.
  void throw_if_missing(std::string_view source, std::string_view kind, std::string_view hint) const {
    if (missing_.empty()) return;
    constexpr std::size_t kMostNames = 10;
    const auto shown = std::span(missing_).first(std::min(missing_.size(), kMostNames));
    throw Error(ErrorKind::kBadData,
                fmt::format("{}: {} of the model's {} inputs are missing: {}{}; {} has {} columns{}", source,
                            missing_.size(), wanted_, fmt::join(shown, ", "),
                            missing_.size() > kMostNames ? ", ..." : "", kind, count_, hint));
  }

 private:
  std::unordered_map<std::string_view, Index> positions_;
  std::size_t count_;
  std::size_t wanted_ = 0;
  std::string last_;
  std::vector<std::string> missing_;
};

}  // namespace

std::vector<Index> match_columns(const Model& model, std::span<const std::string> names,
                                 std::string_view source) {
  NamedColumns columns(names);
  std::vector<Index> result;
  for (const ModelInput& input : model.inputs)
    result.push_back(columns.find(input.column_name()).value_or(-1));
  columns.throw_if_missing(source, "it", "");
  return result;
}

std::vector<ColumnSource> match_columns(const Model& model, const TableFile& file) {
  const Index n_predictors = predictor_count(model.n_columns, model.text_columns);
  const auto n_file_columns = static_cast<Index>(file.columns().size());
  const bool unnamed = !file.has_header() && file.format() != "libsvm";
  // Without names a column is its position: the file has all columns of the training file, or the predictors
  // alone.
  const bool nameless_predictors = unnamed && n_file_columns == n_predictors;
  if (unnamed && !nameless_predictors && n_file_columns != model.unnamed_columns) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format(
            "{}: the file has {} columns without names; expected {}, the predictors that the model was "
            "trained on{}",
            file.path(), n_file_columns, n_predictors,
            model.unnamed_columns > 0 ? fmt::format(", or {} as in the training file", model.unnamed_columns)
                                      : " in that order"));
  }
  NamedColumns columns(file.columns());
  std::vector<ColumnSource> sources;
  for (const ModelInput& input : model.inputs) {
    const ColumnOrigin origin = origin_of(input.column, model.text_columns);
    if (nameless_predictors) {
      sources.push_back({origin.predictor, origin.level, origin.text});
      continue;
    }
    const std::string name = origin.text != nullptr ? origin.text->name : input.column_name();
    sources.push_back({columns.find(name).value_or(-1), origin.level, origin.text});
  }
  columns.throw_if_missing(file.path(), "the file",
                           file.has_header() ? "" : " without names (give the same columns as in training)");
  return sources;
}

}  // namespace mfga

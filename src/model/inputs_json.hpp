// The columns of a model in its file: inputs with their scales, text columns, the mixing.
#pragma once

#include <vector>

#include "mfga/model.hpp"
#include "model/json_node.hpp"

namespace mfga {

// `is_plain`: in the first version of the format, which knows the standard scale alone.
[[nodiscard]] Json input_to_json(const ModelInput& input, bool is_plain);
[[nodiscard]] Json text_column_to_json(const TextColumn& column);

// The scale of an input.
[[nodiscard]] Warp warp_from_json(const Node& input);
// What is known of missing values of an input, whose other fields have been read.
void read_missing(const Node& node, ModelInput& input);
// An input that is a level of text is named for it, and one that tells of missing values for its column.
void check_input_name(const Node& node, const ModelInput& input, const Model& model);
[[nodiscard]] Matrix mixing_from_json(const Node& node, Index n_inputs);
[[nodiscard]] std::vector<TextColumn> text_columns_from_json(const Node& node, Index n_columns);

}  // namespace mfga

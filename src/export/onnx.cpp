// An ONNX model, opset 18. Rows go in and out as floats, and are computed with as doubles: sums of large
// terms with different signs, and dates or identifiers of eight digits, need them. A value of all rows has
// the shape [rows, 1]; sums over the same things are one product of matrices.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "export/printers.hpp"
#include "export/protobuf.hpp"
#include "mfga/error.hpp"
#include "mfga/version.hpp"

namespace mfga {
namespace {

using Kind = ExpressionKind;

// Of tensors and attributes, as in onnx.proto.
enum ElementType : std::int64_t { kFloat = 1, kInt64 = 7, kString = 8, kDouble = 11 };
enum AttributeType : std::int64_t {
  kIntAttribute = 2,
  kStringAttribute = 3,
  kIntsAttribute = 7,
  kStringsAttribute = 8
};

struct Attribute {
  std::string name;
  std::vector<std::int64_t> ints;
  std::vector<std::string> strings = {};
  bool is_list = false;
};

Attribute number_attribute(std::string name, std::int64_t value) { return {std::move(name), {value}}; }

class OnnxGraph {
 public:
  // Values of the graph have names with this in front.
  explicit OnnxGraph(std::string prefix) : prefix_(std::move(prefix)) {}

  std::string new_name() { return fmt::format("{}{}", prefix_, ++values_); }

  std::string doubles(std::span<const double> values, const std::vector<std::int64_t>& shape) {
    return tensor(kDouble, shape, [&](ProtobufMessage& message) { message.add_raw(9, values); });
  }
  std::string integers(std::span<const std::int64_t> values) {
    return tensor(kInt64, {std::ssize(values)},
                  [&](ProtobufMessage& message) { message.add_raw(9, values); });
  }
  std::string texts(const std::vector<std::string>& values) {
    return tensor(kString, {std::ssize(values)}, [&](ProtobufMessage& message) {
      for (const std::string& value : values) message.add_text(6, value);
    });
  }

  // One result, with a new name where none is given.
  std::string add(std::string_view type, const std::vector<std::string>& inputs,
                  const std::vector<Attribute>& attributes = {}, std::string output = "",
                  std::string_view domain = "") {
    if (output.empty()) output = new_name();
    add_node(type, inputs, {output}, attributes, domain);
    return output;
  }
  void add_node(std::string_view type, const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs, const std::vector<Attribute>& attributes,
                std::string_view domain = "") {
    ProtobufMessage node;
    for (const std::string& input : inputs) node.add_text(1, input);
    for (const std::string& output : outputs) node.add_text(2, output);
    node.add_text(3, fmt::format("{}node{}", prefix_, ++nodes_));
    node.add_text(4, type);
    for (const Attribute& attribute : attributes) node.add_message(5, attribute_message(attribute));
    if (!domain.empty()) node.add_text(7, domain);
    graph_.add_message(1, node);
  }

  void add_input(const std::string& name, ElementType type, std::int64_t columns) {
    graph_.add_message(11, value_info(name, type, {columns}));
  }
  void add_output(const std::string& name, ElementType type, const std::vector<std::int64_t>& further) {
    graph_.add_message(12, value_info(name, type, further));
  }

  [[nodiscard]] std::string model(const std::string& title) {
    constexpr std::int64_t kFormat = 8;  // that opset 18 came with
    constexpr std::int64_t kOpset = 18;
    constexpr std::int64_t kMlOpset = 3;
    graph_.add_text(2, "mfga");
    ProtobufMessage result;
    result.add_number(1, kFormat);
    result.add_text(2, "mfga");
    result.add_text(3, version());
    result.add_text(6, title);
    result.add_message(7, graph_);
    for (const auto& [domain, number] : {std::pair{"", kOpset}, std::pair{"ai.onnx.ml", kMlOpset}}) {
      ProtobufMessage set;
      set.add_text(1, domain);
      set.add_number(2, number);
      result.add_message(8, set);
    }
    return result.bytes();
  }

 private:
  template <class AddData>
  std::string tensor(ElementType type, const std::vector<std::int64_t>& shape, AddData add_data) {
    ProtobufMessage message;
    for (const std::int64_t size : shape) message.add_number(1, size);
    message.add_number(2, type);
    add_data(message);
    // Equal tensors are one.
    auto [entry, is_new] = tensors_.try_emplace(message.bytes());
    if (is_new) {
      entry->second = new_name();
      message.add_text(8, entry->second);
      graph_.add_message(5, message);
    }
    return entry->second;
  }

  static ProtobufMessage attribute_message(const Attribute& attribute) {
    ProtobufMessage message;
    message.add_text(1, attribute.name);
    if (!attribute.strings.empty()) {
      for (const std::string& text : attribute.strings) message.add_text(attribute.is_list ? 9 : 4, text);
      message.add_number(20, attribute.is_list ? kStringsAttribute : kStringAttribute);
      return message;
    }
    for (const std::int64_t value : attribute.ints) message.add_number(attribute.is_list ? 8 : 3, value);
    message.add_number(20, attribute.is_list ? kIntsAttribute : kIntAttribute);
    return message;
  }

  static ProtobufMessage value_info(const std::string& name, ElementType type,
                                    const std::vector<std::int64_t>& further) {
    ProtobufMessage shape;
    ProtobufMessage rows;
    rows.add_text(2, "N");
    shape.add_message(1, rows);
    for (const std::int64_t size : further) {
      ProtobufMessage dimension;
      dimension.add_number(1, size);
      shape.add_message(1, dimension);
    }
    ProtobufMessage tensor_type;
    tensor_type.add_number(1, type);
    tensor_type.add_message(2, shape);
    ProtobufMessage value_type;
    value_type.add_message(1, tensor_type);
    ProtobufMessage info;
    info.add_text(1, name);
    info.add_message(2, value_type);
    return info;
  }

  std::string prefix_;
  ProtobufMessage graph_;
  std::map<std::string, std::string> tensors_;
  int values_ = 0;
  int nodes_ = 0;
};

std::string free_prefix(const Program& program) {
  std::string prefix = "mfga/";
  const auto is_taken = [&](const ProgramColumn& column) { return column.name.starts_with(prefix); };
  while (std::ranges::any_of(program.columns, is_taken)) prefix += "/";
  return prefix;
}

class OnnxPrinter {
 public:
  explicit OnnxPrinter(const Program& program)
      : program_(program),
        graph_(free_prefix(program)),
        values_(static_cast<std::size_t>(program.graph.size())) {}

  std::string print() {
    add_inputs();
    // Terms without their factors, as scores are sums of them: both then look at the same numbers.
    for (const Expression term : program_.terms) {
      const ExpressionGraph::Scaled parts = program_.graph.scaled(term);
      bases_.push_back(parts.base);
      factors_.push_back(parts.factor);
    }
    std::vector<Expression> roots = program_.results;
    roots.insert(roots.end(), program_.scores.begin(), program_.scores.end());
    roots.insert(roots.end(), bases_.begin(), bases_.end());
    const std::vector<bool> is_needed = reachable(program_.graph, roots);
    for (std::size_t id = 0; id < is_needed.size(); ++id) {
      const ExpressionNode& node = program_.graph.node({static_cast<std::int32_t>(id)});
      if (is_needed[id] && node.kind == Kind::kSum && node.arguments.size() > kMostWritten)
        sums_[node.arguments].push_back({static_cast<std::int32_t>(id)});
    }
    for (std::size_t id = 0; id < is_needed.size(); ++id) {
      const Expression expression{static_cast<std::int32_t>(id)};
      // Constants are there once something asks for them.
      const ExpressionNode& node = program_.graph.node(expression);
      if (is_needed[id] && values_[id].empty() && node.kind != Kind::kConstant) values_[id] = compute(node);
    }
    add_outputs();
    return graph_.model(program_title(program_));
  }

 private:
  static constexpr std::size_t kMostWritten = 3;

  [[nodiscard]] const std::string& value(Expression expression) {
    std::string& name = values_[static_cast<std::size_t>(expression.id)];
    if (name.empty()) name = compute(program_.graph.node(expression));
    return name;
  }
  [[nodiscard]] bool is_constant(Expression expression, double number) const {
    const ExpressionNode& node = program_.graph.node(expression);
    return node.kind == Kind::kConstant && node.numbers[0] == number;
  }
  std::string constant(double number) { return graph_.doubles(std::span(&number, 1), {1}); }
  std::string integer(std::int64_t number) { return graph_.integers(std::span(&number, 1)); }

  void add_inputs() {
    columns_.resize(program_.columns.size());
    if (program_.has_text()) {
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        const ProgramColumn& column = program_.columns[i];
        graph_.add_input(column.name, column.is_text ? kString : kFloat, 1);
        columns_[i] = column.is_text ? codes_of(column) : to_double(column.name);
      }
      first_input_ = program_.columns.front().name;
      return;
    }
    first_input_ = "X";
    graph_.add_input(first_input_, kFloat, program_.n_predictors);
    for (std::size_t i = 0; i < columns_.size(); ++i)
      columns_[i] = to_double(graph_.add("Gather", {first_input_, integer(program_.columns[i].position)},
                                         {number_attribute("axis", 1)}));
  }

  std::string to_double(const std::string& name) {
    return graph_.add("Cast", {name}, {number_attribute("to", kDouble)});
  }

  std::string codes_of(const ProgramColumn& column) {
    Attribute keys{"keys_strings", {}, {}, true};
    Attribute codes{"values_int64s", {}, {}, true};
    for (const auto& [text, code] : column.codes) {
      keys.strings.push_back(text);
      codes.ints.push_back(code);
    }
    return graph_.add("LabelEncoder", {column.name},
                      {keys, codes, number_attribute("default_int64", column.of_unknown)}, "", "ai.onnx.ml");
  }

  // A value for each row, also of constants.
  std::string rows_of(Expression expression) {
    if (program_.graph.node(expression).kind != Kind::kConstant) return value(expression);
    if (shape_.empty()) {
      const std::string rows =
          graph_.add("Shape", {first_input_}, {number_attribute("start", 0), number_attribute("end", 1)});
      shape_ = graph_.add("Concat", {rows, integer(1)}, {number_attribute("axis", 0)});
    }
    return graph_.add("Expand", {value(expression), shape_});
  }

  // Some values side by side.
  std::string concatenated(const std::vector<Expression>& expressions) {
    std::string& list = lists_[expressions];
    if (!list.empty()) return list;
    std::vector<std::string> names;
    for (const Expression expression : expressions) names.push_back(rows_of(expression));
    list = names.size() == 1 ? names[0] : graph_.add("Concat", names, {number_attribute("axis", 1)});
    return list;
  }

  std::string sum(const ExpressionNode& node) {
    if (node.arguments.size() > kMostWritten) return wide_sums(node);
    std::string result;
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
      const double weight = node.numbers[i];
      const std::string part = weight == 1 ? value(node.arguments[i])
                                           : graph_.add("Mul", {value(node.arguments[i]), constant(weight)});
      result = result.empty() ? part : graph_.add("Add", {result, part});
    }
    return node.numbers.back() == 0 ? result : graph_.add("Add", {result, constant(node.numbers.back())});
  }

  // All sums over the same things at once.
  std::string wide_sums(const ExpressionNode& node) {
    const std::vector<Expression>& sums = sums_.at(node.arguments);
    const std::size_t count = node.arguments.size();
    std::vector<double> weights(count * sums.size());
    std::vector<double> constants;
    std::vector<std::string> names;
    for (std::size_t j = 0; j < sums.size(); ++j) {
      const ExpressionNode& own = program_.graph.node(sums[j]);
      for (std::size_t i = 0; i < count; ++i) weights[i * sums.size() + j] = own.numbers[i];
      constants.push_back(own.numbers.back());
      names.push_back(graph_.new_name());
      values_[static_cast<std::size_t>(sums[j].id)] = names.back();
    }
    const std::string products =
        graph_.add("MatMul", {concatenated(node.arguments),
                              graph_.doubles(weights, {std::ssize(node.arguments), std::ssize(sums)})});
    const std::string shift = graph_.doubles(constants, {std::ssize(constants)});
    if (sums.size() == 1) {
      graph_.add("Add", {products, shift}, {}, names[0]);
    } else {
      graph_.add_node("Split", {graph_.add("Add", {products, shift})}, names,
                      {number_attribute("axis", 1), number_attribute("num_outputs", std::ssize(names))});
    }
    return value_of(node, sums);
  }
  [[nodiscard]] const std::string& value_of(const ExpressionNode& node,
                                            const std::vector<Expression>& among) {
    const auto own = std::ranges::find_if(
        among, [&](Expression expression) { return &program_.graph.node(expression) == &node; });
    return value(*own);
  }

  std::string distance(const ExpressionNode& node) {
    const bool is_square = node.kind == Kind::kSquareDistance;
    std::string differences = concatenated(node.arguments);
    if (!std::ranges::all_of(node.numbers, [](double number) { return number == 0; }))
      differences =
          graph_.add("Sub", {differences, graph_.doubles(node.numbers, {1, std::ssize(node.numbers)})});
    const std::string sizes =
        is_square ? graph_.add("Mul", {differences, differences}) : graph_.add("Abs", {differences});
    return graph_.add("ReduceSum", {sizes, integer(1)}, {number_attribute("keepdims", 1)});
  }

  std::string line(const ExpressionNode& node) {
    const std::span<const double> numbers = node.numbers;
    const std::size_t count = numbers.size() / 2;
    const std::span<const double> knots = numbers.first(count);
    const std::span<const double> values = numbers.subspan(count);
    const std::string x = graph_.add(
        "Min",
        {graph_.add("Max", {value(node.arguments[0]), constant(knots.front())}), constant(knots.back())});
    std::vector<double> slopes;
    for (std::size_t i = 0; i + 1 < count; ++i)
      slopes.push_back((values[i + 1] - values[i]) / (knots[i + 1] - knots[i]));
    std::string piece = integer(0);
    if (count > 2) {  // the number of inner knots that are not above x
      const std::span<const double> inner = knots.subspan(1, count - 2);
      const std::string is_above =
          graph_.add("GreaterOrEqual", {x, graph_.doubles(inner, {1, std::ssize(inner)})});
      piece = graph_.add("ReduceSum",
                         {graph_.add("Cast", {is_above}, {number_attribute("to", kInt64)}), integer(1)},
                         {number_attribute("keepdims", 1)});
    }
    const auto of_piece = [&](std::span<const double> all) {
      return graph_.add("Gather", {graph_.doubles(all, {std::ssize(all)}), piece},
                        {number_attribute("axis", 0)});
    };
    const std::string beyond = graph_.add("Sub", {x, of_piece(knots.first(count - 1))});
    return graph_.add("Add",
                      {of_piece(values.first(count - 1)), graph_.add("Mul", {beyond, of_piece(slopes)})});
  }

  std::string compute(const ExpressionNode& node) {
    const auto argument = [&](std::size_t i) { return value(node.arguments[i]); };
    const auto column = [&] { return columns_[static_cast<std::size_t>(node.column)]; };
    switch (node.kind) {
      case Kind::kConstant:
        return constant(node.numbers[0]);
      case Kind::kColumn:
        return column();
      case Kind::kSum:
        return sum(node);
      case Kind::kProduct: {
        std::string result = argument(0);
        for (std::size_t i = 1; i < node.arguments.size(); ++i)
          result = graph_.add("Mul", {result, argument(i)});
        return result;
      }
      case Kind::kQuotient:
        return graph_.add("Div", {argument(0), argument(1)});
      case Kind::kPower:
        return node.numbers[0] == 2 ? graph_.add("Mul", {argument(0), argument(0)})
                                    : graph_.add("Pow", {argument(0), constant(node.numbers[0])});
      case Kind::kSquareDistance:
      case Kind::kDistance:
        return distance(node);
      case Kind::kExp:
        return graph_.add("Exp", {argument(0)});
      case Kind::kLog:
        return graph_.add("Log", {argument(0)});
      case Kind::kSqrt:
        return graph_.add("Sqrt", {argument(0)});
      case Kind::kCos:
        return graph_.add("Cos", {argument(0)});
      case Kind::kSin:
        return graph_.add("Sin", {argument(0)});
      case Kind::kAbs:
        return graph_.add("Abs", {argument(0)});
      case Kind::kMax:
        return graph_.add("Max", {argument(0), argument(1)});
      case Kind::kMin:
        return graph_.add("Min", {argument(0), argument(1)});
      case Kind::kLine:
        return line(node);
      case Kind::kSelect:
        if (is_constant(node.arguments[1], 1) && is_constant(node.arguments[2], 0))
          return graph_.add("Cast", {argument(0)}, {number_attribute("to", kDouble)});
        return graph_.add("Where", {argument(0), argument(1), argument(2)});
      case Kind::kAtLeast:
        return graph_.add("GreaterOrEqual", {argument(0), argument(1)});
      case Kind::kIsMissing:
        return program_.columns[static_cast<std::size_t>(node.column)].is_text
                   ? graph_.add("Equal", {column(), integer(ProgramColumn::kMissing)})
                   : graph_.add("IsNaN", {column()});
      case Kind::kIsLevel:
        return graph_.add("Equal", {column(), integer(static_cast<std::int64_t>(node.numbers[0]))});
    }
    return {};
  }

  // Outputs must not have the name of an input.
  [[nodiscard]] std::string output_name(std::string name) const {
    while (program_.has_text() &&
           std::ranges::find(program_.columns, name, &ProgramColumn::name) != program_.columns.end())
      name += "_";
    return name;
  }

  void add_numbers(const std::string& name, const std::vector<Expression>& expressions) {
    const std::string own = output_name(name);
    graph_.add("Cast", {concatenated(expressions)}, {number_attribute("to", kFloat)}, own);
    graph_.add_output(own, kFloat, {std::ssize(expressions)});
  }

  void add_label() {
    const std::vector<std::string>& labels = program_.model->labels;
    const std::string scores = concatenated(program_.scores);
    const std::string places =
        program_.scores.size() > 1
            ? graph_.add("ArgMax", {scores}, {number_attribute("axis", 1), number_attribute("keepdims", 0)})
            : graph_.add("Reshape", {graph_.add("Cast", {graph_.add("Greater", {scores, constant(0)})},
                                                {number_attribute("to", kInt64)}),
                                     integer(-1)});
    std::vector<std::int64_t> numbers;
    for (const std::string& label : labels) {
      std::int64_t number = 0;
      const auto [end, problem] = std::from_chars(label.data(), label.data() + label.size(), number);
      if (problem == std::errc() && end == label.data() + label.size() && fmt::format("{}", number) == label)
        numbers.push_back(number);
    }
    const bool are_numbers = numbers.size() == labels.size();
    const std::string own = output_name("label");
    graph_.add("Gather", {are_numbers ? graph_.integers(numbers) : graph_.texts(labels), places},
               {number_attribute("axis", 0)}, own);
    graph_.add_output(own, are_numbers ? kInt64 : kString, {});
  }

  void add_contributions() {
    const std::size_t terms = program_.terms.size();
    const std::size_t outputs = program_.scores.size();
    if (terms == 0) return;
    std::vector<double> factors;
    for (std::size_t k = 0; k < outputs; ++k) {
      for (std::size_t i = 0; i < terms; ++i)
        factors.push_back(factors_[i] * program_.contribution_factor(i, k));
    }
    const auto n_terms = static_cast<std::int64_t>(terms);
    const auto n_outputs = static_cast<std::int64_t>(outputs);
    std::string values = concatenated(bases_);
    if (outputs > 1) values = graph_.add("Unsqueeze", {values, integer(1)});
    const std::string shares =
        graph_.add("Mul", {values, outputs > 1 ? graph_.doubles(factors, {1, n_outputs, n_terms})
                                               : graph_.doubles(factors, {1, n_terms})});
    const std::string own = output_name("contributions");
    graph_.add("Cast", {shares}, {number_attribute("to", kFloat)}, own);
    graph_.add_output(own, kFloat, outputs > 1 ? std::vector{n_outputs, n_terms} : std::vector{n_terms});
  }

  void add_outputs() {
    if (program_.is_classification()) add_label();
    add_numbers(program_.is_classification() ? "probabilities" : "prediction", program_.results);
    add_numbers("score", program_.scores);
    add_contributions();
  }

  const Program& program_;
  OnnxGraph graph_;
  std::vector<Expression> bases_;                                    // of the terms
  std::vector<double> factors_;                                      // that they have
  std::vector<std::string> values_;                                  // of nodes, by id
  std::vector<std::string> columns_;                                 // numbers, or levels of text
  std::map<std::vector<Expression>, std::string> lists_;             // side by side
  std::map<std::vector<Expression>, std::vector<Expression>> sums_;  // by what they are of
  std::string first_input_;
  std::string shape_;  // [rows, 1]
};

}  // namespace

std::string print_onnx(const Program& program) { return OnnxPrinter(program).print(); }

}  // namespace mfga

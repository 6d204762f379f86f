// Checks of option values that the option tables do not make, and lists of columns.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace mfga::cli {

// The name of a file: not empty.
[[nodiscard]] CLI::Validator file_name();
// Digits that make a number of 64 bits; CLI11 would take -1 and 2^64 for the largest one.
[[nodiscard]] CLI::Validator whole_number();
// From 0 to 1; no NaN, which is in every range of CLI11.
[[nodiscard]] CLI::Validator fraction();

// The columns that are meant by what was given for an option: each value is the name of a column, commas and
// all, or else a list between commas, where names with commas stand in quotes as in a CSV file.
[[nodiscard]] std::vector<std::string> column_list(const std::vector<std::string>& given,
                                                   const std::vector<std::string>& columns,
                                                   const std::string& option);

// Adds an option for such a list; it takes one value and may be repeated.
void add_column_list(CLI::App& command, const std::string& name, std::vector<std::string>& given,
                     const std::string& help, const std::string& group);

// What is wrong with the arguments, with the command or option that was probably meant.
[[nodiscard]] std::string usage_problem(const CLI::App& tool, const CLI::ParseError& error, int argc,
                                        char** argv);

}  // namespace mfga::cli

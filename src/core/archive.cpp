#include "core/archive.hpp"

#include <algorithm>

#include "mfga/error.hpp"

namespace mfga {

void Archive::fail() { throw Error(ErrorKind::kBadData, "its content is not what it should be"); }

void Archive::value(std::string& text) {
  auto count = static_cast<std::uint64_t>(text.size());
  value(count);
  resize(text, count, 1);
  raw(text.data(), text.size());
}

void Archive::value(Matrix& matrix) {
  value(matrix.rows);
  value(matrix.cols);
  value(matrix.values);
  const bool is_possible = matrix.rows >= 0 && matrix.cols >= 0 &&
                           (matrix.cols == 0 ? matrix.values.empty()
                                             : std::ssize(matrix.values) / matrix.cols == matrix.rows &&
                                                   std::ssize(matrix.values) % matrix.cols == 0);
  if (!is_possible) fail();
}

void Archive::value(SharedNumbers& numbers) {
  const auto known = is_loading_ ? shared_.end() : std::ranges::find(shared_, numbers);
  auto position = static_cast<std::uint64_t>(known - shared_.begin());
  value(position);
  if (position > shared_.size()) fail();
  if (position == shared_.size()) {
    std::vector<double> list(numbers.numbers().begin(), numbers.numbers().end());
    value(list);
    shared_.push_back(!is_loading_   ? numbers
                      : list.empty() ? SharedNumbers()
                                     : SharedNumbers(std::move(list)));
  }
  if (is_loading_) numbers = shared_[position];
}

void archive(Archive& bytes, Atom& atom) {
  bytes(atom.family, atom.nu, atom.inputs, atom.exponents, atom.parameters, atom.shared);
}

}  // namespace mfga

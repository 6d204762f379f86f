// Ranks that an object of Python connects.
#pragma once

#include <nanobind/nanobind.h>

#include "mfga/communicator.hpp"

namespace mfga::python {

// For an object with `rank`, `size` and `all_gather(bytes)`, which gives a list of bytes. The interpreter's
// lock is held while the object is asked, and at no other time.
class PythonCommunicator final : public Communicator {
 public:
  explicit PythonCommunicator(nanobind::object object);
  ~PythonCommunicator() override = default;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] std::vector<std::string> all_gather(std::string_view own) override;

 private:
  nanobind::object object_;
  int rank_ = 0;
  int size_ = 0;
};

}  // namespace mfga::python

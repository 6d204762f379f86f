#include "src/communicator.hpp"

#include "mfga/error.hpp"

namespace mfga::python {
namespace nb = nanobind;

PythonCommunicator::PythonCommunicator(nb::object object)
    : object_(std::move(object)),
      rank_(nb::cast<int>(object_.attr("rank"))),
      size_(nb::cast<int>(object_.attr("size"))) {
  if (rank_ < 0 || rank_ >= size_)
    throw Error(ErrorKind::kInvalidArgument,
                "rank " + std::to_string(rank_) + " is not one of " + std::to_string(size_) + " ranks");
}

std::vector<std::string> PythonCommunicator::all_gather(std::string_view own) {
  const nb::gil_scoped_acquire acquire;
  const nb::object answer = object_.attr("all_gather")(nb::bytes(own.data(), own.size()));
  std::vector<std::string> gathered;
  for (const nb::handle part : answer) {
    const auto bytes = nb::cast<nb::bytes>(part);
    gathered.emplace_back(bytes.c_str(), bytes.size());
  }
  if (gathered.size() != static_cast<std::size_t>(size_))
    throw Error(ErrorKind::kInvalidArgument, "all_gather gave the bytes of " +
                                                 std::to_string(gathered.size()) +
                                                 " ranks; expected those of " + std::to_string(size_));
  return gathered;
}

}  // namespace mfga::python

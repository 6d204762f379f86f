#include "mfga/communicator.hpp"

#include <utility>

namespace mfga {

std::string Communicator::broadcast(std::string_view own, int root) {
  return std::move(all_gather(rank() == root ? own : std::string_view())[static_cast<std::size_t>(root)]);
}

std::vector<std::string> Communicator::gather(std::string_view own, int root) {
  std::vector<std::string> all = all_gather(own);
  if (rank() != root) all.clear();
  return all;
}

void Communicator::barrier() { static_cast<void>(all_gather({})); }

}  // namespace mfga

// Several processes, or machines, that learn one model together: each is a rank and has some of the rows.
//
//   mfga::FitResult result = mfga::fit(own_rows, options, {}, nullptr, {}, &communicator);
//
// Every rank makes the same call with the same options and its own rows, which stand in the order of the
// ranks; a rank may have none. Every rank gets the model that one process finds with all rows, to the last
// bit, for any number of ranks and threads. Last digits depend on the processor and on libraries: where these
// are not the same for all ranks, the fit is refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mfga {

// How ranks talk. Every rank calls the same operations in the same order, and always from the thread that
// called the library; bytes arrive as they were sent. Where one of the others has gone, an operation throws,
// or ends the process: it must not wait for ever. Who implements it needs rank(), size() and all_gather();
// the other operations are made from that, and may be overridden with faster ones.
class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  // From 0.
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  // What each rank gives, in the order of the ranks; lengths may differ. Sums over all ranks are made from
  // this, so that they add up in an order that does not depend on who is fast.
  [[nodiscard]] virtual std::vector<std::string> all_gather(std::string_view own) = 0;
  // What rank `root` gives; what the others give does not count.
  [[nodiscard]] virtual std::string broadcast(std::string_view own, int root);
  // What each rank gives, on rank `root`; on the others nothing.
  [[nodiscard]] virtual std::vector<std::string> gather(std::string_view own, int root);
  // Returns when every rank has called it.
  virtual void barrier();
};

// One process that has all rows.
class SerialCommunicator final : public Communicator {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] std::vector<std::string> all_gather(std::string_view own) override {
    return {std::string(own)};
  }
};

}  // namespace mfga

#include "thread_ranks.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "mfga/error.hpp"

namespace mfga {
namespace {

// What the threads share.
struct Meeting {
  explicit Meeting(int count) : size(count), said(static_cast<std::size_t>(count)) {}

  int size;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> said;     // so far
  std::vector<std::string> outcome;  // of the last time that all had said something
  int here = 0;
  long round = 0;
  bool is_broken = false;
  std::exception_ptr error;  // the first
};

class ThreadRank final : public Communicator {
 public:
  ThreadRank(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return meeting_.size; }
  [[nodiscard]] std::vector<std::string> all_gather(std::string_view own) override {
    std::unique_lock lock(meeting_.mutex);
    meeting_.said[static_cast<std::size_t>(rank_)] = own;
    const long round = meeting_.round;
    if (++meeting_.here == meeting_.size) {
      meeting_.outcome = meeting_.said;
      meeting_.here = 0;
      ++meeting_.round;
      meeting_.changed.notify_all();
    }
    meeting_.changed.wait(lock, [&] { return meeting_.round > round || meeting_.is_broken; });
    if (meeting_.round == round) throw Error(ErrorKind::kIo, "another rank is gone");
    return meeting_.outcome;
  }

 private:
  Meeting& meeting_;
  int rank_;
};

}  // namespace

void run_on_ranks(int count, const std::function<void(Communicator&)>& body) {
  Meeting meeting(count);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadRank communicator(meeting, rank);
      try {
        body(communicator);
      } catch (...) {
        const std::lock_guard lock(meeting.mutex);
        if (!meeting.is_broken) meeting.error = std::current_exception();
        meeting.is_broken = true;
        meeting.changed.notify_all();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (meeting.error) std::rethrow_exception(meeting.error);
}

RowsOfRank rows_of_rank(Index rows, const Communicator& communicator) {
  const Index first = rows * communicator.rank() / communicator.size();
  return {first, rows * (communicator.rank() + 1) / communicator.size() - first};
}

}  // namespace mfga

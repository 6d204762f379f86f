#include "cli/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "cli/standard_output.hpp"
#include "mfga/error.hpp"

#ifdef MFGA_WITH_MPI
#include <mpi.h>
#endif

namespace mfga::cli {
namespace {

constexpr int kUnknown = 0;

// How many processes have been started together, as Open MPI, MPICH and its kin, MVAPICH and Slurm (where it
// serves MPI by PMIx) tell it.
int launched_count() {
  const auto number = [](const char* name) {
    const char* const value = std::getenv(name);  // NOLINT
    return value == nullptr ? std::optional<int>() : std::atoi(value);
  };
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"}) {
    if (const auto count = number(name)) return *count;
  }
  if (number("PMIX_RANK")) return number("SLURM_STEP_NUM_TASKS").value_or(kUnknown);
  return number("MPI_LOCALNRANKS") ? kUnknown : 1;  // those of this machine
}

#ifdef MFGA_WITH_MPI

// Waits as a guest would: MPI itself keeps the core busy, which may be that of the rank that is waited for.
void wait_for(MPI_Request request) {
  constexpr auto kBusy = std::chrono::microseconds(100);
  constexpr auto kMoment = std::chrono::microseconds(50);
  const auto begin = std::chrono::steady_clock::now();
  for (int is_done = 0; is_done == 0;) {
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (is_done == 0 && std::chrono::steady_clock::now() - begin > kBusy)
      std::this_thread::sleep_for(kMoment);
  }
}

// MPI counts in ints.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30U;

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm_dup(MPI_COMM_WORLD, &apart_);
  }
  // For what is said beside the work of the ranks.
  [[nodiscard]] MPI_Comm apart() const { return apart_; }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  [[nodiscard]] std::vector<std::string> all_gather(std::string_view own) override {
    const std::vector<unsigned long long> lengths = lengths_of_all(own.size());
    std::vector<std::string> all(lengths.size());
    if (std::accumulate(lengths.begin(), lengths.end(), 0ULL) > kMostAtOnce) {
      for (int root = 0; root < size_; ++root) {
        std::string& theirs = all[static_cast<std::size_t>(root)];
        if (root == rank_) theirs = own;
        theirs.resize(lengths[static_cast<std::size_t>(root)]);
        spread(theirs, root);
      }
      return all;
    }
    std::vector<int> counts(lengths.begin(), lengths.end());
    std::vector<int> places(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
    std::string received(static_cast<std::size_t>(places.back() + counts.back()), '\0');
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgatherv(own.data(), static_cast<int>(own.size()), MPI_BYTE, received.data(), counts.data(),
                    places.data(), MPI_BYTE, MPI_COMM_WORLD, &request);
    wait_for(request);
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      all[rank] =
          received.substr(static_cast<std::size_t>(places[rank]), static_cast<std::size_t>(counts[rank]));
    return all;
  }

  [[nodiscard]] std::string broadcast(std::string_view own, int root) override {
    unsigned long long length = own.size();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(&length, 1, MPI_UNSIGNED_LONG_LONG, root, MPI_COMM_WORLD, &request);
    wait_for(request);
    std::string result(rank_ == root ? own : std::string_view());
    result.resize(length);
    spread(result, root);
    return result;
  }

 private:
  [[nodiscard]] std::vector<unsigned long long> lengths_of_all(unsigned long long own) const {
    std::vector<unsigned long long> lengths(static_cast<std::size_t>(size_));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(&own, 1, MPI_UNSIGNED_LONG_LONG, lengths.data(), 1, MPI_UNSIGNED_LONG_LONG, MPI_COMM_WORLD,
                   &request);
    wait_for(request);
    return lengths;
  }
  static void spread(std::string& bytes, int root) {
    for (std::size_t place = 0; place < bytes.size(); place += kMostAtOnce) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ibcast(bytes.data() + place, static_cast<int>(std::min(kMostAtOnce, bytes.size() - place)),
                 MPI_BYTE, root, MPI_COMM_WORLD, &request);
      wait_for(request);
    }
  }

  int rank_ = 0;
  int size_ = 1;
  MPI_Comm apart_ = MPI_COMM_NULL;
};

std::unique_ptr<MpiCommunicator>& joined() {
  static std::unique_ptr<MpiCommunicator> communicator;
  return communicator;
}

#endif

}  // namespace

#ifdef MFGA_WITH_MPI

bool has_mpi() { return true; }

LaunchedRanks::LaunchedRanks() {
  const int launched = launched_count();
  if (launched == 1) return;
  int provided = 0;
  // An error of MPI ends all ranks.
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  joined() = std::make_unique<MpiCommunicator>();
  const int found = joined()->size();
  if (launched != kUnknown && found != launched) {
    // Each would train by itself, and all would write the same files.
    joined().reset();
    MPI_Finalize();
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("{} processes were started together, and the MPI of this mfga knows of {}; start "
                            "them with the mpirun of the MPI that it was built with (with Slurm: srun "
                            "--mpi=pmix)",
                            launched, found));
  }
  if (found > 1) return;
  joined().reset();
  MPI_Finalize();
}

LaunchedRanks::~LaunchedRanks() {
  if (joined() == nullptr) return;
  joined().reset();
  MPI_Finalize();
}

bool LaunchedRanks::tells_of_error(std::string_view message, int exit_code) {
  constexpr auto kPatience = std::chrono::seconds(2);
  constexpr auto kMoment = std::chrono::milliseconds(10);
  if (joined() == nullptr) return true;
  const int rank = joined()->rank();
  // Most errors are those of all ranks, which then meet here.
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(joined()->apart(), &request);
  const auto begin = std::chrono::steady_clock::now();
  int have_met = 0;
  while (have_met == 0 && std::chrono::steady_clock::now() - begin < kPatience) {
    MPI_Test(&request, &have_met, MPI_STATUS_IGNORE);
    if (have_met == 0) std::this_thread::sleep_for(kMoment);
  }
  if (have_met != 0) return rank == 0;
  print_message(fmt::format("rank {}: {}", rank, message));
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::abort();
}

Communicator* launched_ranks() { return joined().get(); }

#else

bool has_mpi() { return false; }

LaunchedRanks::LaunchedRanks() {
  if (launched_count() == 1) return;
  throw Error(ErrorKind::kInvalidArgument,
              "this mfga was built without MPI; start it without mpirun, or build it where MPI is installed");
}
LaunchedRanks::~LaunchedRanks() = default;
bool LaunchedRanks::tells_of_error(std::string_view /*message*/, int /*exit_code*/) { return true; }
Communicator* launched_ranks() { return nullptr; }

#endif

}  // namespace mfga::cli

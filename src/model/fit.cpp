#include "mfga/fit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mfga/error.hpp"
#include "mfga/paper.hpp"
#include "model/fingerprint.hpp"
#include "model/fit_checks.hpp"
#include "model/one_fit.hpp"
#include "model/ranked_data.hpp"
#include "model/with_device.hpp"
#include "model/with_workers.hpp"

namespace mfga {
namespace {

FitResult fit_rows(const TrainingData& data, const FitOptions& options, const paper::Options& paper,
                   const Checkpoint& checkpoint, Workers& workers, Control& control) {
  check_data(data);
  if (const CrossValidationOptions* const validation = options.ridge.validation()) {
    const Index rows = data.x.rows - std::ranges::count(data.weights, 0.0);
    check_folds(validation->most_rows > 0 ? std::min(rows, validation->most_rows) : rows, validation->folds);
    check_groups(data, validation->folds);
  }
  const CountedRows counted(data);
  const Plan plan = make_plan(counted.without_others(data), options, paper);
  if (workers.ranks() != nullptr) workers.ranks()->share(plan.times.clock());
  return with_device(options.device, workers, [&] {
    if (checkpoint.path.empty()) return one_fit(data, counted, plan, workers, control, nullptr);
    Journal journal(checkpoint, fingerprint_of(data, options, paper, workers), plan.times.clock(), control,
                    workers.ranks());
    FitResult result = one_fit(data, counted, plan, workers, control, &journal);
    journal.finish();
    result.report.resumed_seconds = plan.times.clock().earlier();
    if (!journal.problem().empty())
      result.report.warnings.push_back(fmt::format("there is no checkpoint: {}", journal.problem()));
    return result;
  });
}

FitResult run(const TrainingData& data, const FitOptions& options, const paper::Options& paper,
              const ProgressCallback& progress, ThreadPool* pool, const Checkpoint& checkpoint,
              Communicator* communicator) {
  const bool is_alone = communicator == nullptr || communicator->size() == 1;
  agreed(communicator, [&] {
    paper.validate(options);
    if (!is_alone) refuse_for_ranks(options, paper);
    if (is_alone || communicator->rank() == 0) checkpoint.validate();
    if (options.device == DeviceChoice::kAuto && !checkpoint.path.empty()) {
      throw Error(
          ErrorKind::kInvalidArgument,
          "a fit goes on from its `checkpoint` where it began; use `device=cpu` or `device=cuda`, not auto");
    }
  });
  return with_workers(options.threads, progress, pool, [&](Workers& workers, Control& control) {
    if (is_alone) return fit_rows(data, options, paper, checkpoint, workers, control);
    Ranks ranks(*communicator, control);
    const RankedData ranked(data, options, ranks);
    workers.set_ranks(&ranks);
    return fit_rows(ranked.all(), ranked.options(), paper, checkpoint, workers, control);
  });
}

}  // namespace

FitResult fit(const TrainingData& data, const FitOptions& options, const ProgressCallback& progress,
              ThreadPool* pool, const Checkpoint& checkpoint, Communicator* communicator) {
  return run(data, options, {}, progress, pool, checkpoint, communicator);
}

FitResult paper::fit(const TrainingData& data, const FitOptions& options, const paper::Options& paper,
                     const ProgressCallback& progress, ThreadPool* pool, const Checkpoint& checkpoint,
                     Communicator* communicator) {
  return run(data, options, paper, progress, pool, checkpoint, communicator);
}

}  // namespace mfga

#pragma once

#include "model/learners.hpp"

namespace mfga {

// What the report says of the choices by held-out rows.
void archive_choices(Archive& bytes, FitReport& report);
void archive(Archive& bytes, TriedSize& size);
void archive(Archive& bytes, TriedDictionary& tried);
void archive(Archive& bytes, TuningReport& tuning);
void archive(Archive& bytes, TriedScales& scales);

}  // namespace mfga

// The whole public API.
#pragma once

#include "mfga/bound.hpp"
#include "mfga/columns.hpp"
#include "mfga/cross_validate.hpp"
#include "mfga/dictionary.hpp"
#include "mfga/error.hpp"
#include "mfga/evaluate.hpp"
#include "mfga/fit.hpp"
#include "mfga/formula.hpp"
#include "mfga/generate.hpp"
#include "mfga/metrics.hpp"
#include "mfga/model.hpp"
#include "mfga/predictor.hpp"
#include "mfga/table.hpp"
#include "mfga/train.hpp"
#include "mfga/version.hpp"
#include "mfga/views.hpp"

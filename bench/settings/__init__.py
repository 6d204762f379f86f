"""The settings of the comparison, by number."""

from dataclasses import dataclass

from settings import cross_validation, defaults, families, greedy, kernels, logistic, prediction, reading


@dataclass
class Setting:
    number: int | str
    short: str
    title: str
    quick: str  # the sizes with --quick
    timed: str  # what the seconds are
    run: object  # (Bench) -> rows
    by_itself: bool = False  # takes so long that it is run only if it is asked for


FIT = (
    "after loading: ours standardises, finds the kernel width and fits; peers get the width for free, standardise, "
    "make the features and learn"
)
SMALL = "5,000 rows, 60 of 496 features"

SETTINGS = [
    Setting(
        1,
        "greedy fit, 20 per step",
        "400 of 4,186 second-order features, 46,371 rows of 90 inputs, 20 per step",
        SMALL + ", 10 per step",
        FIT + "; only NumPy's version adds 20 per step, the other peers can only add one",
        greedy.run_many_per_step,
    ),
    Setting(2, "greedy fit, one per step", "the same, one per step", SMALL, FIT, greedy.run_one_per_step),
    Setting(
        3,
        "greedy fit, ten times the rows",
        "the same as 1 on 463,715 rows",
        "50,000 rows",
        FIT,
        greedy.run_many_rows,
    ),
    Setting(
        4,
        "greedy logistic fit",
        "100 of 247 first-order features for a classifier, adult's 32,561 rows of 123 inputs, 10 per step",
        "4,000 rows, 40 terms",
        FIT + "; to the same objective: for skscope, which adds one feature per step, and abess, which looks for the best "
        "subset, ours has as many more terms as it needs to reach theirs",
        logistic.run,
    ),
    Setting(
        5,
        "cross-validation",
        "5-fold cross-validation of 11 ridges and all sizes up to 400 terms, data of 1",
        SMALL,
        "after loading; against one fit with the same engine (gram)",
        cross_validation.run,
    ),
    Setting(
        6,
        "prediction from file to file",
        "prediction of 1,000,000 rows of 90 inputs by 400 terms, from .npy file to file",
        "100,000 rows of 30 inputs by 60 terms",
        "ours the whole process, peers without the start of Python and imports",
        prediction.run,
    ),
    Setting(
        7, "reading a CSV file", "reading a CSV file of 1 GB, 91 columns", "50 MB", "reading alone", reading.run
    ),
    Setting(
        8,
        "random features, exact kernels",
        "random features (rks) and exact kernels (gk)",
        "fewer rows",
        FIT,
        kernels.run,
    ),
    Setting(
        9,
        "a gradient pass of each family",
        "a gradient pass of each feature family, 46,371 rows of 90 inputs (12 for products of hinges)",
        "5,000 rows of 30 inputs (5)",
        "one pass: ours, the mean of 10 in a fit, makes the features anew each time and scores the model; NumPy's makes a matrix "
        "of as many such features, once, and multiplies it by the residuals; the ratio is of both parts, that of the product alone "
        "stands beside it, and what our fit does once, bounds of rounding errors above all",
        families.run,
    ),
    Setting(
        "defaults",
        "the defaults beside trees",
        "`mfga train` with its defaults beside HistGradientBoosting as it comes and tuned",
        "two small tables, one split",
        "the fit as it is reported, and trees' fit, each on all cores (tuned trees on one); a ratio is our time over theirs, or our error over that of "
        "tuned trees",
        defaults.run,
        by_itself=True,
    ),
]

#!/usr/bin/env python3
"""Checks of what the scripts of this folder report, without scikit-learn and without the tool."""

import math
import pathlib
import tempfile
import unittest
from types import SimpleNamespace

import ours_report
from ours_report import KERNEL, TREES, TUNED_TREES, our_key
from tool_runs import PUBLIC_TABLES, load_results, save_results


def case(name, metric, at_most, name_in_paper=None):
    measure = SimpleNamespace(title=metric, metric=metric)
    return SimpleNamespace(name=name, measure=measure, at_most=at_most, name_in_paper=name_in_paper)


def result(error, **more):
    return {"error": error, "bytes": 1000, "fit_seconds": 1.5, "microseconds_per_row": 0.25, **more}


class Figures(unittest.TestCase):
    def test_the_papers_best_is_read_from_its_table(self):
        self.assertEqual(ours_report.paper_best("year"), (4.78, "MFGA"))
        self.assertEqual(ours_report.paper_best("news"), (0.14, "GLK"))
        self.assertEqual(ours_report.paper_best("epileptic"), (2.82, "GK"))

    def test_verdicts(self):
        for error, at_most, expected in ((4.02, 4.02, "met"), (4.03, 4.02, "missed"), (4, None, ""), (None, 4, "")):
            self.assertEqual(ours_report.verdict(error, at_most), expected)

    def test_ratios_with_zero(self):
        self.assertEqual(ours_report.ratio(1, 2), 0.5)
        self.assertEqual(ours_report.ratio(0, 0), 1)
        self.assertEqual(ours_report.ratio(1, 0), math.inf)


class Report(unittest.TestCase):
    def setUp(self):
        self.paper_cases = [case("year", "mse", {40: 4.02, 400: 3.97}, "year")]
        self.other_cases = [case("a", "rmse", {200: None}), case("b", "log_loss", {200: None})]
        self.results = {
            "year": {our_key(40): result(4.0, terms=40), TUNED_TREES: result(4.1), KERNEL: result(3.9, method="GK")},
            "a": {our_key(200): result(3.0, terms=57.0, metrics={}), TUNED_TREES: result(2.0, metrics={})},
            "b": {
                our_key(200): result(0.2, terms=200, metrics={"error_percent": 5.0}),
                TUNED_TREES: result(0.4, metrics={"error_percent": 2.0}),
            },
        }

    def rows_of(self, name):
        text = ours_report.as_markdown(self.results, self.paper_cases, self.other_cases)
        return [line for line in text.splitlines() if line.startswith(f"| {name} |")]

    def test_goals_are_judged_and_missing_results_are_empty(self):
        first, second = self.rows_of("year")[:2]
        self.assertEqual(first, "| year | 40 | mse | 4 | 4.02 | met |  | 4.1 | 3.9 (GK) | 4.78 (MFGA) |")
        self.assertEqual(second, "| year | 400 | mse |  | 3.97 |  |  | 4.1 | 3.9 (GK) | 4.78 (MFGA) |")

    def test_ratios_and_fewer_terms_than_asked_for(self):
        self.assertEqual(self.rows_of("a")[0], "| a | 57 of 200 | rmse | 3 |  | 2 |  | 1.5 |  |")
        self.assertEqual(self.rows_of("b")[0], "| b | 200 | log_loss | 0.2 |  | 0.4 |  | 0.5 | 5 / 2 |")

    def test_medians_over_all_tables(self):
        text = ours_report.medians(self.results, self.other_cases)
        self.assertIn("over 2 tables: 1 (RMSE", text)  # of 1.5 and 0.5
        self.assertIn("; 2 with wrong labels", text)  # of 1.5 and 2.5
        self.assertEqual(ours_report.medians({}, self.other_cases), "")

    def test_every_row_of_a_table_has_the_columns_of_its_header(self):
        self.results["year"][TREES] = result(4.2)
        for part in ours_report.as_markdown(self.results, self.paper_cases, self.other_cases).split("\n\n"):
            lines = [line for line in part.splitlines() if line.startswith("|")]
            self.assertEqual(len({line.count("|") for line in lines} or {0}), 1, part)


class Runs(unittest.TestCase):
    def test_options_are_those_that_the_table_needs(self):
        self.assertEqual(PUBLIC_TABLES["adult a9a"].options(), ["--train", "adult/a9a", "--test", "adult/a9a.t"])
        self.assertEqual(PUBLIC_TABLES["year"].options()[-4:], ["--header", "no", "--target", "0"])
        self.assertFalse(PUBLIC_TABLES["year"].has_names())
        self.assertTrue(PUBLIC_TABLES["news"].has_names())

    def test_results_are_found_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "new" / "results.json"
            self.assertEqual(load_results(path), {})
            save_results({"a": 1}, path)
            self.assertEqual(load_results(path), {"a": 1})
            self.assertEqual([path], list(path.parent.iterdir()))


if __name__ == "__main__":
    unittest.main()

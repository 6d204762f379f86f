#!/usr/bin/env python3
"""Checks of the comparison itself, without any peer: wrong answers are refused, failures become words, verdicts are right."""

import unittest
from unittest import mock

import harness
import page
import report
from harness import Bench, Peer, Row, at_least, at_most
from process import NotInstalled, RunError, TookTooLong, run_child
from settings import defaults, families, greedy, logistic, reading


def raising(error):
    def run(_):
        raise error

    return run


class Answers(unittest.TestCase):
    def setUp(self):
        self.ours = {
            "terms": 2,
            "train": {"mse": 2.0},
            "path": [{"added": ["x1 * x7 * G(9.5)"]}, {"added": ["x3^2 * G(9.5)"]}],
        }

    def test_formulas_are_read(self):
        self.assertEqual(greedy.parse_atom("x1 * x7 * G(9.5)"), (1, 7))
        self.assertEqual(greedy.parse_atom("x3^2 * G(9.5)"), (3, 3))
        self.assertEqual(greedy.parse_atom("G(9.5)"), ())
        self.assertRaises(RunError, greedy.parse_atom, "cos(x3)")

    def test_the_same_answer_is_accepted(self):
        self.assertIn("same 2", greedy.same_answer(self.ours, {"atoms": [[3, 3], [1, 7]], "mse": 2.0}))

    def test_other_features_are_refused(self):
        self.assertRaises(RunError, greedy.same_answer, self.ours, {"atoms": [[3, 3], [1, 8]], "mse": 2.0})

    def test_another_error_is_refused(self):
        self.assertRaises(RunError, greedy.same_answer, self.ours, {"atoms": [[3, 3], [1, 7]], "mse": 2.1})
        self.assertRaises(RunError, greedy.same_answer, self.ours, {"atoms": [[3, 3], [1, 7]], "mse": float("nan")})

    def test_another_rule_may_not_do_much_better(self):
        self.assertRaises(RunError, greedy.same_size, self.ours, {"atoms": [[1], [2]], "mse": 1.5})
        self.assertRaises(RunError, greedy.same_size, self.ours, {"atoms": [[1]], "mse": 2.0})

    def test_logistic_atoms_are_named_as_the_peers_name_them(self):
        ours = {"path": [{"added": ["x3", "G(7.52)", "x12 * G(7.52)"]}]}
        self.assertEqual(logistic.our_atoms(ours), {"x3", "G", "x12 G"})

    def test_a_gradient_of_other_features_is_refused(self):
        case = families.Case("gaussian", {"order": 2}, 90)
        ours = {"candidates": 5, "path": [{"added": ["x1 * x7 * G(9.5)"], "largest_gradient": 2.0}]}
        theirs = {"features": 5, "best": [1, 7], "largest": 2.0}
        self.assertIn("same first feature", families.same_work(case, ours, theirs))
        self.assertEqual("as many features", families.same_work(case, ours, theirs | {"best": None}))
        for wrong in ({"features": 6}, {"best": [1, 8]}, {"largest": 2.1}, {"largest": float("nan")}):
            self.assertRaises(RunError, families.same_work, case, ours, theirs | wrong)

    def test_a_family_without_a_case_is_refused(self):
        families.check_all_covered("### `linear`\n\n### `step`\n", {"linear", "step", "more"})
        self.assertRaises(RunError, families.check_all_covered, "### `linear`\n\n### `new`\n", {"linear"})

    def test_families_are_written_as_in_the_dictionary(self):
        self.assertEqual(families.Case("linear", {}, 90).expression, "linear")
        self.assertEqual(families.Case("step", {"knots": 3}, 90).expression, "step(knots=3)")

    def test_another_table_is_refused(self):
        ours = {"n_train": 10, "inputs_read": [{"mean": 1.0, "deviation": 2.0}]}
        self.assertTrue(reading.same_table(ours, {"rows": 10, "means": [1.0]}))
        self.assertRaises(RunError, reading.same_table, ours, {"rows": 9, "means": [1.0]})
        self.assertRaises(RunError, reading.same_table, ours, {"rows": 10, "means": [1.001]})


class Comparison(unittest.TestCase):
    def setUp(self):
        patch = mock.patch.object(harness, "say", lambda text: None)
        patch.start()
        self.addCleanup(patch.stop)
        self.bench = Bench("mfga", "/nowhere", quick=False, repeats=3, data=None)

    def compare(self, *peers):
        seconds = iter(range(1, 100))
        return self.bench.compare(lambda: {"seconds": 2.0, "peak_mib": 10, "run": next(seconds)}, list(peers))

    def test_ratio_is_the_peers_time_over_ours(self):
        times = iter([30.0, 20.0, 10.0])
        peer = Peer("slow", lambda _: {"seconds": next(times), "peak_mib": 5}, lambda *_: "same", at_least(9))
        (ours, theirs), runs = self.compare(peer)
        self.assertEqual((len(runs), ours.median, theirs.median, theirs.fastest), (3, 2.0, 20.0, 10.0))
        self.assertEqual((theirs.measured, theirs.measured_fastest), (10.0, 5.0))
        self.assertEqual(report.verdict(theirs, quick=False), "met")

    def test_repeats_of_a_slow_peer_are_limited(self):
        peer = Peer("slow", lambda _: {"seconds": 1.0, "peak_mib": 5}, lambda *_: "same", repeats=1)
        (_, theirs), _ = self.compare(peer)
        self.assertEqual(len(theirs.seconds), 1)

    def test_failures_become_words_and_others_go_on(self):
        def good(_):
            return {"seconds": 1.0, "peak_mib": 5}

        def refuse(*_):
            raise RunError("another answer")

        rows, _ = self.compare(
            Peer("absent", raising(NotInstalled("spams")), None),
            Peer("endless", raising(TookTooLong(600)), None),
            Peer("wrong", good, refuse),
            Peer("good", good, lambda *_: "same"),
        )
        notes = [row.note for row in rows[1:]]
        self.assertEqual(notes[0], "did not install (spams)")
        self.assertIn("300x", notes[1])
        self.assertIn("another answer", notes[2])
        self.assertEqual((notes[3], rows[3].measured), ("", None))
        self.assertEqual(rows[4].measured, 0.5)
        self.assertEqual(self.bench.errors, ["wrong: another answer"])

    def test_a_missing_module_is_not_installed(self):
        self.assertRaises(NotInstalled, run_child, "no_such_module", "run", {})


class Defaults(unittest.TestCase):
    @staticmethod
    def runs(seconds, error):
        def of(seconds, error):
            run = {"seconds": seconds, "command_seconds": seconds, "cpu_seconds": seconds, "peak_mib": 9, "tuned": True}
            return [run | {"error": error}] * 2

        return {"ours": of(seconds, error), "untuned": of(2.0, 3.0), "trees": of(1.0, 2.5), "tuned trees": of(9.0, 2.0)}

    def test_ratios_are_ours_over_theirs(self):
        rows = defaults.rows_of("year", 40, self.runs(9.0, 3.9), "MSE")
        by_name = {row.who.split(": ")[1]: row for row in rows}
        self.assertEqual((by_name["mfga"].measured, report.verdict(by_name["mfga"], False)), (9.0, "missed"))
        self.assertEqual(by_name["mfga --tune no"].measured, 2.0)
        self.assertEqual((by_name["error"].measured, report.verdict(by_name["error"], False)), (3.9, "met"))
        self.assertEqual(by_name["tuned trees"].measured, 1.95)

    def test_a_group_has_medians(self):
        times, errors = defaults.group_rows("rules", [self.runs(s, e) for s, e in ((4.0, 1.0), (30.0, 1.8), (5.0, 4.0))])
        self.assertEqual((times.measured, report.verdict(times, False)), (5.0, "met"))
        self.assertEqual((errors.measured, errors.answer), (0.9, "largest 2.000"))

    def test_the_table_for_the_docs_has_means_and_each_split(self):
        line = defaults.markdown_line("year", 40, self.runs(9.0, 3.9), "MSE")
        self.assertEqual(line.count("|"), defaults.as_markdown([line]).splitlines()[0].count("|"))
        self.assertIn("| 3.9 | 3.9, 3.9 | 2.5 | 2 | 1.950 | 9.0 | 9.0 |", line)
        self.assertIn("| 2.5 |  |  | 9.0 |", defaults.markdown_line("year", 40, self.runs(9.0, 3.9) | {"tuned trees": []}, "MSE"))

    def test_tables_are_chosen_by_name_or_group(self):
        bench = Bench("mfga", "/nowhere", quick=False, repeats=1, data=None)
        tables = [("paper", "year", [40]), ("rules", "wind", [100]), ("rules", "pol", [100])]
        for wanted, names in ((None, ["year", "wind", "pol"]), (["rules"], ["wind", "pol"]), (["year", "pol"], ["year", "pol"])):
            bench.tables = wanted
            self.assertEqual([name for _, name, _ in defaults.chosen(bench, tables)], names)
        bench.tables = ["yeer"]
        self.assertRaises(RunError, defaults.chosen, bench, tables)


class Shown(unittest.TestCase):
    def test_verdicts(self):
        for target, measured, expected in (
            (at_least(10), 10.0, "met"),
            (at_least(10), 9.99, "missed"),
            (at_most(1.15), 1.2, "missed"),
            (None, 5.0, ""),
            (at_least(10), None, ""),
        ):
            self.assertEqual(report.verdict(Row("x", measured=measured, target=target), False), expected)
        self.assertEqual(report.verdict(Row("x", measured=20.0, target=at_least(10)), True), "quick")

    def test_table_and_page_have_every_row(self):
        rows = [
            Row("mfga", [1.0], 10.0),
            Row("peer <a>", [20.0], 5.0, 20.0, 20.0, target=at_least(10), answer="same", is_peer=True),
            Row("gone", note="did not install (gone)", is_peer=True),
        ]
        setting = {"number": 1, "title": "title", "short": "short", "timed": "all", "rows": rows, "busy": 0.5}
        peaks = {"numpy": "2", "blas": "b", "gemm_double": 1e9, "gemm_single": 2e9, "bandwidth": 1e9}
        outcome = {
            "machine": {"cpu": "c", "cores": 2, **peaks},
            "quick": False,
            "repeats": 3,
            "date": "",
            "settings": [setting],
            "errors": ["setting 1: bad"],
        }
        text, html = report.as_text(outcome), page.as_html(outcome)
        self.assertIn("| met |", report.as_markdown(outcome))
        for words in ("20.0x", ">= 10x", "met", "did not install (gone)", "error: setting 1: bad", "warning"):
            self.assertIn(words, text)
        self.assertIn("peer &lt;a&gt;: 20.0x", html)
        self.assertNotIn("http", html)
        self.assertEqual(report.as_json(outcome)["settings"][0]["rows"][1]["verdict"], "met")


if __name__ == "__main__":
    unittest.main()

"""Exported SQL agrees with `predict` on random rows, in SQLite and in PostgreSQL."""

import csv
import io
import re
import sqlite3

import pytest
from export_cases import ROWS, table_columns


def with_key(statement):
    """The statement with the number of the row among its results, as its comment says."""
    head, last = statement.rsplit("\nFROM ", 1)
    return f'{head},\n  t."row key"\nFROM {last}'


def sql_results(case, names, rows):
    """The results of a statement in the order of the rows, from what it selects."""
    rows = sorted(rows, key=lambda row: int(row[-1]))
    results = case.results.shape[1]
    first = 1 if case.is_classifier else 0
    labels = [row[0] for row in rows] if case.is_classifier else None
    assert re.fullmatch("label" if case.is_classifier else r"prediction(\(.*\))?", names[0])
    case.check([row[first : first + results] for row in rows], labels)


def sql_name(name):
    return '"' + name.replace('"', '""') + '"'


def create_table(case):
    columns = ", ".join(f"{sql_name(name)} {kind}" for name, kind in table_columns(case))
    return f'CREATE TABLE "data" ("row key" INTEGER, {columns})'


def test_sqlite(cases):
    try:
        sqlite3.connect(":memory:").execute("SELECT exp(1.0), ln(2.0)")
    except sqlite3.OperationalError:
        pytest.skip("this SQLite was built without mathematical functions")
    for case in cases:
        connection = sqlite3.connect(":memory:")
        connection.execute(create_table(case))
        columns = [case.column(name) for name, _ in table_columns(case)]
        marks = ", ".join("?" * (len(columns) + 1))
        connection.executemany(f'INSERT INTO "data" VALUES ({marks})', zip(range(ROWS), *columns, strict=True))
        cursor = connection.execute(with_key(case.model.export("sql")))
        rows = cursor.fetchall()
        sql_results(case, [entry[0] for entry in cursor.description], rows)


def test_postgresql(cases, postgres):
    for case in cases:
        # CSV is read with \N as NULL, so that empty texts stay what they are.
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = [case.column(name) for name, _ in table_columns(case)]
        for i, row in enumerate(zip(*columns, strict=True)):
            writer.writerow([i, *("\\N" if value is None else value for value in row)])
        script = f'DROP TABLE IF EXISTS "data";\n{create_table(case)};\n'
        script += "COPY \"data\" FROM STDIN WITH (FORMAT csv, NULL '\\N');\n" + text.getvalue() + "\\.\n"
        script += "SET extra_float_digits = 3;\n" + with_key(case.model.export("sql"))
        rows = list(csv.reader(io.StringIO(postgres(script))))
        sql_results(case, rows[0], rows[1:])

"""A frame with texts; the model goes to a file that the command line reads, too, and comes back."""

import pathlib
import tempfile

import numpy as np
import pandas as pd

import mfga

rng = np.random.default_rng(0)
houses = pd.DataFrame(
    {
        "area": rng.uniform(40, 200, size=500),
        "rooms": rng.integers(1, 7, size=500),
        "district": rng.choice(["harbour", "hills", "centre"], size=500),
    }
)
price = 3 * houses["area"] + 90 * (houses["district"] == "centre") + rng.normal(scale=10, size=500)

model = mfga.MFGARegressor(features="linear + hinge", terms=4, tune=False).fit(houses, price)
print(model.terms_[["term", "coefficient"]])

with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, "houses.json")
    model.save(file)  # mfga predict houses.json houses.csv
    again = mfga.load(file)
print("the same predictions:", np.array_equal(again.predict(houses), model.predict(houses)))

"""One function of one module in this process: child.py MODULE FUNCTION RESULT_FILE, the job on standard input."""

import importlib
import json
import sys
from pathlib import Path


def main():
    module_name, function, result_file = sys.argv[1:]
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        result = {"not_installed": error.name}
    else:
        result = getattr(module, function)(json.load(sys.stdin))
    Path(result_file).write_text(json.dumps(result))


if __name__ == "__main__":
    main()

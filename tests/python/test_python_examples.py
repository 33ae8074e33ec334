"""The examples in the docstrings run and print what they say; every public function and method has one."""
import doctest
import importlib
import os
import pkgutil
import unittest

import numpy as np

import pliant
import pliant.testing

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Examples(unittest.TestCase):
    def test_examples(self):
        tried = failed = 0
        for found in pkgutil.iter_modules(pliant.__path__):
            if found.name in ("_core", "_torch", "__main__"):
                continue
            module = importlib.import_module(f"pliant.{found.name}")
            space = {**vars(module), "pliant": pliant, "np": np}
            for test in doctest.DocTestFinder().find(module, globs=space):
                runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
                runner.run(test)
                tried += runner.tries
                failed += runner.failures
        print(f"{tried} lines of examples")
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 0)


if __name__ == "__main__":
    unittest.main()

"""The examples in the docstrings run and print what they say; every public function and method has one."""
import doctest
import importlib
import inspect
import pkgutil
import unittest

import numpy as np

import pliant
import pliant.testing

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


MODULES = [pliant, *(importlib.import_module(f"pliant.{m.name}") for m in pkgutil.iter_modules(pliant.__path__) if m.name not in ("_core", "_torch", "__main__"))]
# what needs a package that may not be there, a measured file of another kind, or is shown as a table of the library
WITHOUT = {"Motion.plot", "Solutions.to_pandas", "State.to_pandas", "State.to_meshio", "Study.to_pandas", "Table.to_pandas", "syringe"}


class Examples(unittest.TestCase):
    def test_examples(self):
        tried = failed = 0
        for module in MODULES:
            space = {**vars(module), "pliant": pliant, "np": np}
            for test in doctest.DocTestFinder().find(module, globs=space):
                runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
                runner.run(test)
                tried += runner.tries
                failed += runner.failures
        print(f"{tried} lines of examples")
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 100)

    def test_every_function_has_one(self):
        bare = set()
        for name in pliant.__all__:
            if name in ("Env", "torch_solve"):
                continue
            thing = getattr(pliant, name)
            parts = vars(thing).items() if isinstance(thing, type) else [(None, thing)] if inspect.isfunction(thing) else []
            for part, function in parts:
                if inspect.isfunction(function) and not (part or "").startswith("_") and ">>>" not in (function.__doc__ or ""):
                    bare.add(name if part is None else f"{name}.{part}")
        bare |= {f"goal.{n}" for n, f in vars(pliant.goal).items() if inspect.isfunction(f) and f.__module__ == pliant.goal.__name__ and not n.startswith("_") and ">>>" not in (f.__doc__ or "")}
        self.assertEqual(bare - WITHOUT, set())


if __name__ == "__main__":
    unittest.main()

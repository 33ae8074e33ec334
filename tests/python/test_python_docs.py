"""The tutorial and the notebooks run, without a screen, in a folder of their own."""
import json
import os
import re
import unittest

import pliant
from pliant import _view

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def page_there():
    """Whether the page of the view was built; it needs three.js."""
    try:
        _view._web()
    except pliant.FileError:
        return False
    return True


PAGE = page_there()


def run(cells, name):
    """Runs pieces of code in one namespace; the display functions of a notebook are called on last expressions."""
    import ast

    space = {"__name__": name}
    for number, text in enumerate(cells):
        tree = ast.parse(text, f"{name}, cell {number + 1}")
        last = tree.body[-1] if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        body = ast.Module(tree.body[:-1] if last else tree.body, [])
        exec(compile(body, f"{name}, cell {number + 1}", "exec"), space)
        if last:
            value = eval(compile(ast.Expression(last.value), f"{name}, cell {number + 1}", "eval"), space)
            for display in ("_repr_html_", "_repr_png_"):
                if type(value).__name__ == "View" and not PAGE:
                    print(f"{name}, cell {number + 1}: the view is not shown: three.js was missing when Pliant was built")
                elif hasattr(value, display):
                    assert getattr(value, display)()
    return space


class Docs(unittest.TestCase):
    def test_tutorial(self):
        with open(os.path.join(SOURCE, "docs", "tutorials", "python.md"), encoding="utf-8") as file:
            cells = re.findall(r"```python\n(.*?)```", file.read(), flags=re.S)
        self.assertGreater(len(cells), 8)
        run(cells, "docs/tutorials/python.md")
        for name in ("sweep.csv", "path.html", "pose.vtu", "pose.png"):
            self.assertTrue(os.path.exists(name), name)

    def test_notebooks(self):
        folder = os.path.join(SOURCE, "examples", "notebooks")
        names = sorted(n for n in os.listdir(folder) if n.endswith(".ipynb"))
        self.assertGreaterEqual(len(names), 3)
        for name in names:
            with self.subTest(name):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    book = json.load(file)
                self.assertEqual(book["nbformat"], 4)
                cells = ["".join(c["source"]) for c in book["cells"] if c["cell_type"] == "code"]
                run(cells, name)


if __name__ == "__main__":
    unittest.main()

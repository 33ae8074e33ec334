"""The page of State.show() in a browser, offline. Skipped where node, Chromium or the npm packages are not there."""
import json
import os
import shutil
import subprocess
import sys
import unittest

import pliant as pl
from pliant.testing import arm, segment, trunk

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WEB = os.path.join(SOURCE, "web")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if not (shutil.which("node") and CHROMIUM and os.path.exists(os.path.join(WEB, "node_modules", "playwright-core"))):
    print("skipped: node, Chromium or playwright-core is not there (tools/install-web --tests)")
    sys.exit(77)
if not os.path.exists(os.path.join(os.path.dirname(pl.__file__), "web", "three")) or os.environ.get("PLIANT_SANITIZER"):
    print("skipped: three.js is not there (tools/install-web)")
    sys.exit(77)


class View(unittest.TestCase):
    def look(self, state):
        """What the page of a state says in a browser."""
        state.save("view.html")
        print(f"{os.path.getsize('view.html') / 1e6:.2f} MB")
        done = subprocess.run(
            ["node", os.path.join(SOURCE, "tests", "python", "view.mjs"), os.path.abspath("view.html"), CHROMIUM, WEB, os.path.abspath("view.png")],
            capture_output=True, text=True, timeout=200,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)
        print(said)
        self.assertEqual(said["errors"], [])
        self.assertEqual(said["asked"], [])  # nothing is fetched
        self.assertTrue(said["status"].startswith("Solved"))
        self.assertIn(f"{state['tip'].position[0]:.2f}", said["markers"])
        self.assertTrue(said["predicted"])
        return said

    def test_page(self):
        s = pl.design("cable_finger", size=8, order=1).solve(flexor=4, left=0, right=0)
        said = self.look(s)
        self.assertEqual(said["name"], "cable-finger")
        self.assertEqual(said["triangles"], len(s.mesh.kind))

    def test_reduced_models(self):
        for robot, commands in ((arm(), [2, 0, 1]), (segment(), [30, 10, 0]), (trunk(), [95, 110, 104, 120, 99, 103])):
            with self.subTest(robot.kind):
                self.assertEqual(self.look(robot.solve(commands))["name"], robot.name)
                if os.environ.get("PLIANT_PICTURES"):
                    shutil.copy("view.png", os.path.join(os.environ["PLIANT_PICTURES"], f"{robot.kind}.png"))


if __name__ == "__main__":
    unittest.main()

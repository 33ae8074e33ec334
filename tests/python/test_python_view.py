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
    def test_pages(self):
        """What the pages of states of a full body and of reduced models say in a browser."""
        finger = pl.design("cable_finger", size=8, order=1).solve(flexor=4, left=0, right=0)
        states = [finger, arm().solve([2, 0, 1]), segment().solve([30, 10, 0]), trunk().solve([95, 110, 104, 120, 99, 103])]
        pages = [os.path.abspath(f"{state.robot.kind}-{k}.html") for k, state in enumerate(states)]
        for state, page in zip(states, pages):
            state.save(page)
            print(f"{os.path.getsize(page) / 1e6:.2f} MB")
        done = subprocess.run(
            ["node", os.path.join(SOURCE, "tests", "python", "view.mjs"), CHROMIUM, WEB, *pages], capture_output=True, text=True, timeout=600
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        for state, said in zip(states, json.loads(done.stdout)):
            with self.subTest(state.robot.name):
                print(said)
                self.assertEqual(said["errors"], [])
                self.assertEqual(said["asked"], [])  # nothing is fetched
                self.assertTrue(said["status"].startswith("Solved"))
                self.assertIn(f"{state['tip'].position[0]:.2f}", said["markers"])
                self.assertTrue(said["predicted"])
                self.assertEqual(said["name"], state.robot.name)
                if state is finger:
                    self.assertEqual(said["triangles"], len(state.mesh.kind))


if __name__ == "__main__":
    unittest.main()

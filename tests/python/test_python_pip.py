"""pip packs and installs the module without a network, from the build that is there; the installed copy solves."""
import os
import subprocess
import sys
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.relpath(os.path.dirname(os.environ["PYTHONPATH"]), SOURCE)


class Pip(unittest.TestCase):
    def test_install(self):
        if os.environ.get("PLIANT_SANITIZER") or subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode:
            self.skipTest("pip is not there")
        command = [
            sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-cache-dir", "--disable-pip-version-check",
            "--root-user-action=ignore", "--config-settings", f"build-dir={BUILD}", "--target", "site", SOURCE,
        ]
        env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        done = subprocess.run(command, capture_output=True, text=True, env=env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        program = "import pliant as pl; print(pl.__file__); print(pl.design('segment_beam').solve(chamber1='30 kPa').converged)"
        said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**env, "PYTHONPATH": os.path.abspath("site")})
        self.assertEqual(said.returncode, 0, said.stderr)
        print(said.stdout.strip())
        self.assertIn(os.path.abspath("site"), said.stdout)
        self.assertIn("True", said.stdout)
        info = [n for n in os.listdir("site") if n.endswith(".dist-info")]
        self.assertEqual(len(info), 1)
        with open(os.path.join("site", info[0], "METADATA"), encoding="utf-8") as file:
            about = file.read()
        for line in ("License: GPL-3.0-or-later", "Requires-Dist: numpy", "Description-Content-Type: text/markdown", "# Pliant"):
            self.assertIn(line, about)
        self.assertTrue(os.path.exists(os.path.join("site", info[0], "LICENSE")))
        # the command that the script `pliant` runs, and its page
        env["PYTHONPATH"] = os.path.abspath("site")
        env.pop("PLIANT_COMMAND", None)
        for call in ([sys.executable, "-m", "pliant"], [os.path.abspath("site/bin/pliant")]):
            said = subprocess.run([*call, "--version"], capture_output=True, text=True, env=env)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertIn("pliant", said.stdout)
        if os.path.exists(os.path.join(SOURCE, "web", "node_modules", "three")):
            program = "import pliant as pl; pl.design('segment_beam').solve(chamber1=30).save('view.html'); l = pl.design('segment_beam').serve(); print(l); l.close()"
            said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertIn("live view at", said.stdout)


if __name__ == "__main__":
    unittest.main()

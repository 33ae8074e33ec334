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
        names = os.listdir("site")
        self.assertTrue(any(n.endswith(".dist-info") for n in names), names)


if __name__ == "__main__":
    unittest.main()

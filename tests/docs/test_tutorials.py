"""Runs the tutorials: every command of a ```console block, in a folder per page, with the exit status that the page says.

    test_tutorials.py PLIANT SOURCE_FOLDER [PAGE...]

Sizes of 6 mm become 14 mm with linear elements: the test asks whether the commands work, not how fine the answers are.
A command begins with `$ `; the lines after `<<EOF` belong to it; `# exit 1` at its end is the status expected (0 otherwise).
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

program, source = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
pages = [source / p for p in sys.argv[3:]] or sorted((source / "docs/tutorials").glob("*.md"))
failed = count = 0
for page in pages:
    commands, last = [], None
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(), re.M | re.S):
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append([line[2:]])
                last = commands[-1] if "<<EOF" in line else None
            elif last is not None:
                last.append(line)
                last = None if line == "EOF" else last
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(program, os.path.join(folder, "pliant"))
        env = {**os.environ, "PATH": folder + ":" + os.environ["PATH"]}
        work = os.path.join(folder, "work")
        os.mkdir(work)
        for words in commands:
            expected = int((re.search(r"# exit (\d)", words[0]) or [0, 0])[1])
            script = "\n".join(words).replace("--size 6", "--size 14 --order 1")
            done = subprocess.run(["bash", "-c", script], cwd=work, env=env, capture_output=True, text=True)
            count += 1
            if done.returncode != expected:
                failed += 1
                print(f"{page.name}: exit {done.returncode}, expected {expected}: {words[0]}\n{done.stderr[-600:]}")
print(f"{count} commands of {len(pages)} pages, {failed} failed")
sys.exit(1 if failed else 0)

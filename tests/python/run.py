# run.py [SEEDS] - cases/*.py run by LangGraph and, with `langgraph` on their import lines changed to `pons`, by
# the installed wheel: what they print must be the same. Ids are not compared.
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def said(text, folder, name):
    path = Path(folder, name)
    path.write_text(text)
    done = subprocess.run([sys.executable, "-W", "ignore", path], capture_output=True, text=True, timeout=300, cwd=folder)
    if done.returncode:
        return done.stdout + "\n" + "\n".join(done.stderr.splitlines()[-6:])
    return done.stdout


failed = 0
with tempfile.TemporaryDirectory() as folder:
    for case in sorted((HERE / "cases").glob("*.py")):
        text = case.read_text()
        theirs = said(text, folder, case.name)
        ours = said(re.sub(r"^(from|import) langgraph", r"\1 pons", text, flags=re.M), folder, case.name)
        if "Traceback" in theirs or not theirs:
            print(f"{case.name}: LangGraph itself fails: {theirs[-600:]}")
            failed += 1
        elif theirs != ours:
            failed += 1
            print(f"FAIL  {case.name}")
            for a, b in zip(theirs.splitlines() + [""] * 50, ours.splitlines()):
                if a != b:
                    print(f"  there {a[:600]}\n  here  {b[:600]}")
        else:
            print(f"ok    {case.name}: {len(theirs.splitlines())} lines are the same")
sys.exit(1 if failed else 0)

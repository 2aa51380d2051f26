"""Lock files in, the foreign software that the tests meet out: in target/real, and nothing anywhere else.

`--check` only reports whether everything is installed. A part is installed anew when its lock file, this file or
Python has changed.
"""

import fcntl
import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
REAL = HERE.parents[1] / "target" / "real"


def run(*words, cwd=None):
    done = subprocess.run([str(word) for word in words], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        output = done.stdout.decode(errors="replace")[-4000:]
        sys.exit(f"`{' '.join(map(str, words))}` ended with {done.returncode}:\n{output}")


def node(folder, lock):
    for file in (lock, lock.with_name("package.json")):
        shutil.copy(file, folder)
    # No script runs: some would download a browser.
    quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"]
    run("npm", "ci", "--ignore-scripts", "--omit=optional", *quiet, cwd=folder)


def python(folder, lock):
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin" / "pip", "install", "--no-deps", "--no-compile", "--disable-pip-version-check", "-r", lock)


def suite(folder, lock):
    """The official test suite comes in the source archive of a validator."""
    package = re.search(r"^jsonschema==.*", lock.read_text(), re.MULTILINE)[0]
    with tempfile.TemporaryDirectory() as archives:
        pip = [REAL / "python" / "bin" / "pip", "download", "--no-deps", "--disable-pip-version-check"]
        run(*pip, "--no-binary", "jsonschema", "--no-build-isolation", "-d", archives, package)
        [archive] = Path(archives).glob("*.tar.gz")
        with tarfile.open(archive) as files:
            for file in files:
                _, top, *path = file.name.split("/")
                if file.isfile() and top == "json" and path[0] in ("tests", "remotes"):
                    target = folder.joinpath(*path)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(files.extractfile(file).read())


# Each queue in its order, the queues side by side: a folder of target/real, how to fill it, its lock file.
QUEUES = [
    [("node", node, "package-lock.json"), ("browser", node, "../browser/package-lock.json")],
    [
        ("python", python, "requirements.txt"),
        ("suite", suite, "requirements.txt"),
        ("python-mcp1", python, "requirements-mcp1.txt"),
    ],
]


def state(lock):
    sources = lock.read_bytes() + Path(__file__).read_bytes() + sys.version.encode()
    return hashlib.sha256(sources).hexdigest()


def is_there(name, lock):
    stamp = REAL / name / "stamp"
    return stamp.is_file() and stamp.read_text() == state(lock)


def install(queue):
    for name, fill, lock in queue:
        folder, lock = REAL / name, HERE / lock
        if is_there(name, lock):
            continue
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        fill(folder, lock)
        (folder / "stamp").write_text(state(lock))
        print(f"target/real/{name}: installed", flush=True)


def main():
    if "--check" in sys.argv[1:]:
        return not all(is_there(name, HERE / lock) for queue in QUEUES for name, _, lock in queue)
    REAL.mkdir(parents=True, exist_ok=True)
    with open(REAL / "lock", "w") as one_at_a_time, ThreadPoolExecutor() as pool:
        fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
        list(pool.map(install, QUEUES))
    return 0


if __name__ == "__main__":
    sys.exit(main())

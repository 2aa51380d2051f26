"""A server's URL in, `all well` out: LiteLLM completes chats as with any server that speaks to OpenAI."""

import sys

import litellm

litellm.telemetry = False
QUESTION = [{"role": "user", "content": "What time is it in Tokyo?"}]
TERMS = {"model": "openai/demo", "api_base": f"{sys.argv[1]}/v1", "api_key": "none", "messages": QUESTION, "num_retries": 0}

answer = litellm.completion(**TERMS)
assert "Tokyo" in answer.choices[0].message.content, answer
assert answer.choices[0].finish_reason == "stop", answer
assert answer.usage.total_tokens > 0, answer

chunks = list(litellm.completion(**TERMS, stream=True, stream_options={"include_usage": True}))
text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
assert "Tokyo" in text, chunks
assert "Tokyo" in litellm.stream_chunk_builder(chunks).choices[0].message.content

try:
    litellm.completion(**{**TERMS, "model": "openai/nowhere"})
except litellm.NotFoundError:
    print("all well")

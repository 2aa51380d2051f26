"""The scripted answer, streamed by Starlette and uvicorn: `python server.py PIECES`, a JSON array of texts."""

import json
import socket
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

pieces = json.loads(sys.argv[1])


def parts():
    yield {"type": "start"}
    yield {"type": "start-step"}
    yield {"type": "text-start", "id": "1"}
    for delta in pieces:
        yield {"type": "text-delta", "id": "1", "delta": delta}
    yield {"type": "text-end", "id": "1"}
    yield {"type": "finish-step"}
    yield {"type": "finish"}


async def frames():
    # Asynchronous: a plain generator would be run in a thread, one hop for each event.
    for part in parts():
        yield f"data: {json.dumps(part)}\n\n"
    yield "data: [DONE]\n\n"


async def chat(request):
    await request.json()
    headers = {"x-vercel-ai-ui-message-stream": "v1"}
    return StreamingResponse(frames(), media_type="text/event-stream", headers=headers)


# asyncio sends at once only on sockets whose protocol is TCP.
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
listener.bind(("127.0.0.1", 0))
listener.listen()
print(f"127.0.0.1:{listener.getsockname()[1]}", flush=True)
app = Starlette(routes=[Route("/api/chat", chat, methods=["POST"])])
config = uvicorn.Config(app, log_level="critical", ws="none")
uvicorn.Server(config).run(sockets=[listener])

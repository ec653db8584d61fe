"""An endpoint of FastAPI that reads its body and answers: what any HTTP service in this stack pays.

python -m benchmarks.yardsticks.empty_endpoint      prints the port it listens on, then serves
"""

from __future__ import annotations

import asyncio
import json

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import Response

app = FastAPI()


@app.post("/v1/events")
async def empty(request: Request) -> Response:
    """Read and answer."""
    await request.body()
    return Response(b'{"events":[]}', media_type="application/json")


async def serve() -> None:
    """Serve on a free port until the process is ended."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, access_log=False))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    print(json.dumps({"listening": f"http://127.0.0.1:{port}"}), flush=True)
    await serving


if __name__ == "__main__":
    import uvloop

    uvloop.run(serve())

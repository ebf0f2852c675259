"""Clients that misbehave, until they are stopped: crowd.py unread|streams|loris PORT FILE

unread   64 connections that ask for a large blob again and again, and read nothing
streams  500 listening streams that stay open, and more that are opened and cut
loris    200 connections that send a byte of a head, or of a body, every second
"""
import json
import socket
import sys
import threading
import time

crowd, port, large = sys.argv[1], int(sys.argv[2]), sys.argv[3]
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def request(method, params, name=None, length=None):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}})
    lines = [
        "POST /mcp HTTP/1.1", "Host: localhost", "Content-Type: application/json",
        "Accept: application/json, text/event-stream", "MCP-Protocol-Version: 2026-07-28", f"Mcp-Method: {method}",
        f"Content-Length: {length or len(body)}",
    ]
    lines += [f"Mcp-Name: {name}"] if name else []
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


BLOB = request("resources/read", {"uri": f"file://{large}"}, f"file://{large}")
LISTEN = request("subscriptions/listen", {"notifications": {"resourcesListChanged": True}})


def connect():
    return socket.create_connection(("127.0.0.1", port))


def unread():
    connection = connect()
    connection.settimeout(5)
    while True:
        try:
            connection.sendall(BLOB)
            time.sleep(0.05)
        except OSError:
            connection = connect()


def streams():
    kept = []
    while True:
        connection = connect()
        connection.sendall(LISTEN)
        connection.recv(1 << 16)
        if len(kept) < 125:
            kept.append(connection)
        time.sleep(0.005)


def loris():
    connections = [connect() for _ in range(50)]
    for connection in connections[:25]:
        connection.sendall(request("ping", {}, length=100_000)[:-1])
    while True:
        for connection in connections:
            try:
                connection.sendall(b"x")
            except OSError:
                pass
        time.sleep(1)


def forever(visit):
    while True:
        try:
            visit()
        except OSError:
            time.sleep(0.1)


members = {"unread": (unread, 64), "streams": (streams, 4), "loris": (loris, 4)}
visit, count = members[crowd]
for _ in range(count):
    threading.Thread(target=forever, args=(visit,), daemon=True).start()
threading.Event().wait()

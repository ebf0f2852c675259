"""Loads two replicas through nginx, breaks parts, and says what was lost. Started by `run`."""

import http.client
import json
import os
import signal
import subprocess
import threading
import time

WORK, TOKEN = os.environ["WORK"], os.environ["TOKEN"]
PROXY, REPLICAS = 18380, {"a": 18381, "b": 18382}
VERSION = "2026-07-28"


class Client:
    """A client of 2026-07-28: every request stands alone."""

    def __init__(self, port):
        self.port, self.connection = port, None

    def call(self, name, arguments):
        meta = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
        params = {"name": name, "arguments": arguments, "_meta": meta}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        headers = {
            "Host": "localhost", "Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": VERSION,
            "Mcp-Method": "tools/call", "Mcp-Name": name,
        }
        try:
            self.connection = self.connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=15)
            self.connection.request("POST", "/mcp", body, headers)
            response = self.connection.getresponse()
            answer = json.loads(response.read())
            result = answer.get("result", {"isError": True})
            return not result.get("isError", False), result
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.connection = None
            return False, {"content": [{"text": str(error)}]}


class Writer(threading.Thread):
    """Appends numbered lines to its own file and to one that all share, and remembers which were acknowledged."""

    def __init__(self, number, stop):
        super().__init__()
        self.number, self.stop, self.acknowledged, self.failed, self.gaps = number, stop, [], 0, []
        self.last = time.monotonic()

    def run(self):
        client, line = Client(PROXY), 0
        while not self.stop.is_set():
            path = "shared.log" if line % 2 else f"own-{self.number}.log"
            text = f"{self.number} {line}\n"
            done, _ = client.call("write_file", {"path": path, "content": text, "append": True})
            now = time.monotonic()
            if done:
                self.acknowledged.append((path, text))
                self.gaps.append((now - self.last, now))
                self.last = now
            else:
                self.failed += 1
                time.sleep(0.05)
            line += 1


def under_load(seconds, act=lambda: None):
    """Eight writers for a while, with something done to the parts in the middle."""
    stop = threading.Event()
    writers = [Writer(number, stop) for number in range(8)]
    for writer in writers:
        writer.start()
    time.sleep(seconds / 3)
    act()
    time.sleep(seconds * 2 / 3)
    stop.set()
    for writer in writers:
        writer.join()
    return writers


def lost(writers):
    """Acknowledged lines that are not in their files, read from below the replicas."""
    missing = 0
    for writer in writers:
        by_path = {}
        for path, text in writer.acknowledged:
            by_path.setdefault(path, []).append(text)
        for path, texts in by_path.items():
            with open(f"{WORK}/b/{path}") as file:
                there = file.read().splitlines(keepends=True)
            missing += sum(there.count(text) != 1 for text in texts)
    return missing


def report(what, writers, seconds):
    done, failed = sum(len(w.acknowledged) for w in writers), sum(w.failed for w in writers)
    longest = max(gap for w in writers for gap, _ in w.gaps)
    print(f"{what}: {done / seconds:.0f} appends/s, {failed} failed, longest wait {longest:.1f} s, "
          f"acknowledged and lost or doubled: {lost(writers)}", flush=True)


def clear():
    for name in os.listdir(f"{WORK}/a"):
        if name.endswith(".log"):
            os.unlink(f"{WORK}/a/{name}")


def pid(replica):
    with open(f"{WORK}/{replica}.pid") as file:
        return int(file.read())


def reads_per_second(ports, seconds=3):
    """Small reads by 16 clients, spread over the replicas as round robin does."""
    Client(ports[0]).call("write_file", {"path": "small.txt", "content": "line\n" * 100})
    stop, counts = threading.Event(), [0] * 16
    def read(number):
        client = Client(ports[number % len(ports)])
        while not stop.is_set():
            counts[number] += client.call("read_text_file", {"path": "small.txt"})[0]
    threads = [threading.Thread(target=read, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds


def mount_processes(mount):
    found = subprocess.run(["pgrep", "-f", f"mount.*{WORK}/{mount}$"], capture_output=True, text=True)
    return [int(line) for line in found.stdout.split()]


def edits_on_both():
    """Two clients edit one file on two replicas at once: every edit that was acknowledged must be there."""
    Client(REPLICAS["a"]).call("write_file", {"path": "edited.txt", "content": "".join(f"{n} old\n" for n in range(100))})
    def edit(port, numbers):
        client = Client(port)
        for number in numbers:
            change = {"oldText": f"{number} old\n", "newText": f"{number} new\n"}
            if number < 10:
                change = {"oldText": f"\n{number} old\n", "newText": f"\n{number} new\n"} if number else change
            while not client.call("edit_file", {"path": "edited.txt", "edits": [change]})[0]:
                time.sleep(0.01)
    numbers = list(range(10, 100))
    threads = [threading.Thread(target=edit, args=(port, numbers[at::2])) for at, port in enumerate(REPLICAS.values())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open(f"{WORK}/b/edited.txt") as file:
        return sum("new" in line for line in file), len(numbers)


def noticed_by_the_other():
    """Seconds until a listen stream of one replica tells of a file that was created through the other one."""
    meta = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
    params = {"notifications": {"resourcesListChanged": True}, "_meta": meta}
    headers = {
        "Host": "localhost", "Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json",
        "Accept": "text/event-stream", "MCP-Protocol-Version": VERSION, "Mcp-Method": "subscriptions/listen",
    }
    connection = http.client.HTTPConnection("127.0.0.1", REPLICAS["b"], timeout=30)
    body = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}
    connection.request("POST", "/mcp", json.dumps(body), headers)
    stream = connection.getresponse()
    heard = lambda method: any(method.encode() in line for line in iter(stream.readline, b"") if line.startswith(b"data"))
    assert heard("acknowledged")
    time.sleep(2)  # the replica has seen the list by then
    began = time.monotonic()
    Client(REPLICAS["a"]).call("write_file", {"path": "new.txt", "content": "new"})
    # The stream is read line by line, up to the line that tells.
    while b"list_changed" not in stream.readline():
        pass
    connection.close()
    return time.monotonic() - began


def legacy_sessions():
    """The replicas that hold eight legacy sessions begun through nginx; each must answer within its session."""
    found = set()
    for _ in range(8):
        connection = http.client.HTTPConnection("127.0.0.1", PROXY, timeout=15)
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json",
                   "Accept": "application/json, text/event-stream"}
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}}
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
        connection.request("POST", "/mcp", json.dumps(hello), headers)
        response = connection.getresponse()
        session = response.getheader("Mcp-Session-Id")
        response.read()
        connection.request("POST", "/mcp", '{"jsonrpc":"2.0","id":2,"method":"tools/list"}',
                           headers | {"Mcp-Session-Id": session})
        response = connection.getresponse()
        assert response.status == 200 and b"read_text_file" in response.read(), response.status
        found.add(session.split(".")[0])
    return sorted(found)


one, two = reads_per_second([REPLICAS["a"]]), reads_per_second(list(REPLICAS.values()))
print(f"small reads: {one:.0f}/s by one replica, {two:.0f}/s by two (all on this machine)")
done, asked = edits_on_both()
print(f"edits of one file on both replicas at once: {done} of {asked} are there")
print(f"a file created through one replica is told by the other after {noticed_by_the_other():.1f} s (--poll-interval 1)")
print(f"legacy sessions through nginx live in the replicas {', '.join(legacy_sessions())}, and each finds its own")
report("both replicas", under_load(6), 6)
clear()
report("a replica killed", under_load(9, lambda: os.kill(pid("a"), signal.SIGKILL)), 9)
clear()
restarted = subprocess.Popen(
    ["target/release/mcp-fs", "--http", f"127.0.0.1:{REPLICAS['a']}", "--token-file", f"{WORK}/token", "--allow-write",
     "--io-timeout", "3", "--allow-host", "files.test", f"{WORK}/a"], stderr=subprocess.DEVNULL)
began = time.monotonic()
while not Client(REPLICAS["a"]).call("list_allowed_directories", {})[0]:
    time.sleep(0.01)
print(f"the replica is back after {time.monotonic() - began:.2f} s")
stopped = mount_processes("a")
def stop_mount():
    for process in stopped:
        os.kill(process, signal.SIGSTOP)
    threading.Timer(6, lambda: [os.kill(process, signal.SIGCONT) for process in stopped]).start()
writers = under_load(18, stop_mount)
report("a mount stopped for 6 s", writers, 18)
restarted.terminate()

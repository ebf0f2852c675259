# read_script [legacy]: prints what wrk sends, a read of small.txt as a request of 2026-07-28, or one of 2025-11-25 without a
# session, which services of the SDKs take.
read_script() {
  local version=2026-07-28
  local meta=',"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
  if [ "${1:-}" = legacy ]; then
    version=2025-11-25 meta=''
  fi
  cat <<LUA
wrk.method = "POST"
wrk.headers["Host"] = "localhost"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
wrk.headers["MCP-Protocol-Version"] = "$version"
wrk.headers["Mcp-Method"] = "tools/call"
wrk.headers["Mcp-Name"] = "read_text_file"
wrk.body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_text_file","arguments":{"path":"small.txt"}$meta}}'
LUA
}

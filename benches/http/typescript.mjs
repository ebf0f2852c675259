// The official TypeScript SDK with one tool, read_text_file, without sessions: what benches/http.sh compares mcp-fs with.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const [port, root] = process.argv.slice(2);

// Without sessions the SDK wants a server for each request.
const files = () => {
  const server = new McpServer({ name: "files", version: "0" });
  const tool = { description: "Read a text file", inputSchema: { path: z.string() } };
  server.registerTool("read_text_file", tool, async ({ path }) => ({
    content: [{ type: "text", text: await readFile(join(root, path), "utf8") }],
  }));
  return server;
};

createServer(async (request, response) => {
  const server = files();
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  response.on("close", () => {
    transport.close();
    server.close();
  });
  await server.connect(transport);
  await transport.handleRequest(request, response);
}).listen(Number(port), "127.0.0.1");

// An MCP client with the official SDK. It prints one line of JSON: the names of the
// tools, and for each call of its argument the result or the error.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const url = new URL(process.argv[2]);
const calls = JSON.parse(process.argv[3]);
const requestInit = { headers: { Authorization: process.env.AUTHORIZATION } };
const Transport = url.pathname.endsWith("/sse") ? SSEClientTransport : StreamableHTTPClientTransport;
const client = new Client({ name: "test", version: "1" });
await client.connect(new Transport(url, { requestInit }));
const { tools } = await client.listTools();
const results = [];
for (const call of calls) {
  results.push(await client.callTool(call).catch((error) => ({ isError: true, content: [{ type: "text", text: error.message }] })));
}
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), results }));

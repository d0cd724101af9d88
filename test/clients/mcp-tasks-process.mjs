// Runs tasks through the requester of the Tasks extension. Prints what it saw:
// node mcp-tasks-process.mjs SETTINGS

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { packages, url, apiKey, quick, endless } = JSON.parse(process.argv[2]);
const extension = 'io.modelcontextprotocol/tasks';
const protocolVersion = '2026-07-28';
const clientInfo = { name: 'test', version: '1' };
const clientCapabilities = { extensions: { [extension]: {} } };
const { Client, StreamableHTTPClientTransport } = await import(
  pathToFileURL(createRequire(`${packages}/`).resolve('@modelcontextprotocol/client')).href
);
const requester = 'node_modules/@modelcontextprotocol/ext-tasks/dist/client/index.js';
const { createTaskSessionFromClient } = await import(pathToFileURL(join(packages, requester)).href);

const authorization = `Bearer ${apiKey}`;
const endpoint = new URL('/mcp', url);
const client = new Client(clientInfo, {
  capabilities: clientCapabilities,
  versionNegotiation: { mode: 'auto' },
});
await client.connect(
  new StreamableHTTPClientTransport(endpoint, { requestInit: { headers: { authorization } } }),
);

/** The client reads no answers of the extension, so its requester sends its calls by itself. */
async function rawDispatch(request) {
  const { method, params } = request;
  const reply = await fetch(endpoint, {
    method: 'POST',
    headers: {
      ...{ authorization, 'content-type': 'application/json' },
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': protocolVersion,
      'mcp-method': method,
      'mcp-name': params.name ?? params.taskId,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...request }),
  });
  const { result, error } = await reply.json();
  return error ? { kind: 'error', error } : { kind: 'result', result };
}

const session = createTaskSessionFromClient(client, {
  ...{ endpointId: 'service', rawDispatch },
  v2RequestFraming: { protocolVersion, clientInfo, clientCapabilities },
});
const submit = (given) => session.callTool('submit', given);
const endOf = async (execution) => ({
  ...(await execution.settle()).outcome,
  kind: execution.kind,
  id: execution.handle?.taskId,
});

const made = await endOf(await submit(quick));
const refused = await endOf(await submit({ ...quick, duration: 60 }));
const running = await submit(endless);
await running.cancel();
const cancelled = await endOf(running);
await session.close();
await client.close();
process.stdout.write(JSON.stringify({ made, refused, cancelled }));
process.exit();

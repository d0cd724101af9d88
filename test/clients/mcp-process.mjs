// Calls the service through the client of the Model Context Protocol. Prints what it saw:
// node mcp-process.mjs SETTINGS

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { packages, url, apiKey, mode, request } = JSON.parse(process.argv[2]);
const load = async (name) =>
  import(pathToFileURL(createRequire(`${packages}/`).resolve(name)).href);
const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');

const headers = { authorization: `Bearer ${apiKey}` };
const clientInfo = { name: 'test', version: '1' };
const client = new Client(clientInfo, { versionNegotiation: { mode } });
const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), {
  requestInit: { headers },
});
await client.connect(transport);
const call = (name, given) => client.callTool({ name, arguments: given });
const { tools } = await client.listTools();
const quoted = await call('quote', request);
const submitted = await call('submit', request);
const { id } = submitted.structuredContent;
const result = await call('result', { task_id: id, wait_seconds: 60 });
const refused = await call('submit', { ...request, duration: 60 });
const late = await call('cancel', { task_id: id });
const revision = client.getNegotiatedProtocolVersion();
await client.close();
process.stdout.write(
  JSON.stringify({
    revision,
    tools: tools.map(({ name }) => name),
    hold: quoted.structuredContent.hold,
    result: result.structuredContent,
    link: result.content.find(({ type }) => type === 'resource_link')?.uri,
    refused: refused.structuredContent.error.code,
    late: [late.isError, late.structuredContent.error.code],
  }),
);

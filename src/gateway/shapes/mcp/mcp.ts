// The Model Context Protocol for agents, at /mcp: each call is one POST, and nothing is kept between
// calls. The tools are in tools.ts, and the Tasks extension is in tasks.ts.

import { tasksExtension } from '../../../contract/mcp-schema';
import type { JsonObject } from '../../../contract/safe-json';
import { bodyBytesMax, readJsonBody } from '../../body';
import type { KeyedCall } from '../../context';
import type { KeyedDeps } from '../../deps';
import type { Calls, Shape } from '../shape';
import { kindOf } from './kinds';
import type { Server } from './library';
import { callsOf } from './own-calls';
import { hasTasks, serveTasks } from './tasks';
import { serveTools } from './tools';

const path = '/mcp';

export function mcpShape(deps: KeyedDeps, calls: Calls): Shape {
  const handle = (ctx: KeyedCall) => answerMcp(ctx, deps, calls);
  return {
    owns: (asked) => asked === path,
    routeOf: (method, asked) =>
      asked === path && method === 'POST' ? { route: path, handle } : null,
    errorBody: ({ message, ...data }) => ({
      jsonrpc: '2.0',
      id: null,
      error: { code: requestFailed, message, data },
    }),
  };
}

/** JSON-RPC leaves the codes from -32000 to -32099 to servers. */
const requestFailed = -32_000;

async function answerMcp(ctx: KeyedCall, deps: KeyedDeps, calls: Calls): Promise<void> {
  const sent = await readMessage(ctx, calls);
  // The library takes a quarter of the time in which an API starts, so it is loaded on demand.
  const mcp = await import('@modelcontextprotocol/server');
  const own = callsOf(ctx, deps, calls);
  const handler = mcp.createMcpHandler(
    ({ era }) => {
      const withTasks = era === 'modern';
      const extensions = withTasks ? { extensions: { [tasksExtension]: {} } } : {};
      const { name, version } = deps.version;
      const server: Server = new mcp.Server(
        { name, version },
        { capabilities: { tools: {}, ...extensions }, instructions },
      );
      serveTools(server, own, withTasks && hasTasks(sent));
      if (withTasks) serveTasks(server, own, mcp, hasTasks(sent));
      return server;
    },
    // There is nothing to subscribe to: an agent polls.
    { maxSubscriptions: 0, keepAliveMs: 0 },
  );
  const url = new URL(path, deps.settings.publicUrl);
  const request = new Request(url, { method: 'POST', headers: headersOf(ctx) });
  const response = await handler.fetch(request, { parsedBody: sent });
  const body = Buffer.from(await response.arrayBuffer());
  if (own.fault) throw own.fault;
  ctx.body = body;
  ctx.status = response.status;
  for (const [name, value] of response.headers) ctx.set(name, value);
}

/** Reads the body, and counts the call by the tool that the body names. */
async function readMessage(ctx: KeyedCall, { countMessage }: Calls): Promise<JsonObject> {
  const sent = await readJsonBody(ctx.req, bodyBytesMax).catch((error: unknown) => {
    countMessage(ctx, 'changes');
    throw error;
  });
  countMessage(ctx, kindOf(sent));
  return sent;
}

const instructions =
  'Makes videos. `submit` starts a video and answers with its task id at once; `result` waits for the ' +
  'end and has the link of the video. `quote` shows the price first, without starting anything.';

function headersOf({ headers }: KeyedCall): Headers {
  const copied = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (/^(?:accept|content-type|mcp-.*)$/.test(name)) copied.set(name, String(value));
  }
  return copied;
}

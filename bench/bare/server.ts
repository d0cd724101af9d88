// The HTTP references: two bare Koa routes. One parses JSON and refuses the request. The other reads
// a row by its primary key.

import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

// The service's refusal lists the models of the key. With this text, the bare refusal has the same
// length of about 290 bytes.
const otherModels = 'x'.repeat(160);

const app = new Koa();
app.use(async (ctx) => {
  if (ctx.method === 'POST') {
    let text = '';
    for await (const chunk of ctx.req) text += String(chunk);
    const { model } = JSON.parse(text) as { model?: string };
    ctx.status = 400;
    const message = `There is no model ${model}. ${otherModels}`;
    ctx.body = {
      error: { message, type: 'invalid_request_error', param: 'model', code: 'unknown' },
    };
    return;
  }
  ctx.type = 'application/json';
  const id = ctx.path.slice('/row/'.length);
  const { rows } = await pool.query<{ object: string }>(
    'select object::text as object from tasks where id = $1',
    [id],
  );
  ctx.status = rows[0] ? 200 : 404;
  ctx.body = rows[0]?.object ?? '{}';
});

const server = app.listen(0, '127.0.0.1', () => process.send?.(server.address() as AddressInfo));
process.once('disconnect', () => process.exit(0));

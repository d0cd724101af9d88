// The HTTP reference: a bare Koa route that parses JSON and stores one row.

import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

const app = new Koa();
app.use(async (ctx) => {
  let text = '';
  for await (const chunk of ctx.req) text += String(chunk);
  const id = randomUUID();
  const object = { id, status: 'submitted', request: JSON.parse(text) as unknown };
  await pool.query('insert into bench_rows (id, object) values ($1, $2)', [
    id,
    JSON.stringify(object),
  ]);
  ctx.body = { id, status: 'submitted' };
});

const server = app.listen(0, '127.0.0.1', () => process.send?.(server.address() as AddressInfo));
process.once('disconnect', () => process.exit(0));

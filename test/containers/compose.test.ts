// Runs docker-compose.yml on a container engine, by the blocks of docs/operations.md. The ports of
// the page must be free. The base images must be there, or the engine must be able to pull them.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/until';
import { blockWith, type Copy, copyOfProject } from './page';

const origin = 'http://127.0.0.1:8080';
const minutes = 60_000;
let copy: Copy;
let key: string;

beforeAll(async () => {
  copy = copyOfProject();
  const block = blockWith('docker compose --profile demo up -d');
  const said = await copy.sh(
    block.replace('docker compose run --rm admin', 'docker compose run --rm -T admin'),
    15 * minutes,
  );
  key = /^apiKey +(\S+)/m.exec(said)?.[1] ?? '';
  await untilReady();
}, 20 * minutes);
afterAll(async () => {
  await copy?.sh('docker compose --profile demo down -v --timeout 5');
  rmSync(copy.folder, { recursive: true, force: true });
}, 5 * minutes);

const call = (path: string, init: RequestInit = {}) =>
  fetch(`${origin}${path}`, {
    ...init,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...init.headers,
    },
  });

const create = () =>
  call('/v1/videos/generations', {
    method: 'POST',
    body: JSON.stringify({ model: 'studio-2.0', prompt: 'A paper boat' }),
  });

async function untilReady(): Promise<void> {
  const isReady = () =>
    fetch(`${origin}/readyz`).then(
      (reply) => reply.ok,
      () => false,
    );
  await until('the service is ready', isReady, 3 * minutes);
}

/** Creates a task, waits for its end and returns the video. */
async function film(): Promise<Buffer> {
  const { id } = (await (await create()).json()) as { id: string };
  let task = { status: '', video_url: '' };
  await until(
    `${id} ends`,
    async () => {
      const reply = await call(`/v1/videos/generations/${id}`, { headers: { prefer: 'wait=20' } });
      task = (await reply.json()) as typeof task;
      return ['succeeded', 'failed'].includes(task.status);
    },
    3 * minutes,
  );
  expect(task.status).toBe('succeeded');
  return Buffer.from(await (await fetch(task.video_url)).arrayBuffer());
}

/** Reads the account at 20 calls a second during `work`, and returns the count of each status. */
async function underLoad(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const calls: Promise<void>[] = [];
  const count = (status: string) => {
    counts[status] = (counts[status] ?? 0) + 1;
  };
  const timer = setInterval(() => {
    const answered = call('/v1/account').then(
      ({ status }) => count(String(status)),
      () => count('none'),
    );
    calls.push(answered);
  }, 50);
  await work().finally(() => clearInterval(timer));
  await Promise.all(calls);
  return counts;
}

test('the first film is stored, and the samples open in a browser of this machine', async () => {
  expect((await film()).subarray(4, 8).toString()).toBe('ftyp');
  const { samples } = (await (await call('/playground.json')).json()) as {
    samples: { url: string }[];
  };
  expect(samples.length).toBeGreaterThan(2);
  expect((await fetch(samples[0]?.url ?? '')).status).toBe(200);
});

test('processes of ours are no root, write only to volumes, and neither proxy nor studio reaches PostgreSQL or Temporal', async () => {
  const tried =
    'id -u; for path in /app/x /etc/x /x; do touch $path 2>/dev/null && echo written; done; true';
  for (const name of ['api', 'api-2', 'worker', 'studio']) {
    expect((await copy.sh(`docker compose exec -T ${name} sh -c '${tried}'`)).trim()).toBe('1000');
  }
  const probe = (host: string, port: number) =>
    `node -e "require('net').connect(${port},'${host}').on('connect',()=>{console.log('open');process.exit()}).on('error',()=>0)"`;
  for (const [host, port] of [
    ['postgres', 5432],
    ['temporal', 7233],
  ] as const) {
    const from = (name: string) => copy.sh(`docker compose exec -T ${name} ${probe(host, port)}`);
    expect([host, await from('api'), await from('studio')]).toEqual([host, 'open\n', '']);
    const proxy = await copy.sh(`docker compose exec -T proxy getent hosts ${host} || true`);
    expect(proxy).toBe('');
  }
});

test('a change of .env takes never both APIs', async () => {
  const file = join(copy.folder, '.env');
  writeFileSync(file, `${readFileSync(file, 'utf8')}WORKERS=3\nLOG_LEVEL=debug\n`);
  const counts = await underLoad(() =>
    copy.sh(
      blockWith(
        'docker compose up -d --no-deps --wait worker\ndocker compose up -d --no-deps --wait api\ndocker compose up -d --no-deps --wait api-2\n',
      ),
    ),
  );
  expect(Object.keys(counts)).toEqual(['200']);
  const workers = await copy.sh('docker compose ps -q worker');
  expect(workers.trim().split('\n')).toHaveLength(3);
});

test('a signal reaches every process, and does not cost the restart after a crash', async () => {
  await copy.sh(blockWith("sh -c 'kill -HUP 1'"));
  await until('the catalogue was read again', async () =>
    (await copy.sh('docker compose logs --since=1m api api-2 worker')).includes('catalogue'),
  );
  const pid = (name: string) =>
    copy.sh(`docker inspect -f '{{.State.Pid}}' $(docker compose ps -q ${name} | head -n 1)`);
  for (const name of ['api', 'worker']) {
    const before = await pid(name);
    const counts = await underLoad(async () => {
      await copy.sh(`kill -9 ${before}`);
      await until(`${name} runs again`, async () => !['0\n', before].includes(await pid(name)));
    });
    expect([name, Object.keys(counts)]).toEqual([name, ['200']]);
  }
  await untilReady();
  await film();
});

test('a dump is made after the migration, and a restore keeps who may connect', async () => {
  const rights = `docker compose exec -T postgres psql -U video -d video -Atc "select datname, datdba::regrole, datacl from pg_database where not datistemplate order by 1"`;
  const before = await copy.sh(rights);
  await film();
  await copy.sh('docker compose exec -T backup /bin/sh /backup.sh once');
  await copy.sh(
    'docker compose exec -T backup sh -c "cat $(ls -t /backups/*.dump | head -n 1)" > video.dump'.replaceAll(
      '$(',
      '\\$(',
    ),
  );
  const block = blockWith('pg_restore -U video', { 'video-2026-01-31.dump': 'video.dump' });
  const said = await copy.sh(block.replaceAll('run --rm admin', 'run --rm -T admin'), 15 * minutes);
  expect(said).not.toMatch(/difference found/);
  expect(await copy.sh(rights)).toBe(before);
  await untilReady();
  await film();
});

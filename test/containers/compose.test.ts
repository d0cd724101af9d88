// Runs docker-compose.yml on a container engine, by the blocks of README and docs/operations.md. The ports of
// the page must be free. The base images must be there, or the engine must be able to pull them.
//
// A step finds its block by words in it, so these words must stay in the page:
//   README, "Two commands"          # the playground is at
//   "Run it for real"               COMPOSE_FILE=…; curl -s https://video.example.com/readyz;
//                                   deploy.sh --settings; sh -c 'kill -HUP 1'
//   "Change a secret"               \password video_api
//   "Images"                        npm run -s sbom
//   deploy/helm/README.md           kubectl exec -i deploy/video-api --
//   "Deploys"                       git fetch --tags; worker-next
//   "Backup and restore"            docker compose cp backup:/backups/; restore.sh … files.tar;
//                                   archive.sh base; archive.sh restore

import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { path as ffmpeg } from '@ffmpeg-installer/ffmpeg';
import { until } from '../support/until';
import { callerWith, untilReady } from './caller';
import { blockWith, type Copy, copyOfProject, inlineWith } from './page';
import { listedIn, metadataHost, packagesIn, reaches } from './probes';

const minutes = 60_000;
const applySettings = 'sh deploy/compose/deploy.sh --settings\n';
let copy: Copy;
let caller: ReturnType<typeof callerWith>;

beforeAll(async () => {
  copy = copyOfProject();
  await removeContainers();
  const tag = await copy.commit();
  // An engine that was used before has images of an older state.
  for (const name of ['service', 'studio']) {
    await copy.sh(
      `docker build -q --target ${name} --build-arg COMMIT=$(git rev-parse HEAD) -t video-generation-${name}:local -t video-generation-${name}:${tag} .`,
      15 * minutes,
    );
  }
  const started = Date.now();
  const said = await copy.sh(blockWith('# the playground is at'), 15 * minutes);
  const [, account = ''] = /^accountId +(\S+)/m.exec(said) ?? [];
  const [, key = ''] = /^apiKey +(\S+)/m.exec(said) ?? [];
  caller = callerWith(key);
  await untilReady();
  note(`ready after ${Math.round((Date.now() - started) / 1000)} s`);
  await admin(`accounts credit ${account} 9000.00 --reference test`);
}, 40 * minutes);
afterAll(async () => {
  await removeContainers();
  rmSync(copy.folder, { recursive: true, force: true });
}, 5 * minutes);

/** Removes what this test made, also what an earlier run left that was ended. */
async function removeContainers(): Promise<void> {
  const ours = '--filter label=com.docker.compose.project=video-containers-test';
  await copy.sh(`
    docker rm -f video-containers-receiver > /dev/null 2>&1 || true
    docker ps -aq ${ours} | xargs -r docker rm -f -v
    docker volume ls -q ${ours} | xargs -r docker volume rm
    docker network ls -q ${ours} | xargs -r docker network rm`);
}

const note = (text: string) => process.stderr.write(`${text}\n`);
const admin = (command: string) => copy.sh(`docker compose run --rm -T admin ${command}`);
const healthOf = async (name: string) => {
  const format = '{{with .State.Health}}{{.Status}}{{end}}';
  return (await copy.sh(`docker inspect -f '${format}' $(docker compose ps -q ${name})`)).trim();
};
const pidOf = (name: string) =>
  copy.sh(`docker inspect -f '{{.State.Pid}}' $(docker compose ps -q ${name} | head -n 1)`);

function studioKey(): string {
  const env = readFileSync(join(copy.folder, '.env'), 'utf8');
  return /^STUDIO_API_KEY=(.+)$/m.exec(env)?.[1] ?? '';
}

function setInEnv(...lines: readonly string[]): void {
  const file = join(copy.folder, '.env');
  writeFileSync(file, `${readFileSync(file, 'utf8')}${lines.join('\n')}\n`);
}

async function agrees(): Promise<void> {
  await caller.allEnded();
  expect(await admin('audit')).not.toMatch(/difference found/);
}

test('the first film is stored, arrives whole over TLS, and samples open in a browser of this machine', async () => {
  const { video_url } = await caller.film();
  const film = Buffer.from(await (await fetch(video_url)).arrayBuffer());
  await copy.sh('docker compose cp proxy:/data/caddy/pki/authorities/local/root.crt root.crt');
  const overTls = video_url.replace('http://127.0.0.1:8080', 'https://localhost:8443');
  await copy.sh(`curl -sf --cacert root.crt -o film.mp4 ${overTls}`);
  expect(readFileSync(join(copy.folder, 'film.mp4')).equals(film)).toBe(true);
  const probed = await copy.sh(`"${ffmpeg}" -i film.mp4 -f null - 2>&1`);
  expect(probed).toMatch(/Video: h264.* 1280x720/);
  const { samples } = (await (await caller.call('/playground.json')).json()) as {
    samples: { url: string }[];
  };
  expect(samples.length).toBeGreaterThan(2);
  expect((await fetch(samples[0]?.url ?? '')).status).toBe(200);
});

test(
  'processes of ours are no root, write only to volumes, and neither proxy nor studio reaches PostgreSQL, Temporal or metrics',
  async () => {
    const tried =
      'id -u; for path in /app/x /etc/x /x; do touch $path 2>/dev/null && echo written; done; true';
    for (const name of ['api', 'api-2', 'worker', 'studio']) {
      expect((await copy.sh(`docker compose exec -T ${name} sh -c '${tried}'`)).trim()).toBe(
        '1000',
      );
    }
    for (const [host, port] of [
      ['postgres', 5432],
      ['temporal', 7233],
      ['metrics', 9464],
    ] as const) {
      expect([host, await reaches(copy, 'api', host, port)]).toEqual([host, true]);
    }
    expect(await reaches(copy, 'proxy', 'api', 8080)).toBe(true);
    for (const [host, port] of [
      ['postgres', 5432],
      ['temporal', 7233],
      ['api', 9464],
      ['api-2', 9464],
      ['worker', 9464],
    ] as const) {
      for (const name of ['studio', 'proxy']) {
        expect([name, host, await reaches(copy, name, host, port)]).toEqual([name, host, false]);
      }
    }
  },
  15 * minutes,
);

test('no process of ours can gain rights, has a secret of another, or is published beyond this machine', async () => {
  for (const name of ['api', 'worker', 'studio', 'backup', 'temporal', 'postgres', 'proxy']) {
    const status = await copy.sh(`docker compose exec -T ${name} cat /proc/1/status`);
    expect([name, status]).toEqual([name, expect.stringMatching(/^NoNewPrivs:\t1$/m)]);
    expect([name, status]).toEqual([name, expect.stringMatching(/^Seccomp:\t2$/m)]);
    if (!['postgres', 'proxy'].includes(name)) expect(status).toMatch(/^CapBnd:\t0+$/m);
  }
  const secrets = async (name: string) =>
    [...(await copy.sh(`docker compose exec -T ${name} env`)).matchAll(/^(\w+)=.+$/gm)]
      .flatMap(([line, variable = '']) => (/:\/\/\w+:\w+@|PASSWORD|KEY/.test(line) ? variable : []))
      .sort();
  expect(await secrets('api')).toEqual(['DATABASE_URL']);
  expect(await secrets('worker')).toEqual(['DATABASE_URL', 'STUDIO_API_KEY']);
  expect(await secrets('studio')).toEqual(['STUDIO_API_KEY']);
  expect(await secrets('proxy')).toEqual([]);
  const ports = await copy.sh(
    "docker ps --filter label=com.docker.compose.project=video-containers-test --format '{{.Ports}}'",
  );
  expect(ports.match(/[\d.:[\]]+(?=:\d+->)/g)?.filter((host) => host !== '127.0.0.1')).toEqual([]);
});

test(
  'the image adds less than 350 MB to its base, and has neither compiler, ffmpeg nor a cache of packages',
  async () => {
    const base = /^FROM (node:\S+)/m.exec(
      readFileSync(join(copy.folder, 'Dockerfile'), 'utf8'),
    )?.[1];
    const sizeOf = async (image = '') =>
      Number(await copy.sh(`docker image inspect -f '{{.Size}}' ${image}`)) / 1e6;
    const [below, service, studio] = await Promise.all(
      [base, 'video-generation-service:local', 'video-generation-studio:local'].map(sizeOf),
    );
    const added = [service, studio].map((size = 0) => Math.round(size - (below ?? 0)));
    note(`MB over the base: service ${added[0]}, studio ${added[1]}`);
    expect(added[0]).toBeLessThan(350);
    const tools =
      'command -v gcc cc make ffmpeg; ls -A /root/.npm /home/node/.npm /var/cache/apt/archives/*.deb; true';
    expect(await copy.sh(`docker compose exec -T api sh -c '(${tools}) 2> /dev/null'`)).toBe('');
    const [sbom = ''] = /^npm run -s sbom\S* > \S+/m.exec(blockWith('npm run -s sbom')) ?? [];
    await copy.sh(sbom);
    const listed = listedIn(readFileSync(join(copy.folder, 'packages.cdx.json'), 'utf8'));
    const found = await packagesIn(copy, 'api');
    expect(found.length).toBeGreaterThan(100);
    expect(found.filter((name) => !listed.has(name))).toEqual([]);
    // One after the other, because processes that start together wait for each other.
    await copy.sh('docker compose restart api-2');
    await until('the API is ready again', async () => (await healthOf('api-2')) === 'healthy');
    for (const name of ['api-2', 'worker', 'studio']) {
      const id = (await copy.sh(`docker compose ps -q ${name} | head -n 1`)).trim();
      const started = await copy.sh(`docker inspect -f '{{.State.StartedAt}}' ${id}`);
      const logged = `docker logs -t ${id} 2>&1 | grep '"ready"' | tail -n 1`;
      const [ready = ''] = (await copy.sh(logged)).split(' ');
      note(`${name} ready after ${(Date.parse(ready) - Date.parse(started.trim())) / 1000} s`);
    }
    note(await copy.sh("docker stats --no-stream --format '{{.Name}} {{.MemUsage}}'"));
  },
  15 * minutes,
);

test('an image has its labels and no tools of packages, and runs as any user of the group of root', async () => {
  const image = 'video-generation-service:local';
  const labels = await copy.sh(`docker image inspect -f '{{json .Config.Labels}}' ${image}`);
  expect(JSON.parse(labels)).toMatchObject({
    'org.opencontainers.image.version': expect.stringMatching(/^\d/),
    'org.opencontainers.image.revision': (await copy.sh('git rev-parse HEAD')).trim(),
    'org.opencontainers.image.licenses': 'MIT',
  });
  const tools =
    'command -v npm npx yarn corepack; ls /usr/local/lib/node_modules 2> /dev/null; echo none';
  expect(await copy.sh(`docker run --rm --entrypoint sh ${image} -c '${tools}'`)).toBe('none\n');
  const written = 'id -u; mkdir /data/files && touch /data/files/x && echo written';
  const run = `docker run --rm --user 54321:0 --entrypoint sh ${image} -c '${written}'`;
  expect(await copy.sh(run)).toBe('54321\nwritten\n');
});

test('an operator command runs inside of an API, and reads its database address from standard input', async () => {
  const env = readFileSync(join(copy.folder, '.env'), 'utf8');
  const [, password = ''] = /^DATABASE_OPERATOR_PASSWORD=(.+)$/m.exec(env) ?? [];
  const inPod = 'kubectl exec -i deploy/video-api --';
  const block = blockWith(inPod, { [inPod]: 'docker compose exec -T api' });
  const url = `postgres://video_operator:${password}@postgres:5432/video`;
  expect(await copy.sh(`OPERATOR_URL=${url}\n${block}`)).toContain('Demo');
});

test('with the rule of the page, no process reads the credentials of the machine', async () => {
  const rule = blockWith('iptables -I DOCKER-USER');
  const asked = () =>
    Promise.all(
      ['worker', 'api', 'studio', 'proxy'].map((name) =>
        reaches(copy, name, '169.254.169.254', 80),
      ),
    );
  await metadataHost.start(copy);
  try {
    expect(await asked()).toEqual([true, true, true, true]);
    await copy.sh(rule);
    expect(await asked()).toEqual([false, false, false, false]);
  } finally {
    await metadataHost.stop(copy);
    await copy.sh(`( ${rule.replace('-I', '-D')} ) || true`);
  }
});

test(
  'a change of .env under load gives no 5xx, and calls of a customer are answered at the new address',
  async () => {
    setInEnv('WORKERS=1', 'CATALOGUE_FILE=/catalogue/catalogue.yaml');
    setInEnv('DANGEROUSLY_ALLOW_HOSTS=127.0.0.1:8090,receiver:9000');
    cpSync(join(copy.folder, 'catalogue.yaml'), join(copy.folder, 'catalogue/catalogue.yaml'));
    await copy.sh('chmod -R go+rX catalogue');
    const counts = await caller.underLoad(() => copy.sh(blockWith(applySettings)));
    note(`change of .env: ${JSON.stringify(counts)}`);
    expect(Object.keys(counts)).toEqual(['200']);
    const workers = await copy.sh('docker compose ps -q worker');
    expect(workers.trim().split('\n')).toHaveLength(1);
    await copy.sh('docker compose --profile demo up -d --no-deps --wait studio');
  },
  15 * minutes,
);

test(
  'a callback arrives, a film is enhanced, and an uploaded picture is an input',
  async () => {
    const program =
      "require('http').createServer((q,s)=>{q.pipe(process.stdout);console.log(q.headers['webhook-id']);s.end()}).listen(9000)";
    await copy.sh(
      `docker run -d --name video-containers-receiver --network video-containers-test_generators --network-alias receiver --entrypoint node video-generation-service:local -e "${program}"`,
    );
    const called = await caller.film({ metadata: { callback_url: 'http://receiver:9000/' } });
    await until('the callback arrives', async () =>
      (await copy.sh('docker logs video-containers-receiver')).includes(called.id),
    );
    const metadata = { super_resolution_config: { resolution: '720p' } };
    const { video_url } = await caller.film({ resolution: '480p', metadata });
    await copy.sh(`curl -sf -o larger.mp4 ${video_url}`);
    expect(await copy.sh(`"${ffmpeg}" -i larger.mp4 -f null - 2>&1`)).toMatch(/ \d+x720 /);
    // The studio refuses a side below 300 pixels.
    await copy.sh(`"${ffmpeg}" -f lavfi -i testsrc=size=640x360 -frames:v 1 a.png`);
    const picture = readFileSync(join(copy.folder, 'a.png'));
    const reply = await caller.call('/v1/files?name=a.png', { method: 'POST', body: picture });
    const { id } = (await reply.json()) as { id: string };
    await caller.film({ images: [id] });
  },
  15 * minutes,
);

test('a signal reads a good catalogue in every process, and a faulty one changes nothing', async () => {
  const file = join(copy.folder, 'catalogue/catalogue.yaml');
  const good = readFileSync(file, 'utf8').replace(
    '\n  studio-2.0-pro:\n',
    '\n  studio-extra:\n    <<: *studio-2\n    modes: {}\n\n  studio-2.0-pro:\n',
  );
  const models = async () => {
    const { data } = (await (await caller.call('/v1/models')).json()) as { data: { id: string }[] };
    return data.map(({ id }) => id);
  };
  writeFileSync(file, good);
  await copy.sh(blockWith("sh -c 'kill -HUP 1'"));
  await until('the catalogue was read again', async () =>
    (await models()).includes('studio-extra'),
  );
  await caller.film({ model: 'studio-extra' });
  writeFileSync(file, `${good}\nmodles: {}\n`);
  const block = blockWith("sh -c 'kill -HUP 1'");
  await until('the fault is in the log', async () => (await copy.sh(block)).includes('modles'));
  expect(await models()).toContain('studio-extra');
  writeFileSync(file, good);
});

const noTargets = { activeTargets: [] };
const databaseAnswers = () =>
  copy.sh('docker compose exec -T postgres pg_isready -U video -d video -h 127.0.0.1').then(
    () => true,
    () => false,
  );

test(
  'each container comes back after kill -9 under load, and every task ends once',
  async () => {
    const others = ['temporal-ui', 'backup', 'studio', 'temporal'];
    for (const name of ['api', 'api-2', 'worker', ...others, 'postgres', 'proxy']) {
      const before = await pidOf(name);
      let awayMs = 0;
      const counts = await caller.underLoad(async () => {
        const killedAt = Date.now();
        await copy.sh(`kill -9 ${before}`);
        await until(`${name} runs again`, async () => !['0\n', before].includes(await pidOf(name)));
        if (name === 'postgres') await until('PostgreSQL answers', databaseAnswers);
        awayMs = Date.now() - killedAt;
        await new Promise((done) => setTimeout(done, 3000));
      });
      note(`kill -9 of ${name}: ${JSON.stringify(counts)}, away for at most ${awayMs} ms`);
      // There is one proxy, and an API waits ten seconds for PostgreSQL. Nobody knows if a create was
      // stored whose connection was cut.
      const allowed = {
        proxy: ['200', 'none'],
        postgres: ['200', 'create 503', ...(awayMs < 9000 ? [] : ['503'])],
      };
      const statuses = allowed[name as keyof typeof allowed] ?? ['200'];
      expect([name, Object.keys(counts).filter((one) => !statuses.includes(one))]).toEqual([
        name,
        [],
      ]);
      // A second kill must not meet a process that still starts.
      await until(`${name} is healthy`, async () => ['healthy', ''].includes(await healthOf(name)));
      await untilReady();
    }
    await agrees();
  },
  15 * minutes,
);

test(
  'a worker that reaches its limit of memory is started again, and its tasks end',
  async () => {
    const id = (await copy.sh('docker compose ps -q worker | head -n 1')).trim();
    const restarts = () => copy.sh(`docker inspect -f '{{.RestartCount}}' ${id}`);
    const before = await restarts();
    // The kernel ends the worker before the process that fills the memory.
    await copy.sh(
      `for pid in $(docker top ${id} -eo pid | tail -n +2); do echo 1000 > /proc/$pid/oom_score_adj; done`,
    );
    const filler = 'const kept=[];for(;;)kept.push(Buffer.alloc(2**26,1))';
    const filled = `docker exec ${id} node -e "${filler}" || true`;
    const counts = await caller.underLoad(() => copy.sh(filled));
    expect(Object.keys(counts)).toEqual(['200']);
    await until('the worker was started again', async () => (await restarts()) !== before);
    await agrees();
  },
  15 * minutes,
);

test(
  'a deploy under load gives no 5xx and keeps the number of workers and the studio',
  async () => {
    const tag = await copy.commit();
    const studio = await pidOf('studio');
    const before = await imagesNow();
    const started = Date.now();
    const deploy = blockWith('git fetch --tags', {
      'git fetch --tags && git checkout v1.1.0 &&\n': '',
    });
    const counts = await caller.underLoad(() => copy.sh(deploy, 15 * minutes));
    note(`deploy in ${Math.round((Date.now() - started) / 1000)} s: ${JSON.stringify(counts)}`);
    expect(Object.keys(counts)).toEqual(['200']);
    expect(await imagesNow()).toEqual(before.map(() => `video-generation-service:${tag}`));
    expect(await pidOf('studio')).toBe(studio);
    const { commit } = (await (await caller.call('/version')).json()) as { commit: string };
    expect((await copy.sh('git rev-parse HEAD')).trim()).toBe(commit);
    await copy.sh(`docker tag video-generation-service:${tag} video-generation-service:a1`);
  },
  20 * minutes,
);

async function imagesNow(): Promise<string[]> {
  const listed = await copy.sh("docker compose ps --format '{{.Image}}' api api-2 worker");
  return listed.trim().split('\n');
}

test.each([
  ['whose migration fails', 'exit 1', 'the migration failed'],
  ['whose workers crash', '[ "$0" = admin ] || exit 1', 'a new worker did not become healthy'],
])(
  'a deploy of an image %s stops, and leaves every process as it was',
  async (_, program, sentence) => {
    const entry = JSON.stringify(['sh', '-c', program]);
    await copy.sh(
      `printf 'FROM video-generation-service:a1\nENTRYPOINT %s\n' '${entry}' | docker build -q -t video-generation-service:bad -`,
    );
    const before = [await copy.sh('docker compose ps -q'), await imagesNow()];
    const said: string[] = [];
    const counts = await caller.underLoad(async () => {
      const failing = 'if sh deploy/compose/deploy.sh bad 2>&1; then echo DEPLOYED; fi';
      said.push(await copy.sh(failing, 15 * minutes));
    });
    expect(said.join()).toContain(sentence);
    expect(said.join()).not.toContain('DEPLOYED');
    expect(Object.keys(counts)).toEqual(['200']);
    expect([await copy.sh('docker compose ps -q'), await imagesNow()]).toEqual(before);
  },
  20 * minutes,
);

test(
  'a deploy with worker versions keeps each task of a minute on its build',
  async () => {
    setInEnv('TAG=a1', 'WORKER_BUILD_ID=a1');
    await copy.sh(blockWith(applySettings));
    const block = blockWith('up -d --no-deps --wait worker-next');
    const [, current = ''] =
      /(docker compose run[^\n]*temporal-cli[\s\S]*? -y)\n/.exec(block) ?? [];
    await copy.sh(current.replace('b2', 'a1'));
    await caller.film();
    const script = (body: object) =>
      fetch('http://127.0.0.1:8090/admin/script', {
        method: 'POST',
        headers: { authorization: `Bearer ${studioKey()}` },
        body: JSON.stringify(body),
      });
    expect((await script({ run_s: 60 })).status).toBe(200);
    const open = await Promise.all(
      [1, 2, 3].map(async () => (await (await caller.create()).json()) as { id: string }),
    );
    await new Promise((done) => setTimeout(done, 5000));
    await script({});
    setInEnv('NEXT_TAG=b2', 'COMMIT=b2');
    const [first = '', second = ''] = block.split(/^# Once a1 is drained.*$/m);
    const counts = await caller.underLoad(() => copy.sh(first));
    note(`new workers beside the old ones: ${JSON.stringify(counts)}`);
    expect(Object.keys(counts)).toEqual(['200']);
    const buildOf = async (id: string) => {
      const described = await copy.sh(
        `docker compose run --rm -T temporal-cli workflow describe -w ${id} -o json`,
      );
      return /"versioningInfo": \{[^}]*"buildId": "(\w+)"/.exec(described)?.[1];
    };
    const { id } = await caller.film();
    expect(await buildOf(id)).toBe('b2');
    for (const task of open) {
      await caller.ended(task.id);
      expect(await buildOf(task.id)).toBe('a1');
    }
    await caller.allEnded();
    setInEnv('TAG=b2', 'WORKER_BUILD_ID=b2');
    const later = await caller.underLoad(() => copy.sh(second));
    note(`old workers replaced: ${JSON.stringify(later)}`);
    expect(Object.keys(later)).toEqual(['200']);
    await caller.film();
    await agrees();
  },
  15 * minutes,
);

test(
  'the studio got each job once, and down and up keep what was stored',
  async () => {
    const accepted = await fetch('http://127.0.0.1:8090/admin/accepted', {
      headers: { authorization: `Bearer ${studioKey()}` },
    });
    const { items } = (await accepted.json()) as {
      items: { kind: string; client_request_id: string }[];
    };
    const jobs = items.map(({ kind, client_request_id }) => `${kind} ${client_request_id}`);
    expect(jobs.length).toBeGreaterThan(10);
    expect(new Set(jobs).size).toBe(jobs.length);
    const { video_url } = await caller.film();
    const film = async () => Buffer.from(await (await fetch(video_url)).arrayBuffer());
    const before = await film();
    await copy.sh('docker compose --profile demo down');
    await copy.sh('docker compose --profile demo up -d', 5 * minutes);
    await untilReady();
    expect((await film()).equals(before)).toBe(true);
    await agrees();
  },
  15 * minutes,
);

test(
  'a changed password of the API is applied by the block of the page',
  async () => {
    setInEnv('DATABASE_API_PASSWORD=changed');
    const asking = 'docker compose exec postgres';
    const block = blockWith('\\password video_api', {
      [asking]: "printf 'changed\\nchanged\\n' | docker compose exec -T postgres",
    });
    const counts = await caller.underLoad(() => copy.sh(block, 15 * minutes));
    note(`change of a password: ${JSON.stringify(counts)}`);
    expect(Object.keys(counts).filter((one) => !/^(create )?(200|503)$/.test(one))).toEqual([]);
    await untilReady();
    await caller.film();
    await agrees();
  },
  20 * minutes,
);

// Without the databases that a restore has set aside.
const databaseRights = `docker compose exec -T postgres psql -U video -d video -Atc "select datname, datdba::regrole, datacl from pg_database where not datistemplate and datname !~ '_(before|after)_' order by 1"`;
const named = { 'video-2026-01-31T000000Z.dump': 'video.dump' };

/** Dumps the database by the service `backup`, and takes the newest dump out of its volume. */
async function dump(): Promise<void> {
  await copy.sh('docker compose exec -T backup /bin/sh /backup.sh once');
  const newest = "docker compose exec -T backup sh -c 'cat $(ls -t /backups/*.dump | head -n 1)'";
  await copy.sh(`${newest} > video.dump`);
}

test('a restore of a misspelt or a cut dump changes nothing', async () => {
  await dump();
  await copy.sh('head -c 20000 video.dump > cut.dump');
  const before = await copy.sh('docker compose ps -q');
  for (const name of ['vidoe.dump', 'cut.dump', 'catalogue.yaml']) {
    const tried = `if sh deploy/compose/restore.sh ${name} 2>&1; then echo RESTORED; fi`;
    const said = await copy.sh(tried);
    expect(said).toMatch(/The restore stopped: .*\nNothing was changed\.\n$/);
  }
  expect(await copy.sh('docker compose ps -q')).toBe(before);
  await caller.film();
});

test(
  'a dump is made after the migration, a restore keeps who may connect, and it can be taken back',
  async () => {
    const before = await copy.sh(databaseRights);
    const { id } = await caller.film();
    await dump();
    const [, restore = ''] = blockWith('docker compose cp backup:/backups/').split('.dump .\n');
    const command = restore.replace(Object.keys(named)[0] ?? '', 'video.dump');
    const said = await copy.sh(command, 15 * minutes);
    expect(said).toMatch(/The books agree: [1-9]/);
    const aside = /video_before_(\w+)/.exec(said)?.[1] ?? '';
    await untilReady();
    await caller.ended(id);
    // The new Temporal does not know the build of the workers, so this task stays pending.
    const later = (await (await caller.create()).json()) as { id: string };
    await copy.sh(`sh deploy/compose/restore.sh --back ${aside}`, 15 * minutes);
    await copy.sh('docker compose up -d', 5 * minutes);
    await untilReady();
    await caller.ended(id);
    expect((await caller.call(`/v1/videos/generations/${later.id}`)).status).toBe(404);
    await copy.sh(command, 15 * minutes);
    expect(await copy.sh(databaseRights)).toBe(before);
    await untilReady();
    setInEnv('WORKER_BUILD_ID=');
    await copy.sh(blockWith(applySettings));
    await caller.film();
    await agrees();
  },
  40 * minutes,
);

test(
  'a restore of a dump without an account opens no service, and can be taken back',
  async () => {
    const { id } = await caller.film();
    const owner = /^DATABASE_OWNER_PASSWORD=(.+)$/m.exec(
      readFileSync(join(copy.folder, '.env'), 'utf8'),
    )?.[1];
    await copy.sh(`
      docker compose exec -T postgres createdb -U video -O video_owner other
      docker compose run --rm -T --no-deps -e DATABASE_URL=postgres://video_owner:${owner}@postgres:5432/other migrate
      docker compose exec -T postgres pg_dump -U video -Fc other > none.dump
      docker compose exec -T postgres dropdb -U video other`);
    const tried = 'if sh deploy/compose/restore.sh none.dump 2>&1; then echo RESTORED; fi';
    const said = await copy.sh(tried, 15 * minutes);
    expect(said).toContain('the dump has no account');
    expect(said).not.toContain('RESTORED');
    expect(await copy.sh('docker compose ps -q api api-2 worker')).toBe('');
    const [, back = ''] = /To go back, run:\n +(.+)\n/.exec(said) ?? [];
    expect(back).toMatch(/^sh deploy\/compose\/restore\.sh --back /);
    await copy.sh(back, 15 * minutes);
    await untilReady();
    await caller.ended(id);
    await caller.film();
    await agrees();
  },
  20 * minutes,
);

test(
  'an empty machine continues from a dump and the stored files',
  async () => {
    const before = await copy.sh(databaseRights);
    const { id, video_url } = await caller.film();
    const film = async () => Buffer.from(await (await fetch(video_url)).arrayBuffer());
    const stored = await film();
    await dump();
    await copy.sh(inlineWith('> files.tar'));
    await copy.sh(
      'docker compose --profile demo --profile next --profile monitoring down -v --timeout 5',
    );
    const said = await copy.sh(blockWith('files.tar', named), 15 * minutes);
    expect(said).toMatch(/The books agree: [1-9]/);
    await copy.sh('docker compose --profile demo up -d --wait studio');
    await untilReady();
    expect(await copy.sh(databaseRights)).toBe(before);
    expect((await caller.ended(id)).billing.charged).toMatch(/^\d/);
    expect((await film()).equals(stored)).toBe(true);
    await caller.film();
    await agrees();
  },
  20 * minutes,
);

test(
  'a PostgreSQL with an archive goes back to a moment, and goes on with the Temporal of that moment',
  async () => {
    const owner = (await copy.sh('docker compose exec -T postgres id -u postgres')).trim();
    await copy.sh(`mkdir archive && chown ${owner} archive`);
    setInEnv('COMPOSE_FILE=docker-compose.yml:deploy/compose/archive.yaml');
    setInEnv(`ARCHIVE_FOLDER=${join(copy.folder, 'archive')}`);
    await copy.sh('docker compose up -d --no-deps --wait postgres', 5 * minutes);
    await untilReady();
    const before = await caller.film();
    await copy.sh(blockWith('archive.sh base'), 5 * minutes);
    const copied = await caller.film();
    await caller.allEnded();
    const ask = (sql: string) =>
      copy.sh(`docker compose exec -T postgres psql -U video -d video -Atc "${sql}"`);
    const moment = (await ask('select clock_timestamp()')).trim();
    const after = await caller.film();
    const segment = (await ask('select pg_walfile_name(pg_switch_wal())')).trim();
    await copy.sh(`until [ -e archive/wal/${segment} ]; do sleep 1; done`, 2 * minutes);
    const back = blockWith('archive.sh restore', { '2026-01-31 12:00:00+00': moment });
    expect(await copy.sh(back, 10 * minutes)).toMatch(/The books agree: [1-9]/);
    await copy.sh('docker compose up -d', 5 * minutes);
    await untilReady();
    for (const { id } of [before, copied]) await caller.ended(id);
    const gone = await caller.call(`/v1/videos/generations/${after.id}`);
    expect(gone.status).toBe(404);
    await caller.film();
    await agrees();
  },
  20 * minutes,
);

test(
  'the profile of monitoring reads every process, and an alert fires when the workers are gone',
  async () => {
    // Grafana has no stand-in, and no alert needs it.
    await copy.sh(
      `${inlineWith('docker compose --profile monitoring up -d')} prometheus alertmanager node-exporter`,
    );
    const prometheus = async (path: string) =>
      ((await (await fetch(`http://127.0.0.1:9090/api/v1/${path}`)).json()) as { data: unknown })
        .data;
    const jobs = async () => {
      // While Prometheus starts, the engine accepts the connection and closes it.
      const { activeTargets } = (await prometheus('targets').catch(() => noTargets)) as {
        activeTargets: { health: string; labels: { job: string } }[];
      };
      return activeTargets.map(({ health, labels }) => `${labels.job} ${health}`).sort();
    };
    const workers = (await copy.sh('docker compose ps -q worker')).trim().split('\n');
    const wanted = [
      'node up',
      ...Array(2).fill('video-api up'),
      ...workers.map(() => 'video-worker up'),
    ];
    await until(
      'every target is read',
      async () => (await jobs()).join() === wanted.join(),
      3 * minutes,
    );
    const alerts = async () => {
      const found = await fetch('http://127.0.0.1:9093/api/v2/alerts?active=true');
      return ((await found.json()) as { labels: { alertname: string } }[]).map(
        ({ labels }) => labels.alertname,
      );
    };
    await until(
      'the watchdog fires',
      async () => (await alerts()).includes('VideoWatchdog'),
      3 * minutes,
    );
    expect(await alerts()).not.toContain('VideoWorkersGone');
    await copy.sh('docker compose stop worker');
    const gone = async () => (await alerts()).includes('VideoWorkersGone');
    await until('the alert fires', gone, 8 * minutes);
    await copy.sh('docker compose start worker');
    await until('the alert ends', async () => !(await gone()), 8 * minutes);
    await copy.sh('docker compose --profile monitoring stop prometheus alertmanager node-exporter');
  },
  25 * minutes,
);

test(
  'the service of the page starts with real generators, and answers over TLS on public ports',
  async () => {
    await copy.sh(
      'docker compose --profile demo --profile next --profile monitoring down -v --timeout 5',
    );
    await copy.sh('mv .env .env.before; rm -r catalogue');
    const write = blockWith('COMPOSE_FILE=docker-compose.yml:deploy/compose/public.yaml');
    await copy.sh(write.replaceAll('video.example.com', 'localhost'));
    const block = blockWith('curl -s https://video.example.com/readyz');
    const said = await copy.sh(
      block.replace(
        'curl -s https://video.example.com',
        'curl -sk --retry 60 --retry-delay 1 --retry-all-errors --fail https://localhost',
      ),
      10 * minutes,
    );
    expect(said).toMatch(/^apiKey +\S+/m);
    const workers = await copy.sh('docker compose ps -q worker');
    expect(workers.trim().split('\n')).toHaveLength(4);
  },
  15 * minutes,
);

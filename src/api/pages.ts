// What a browser sees: the playground where it is enabled, else the version. The page is plain
// files of public/ and three modules of installed packages, under a policy that allows nothing but
// this host, pictures and films aside.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import type { ApiDeps, ApiSettings } from './app';
import type { ApiRouter } from './context';
import { answerPageFile, lazily, type PageFile, pageFile } from './page-file';

export function pageRoutes(router: ApiRouter, { settings }: ApiDeps): void {
  if (!settings.playground) {
    router.get('/', (ctx) => {
      ctx.body = settings.version;
    });
    return;
  }
  for (const [path, file] of Object.entries(pageFiles())) {
    router.get(path, (ctx) => {
      ctx.set('Content-Security-Policy', policy);
      answerPageFile(ctx, file());
    });
  }
  router.get('/playground.json', async (ctx) => {
    ctx.body = {
      samples: await samplesOf(settings.playgroundSamplesUrl ?? null),
      workflows: workflowsUrl(settings),
      docs: '/docs',
      version: settings.version.version,
    };
  });
}

// Results, samples and a caller's own media lie on other hosts; everything else comes from here. No
// inline anything.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src * data:; media-src *; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
};

// The compiled file lies one folder deeper than its source, so the folder is looked for.
const publicFolder = lazily(() => join(rootAbove(__dirname), 'public'));

/**
 * Path → file. The list is closed when the service starts: no path of a request ever reaches the
 * disk.
 */
function pageFiles(): Record<string, () => PageFile> {
  const own = readdirSync(publicFolder()).flatMap((name) => {
    const type = types[extname(name)];
    if (!type) return [];
    const path = name === 'index.html' ? '/' : `/playground/${name}`;
    return [[path, lazily(() => pageFile(type, readFileSync(join(publicFolder(), name))))]];
  });
  return {
    ...(Object.fromEntries(own) as Record<string, () => PageFile>),
    '/playground/vendor/preact.js': vendored('preact/package.json', 'dist/preact.mjs'),
    '/playground/vendor/hooks.js': vendored('preact/package.json', 'hooks/dist/hooks.mjs'),
    '/playground/vendor/htm.js': vendored('htm', 'htm.module.js'),
  };
}

/**
 * A file beside what `found` resolves to. A browser knows no package names: the one imported by
 * name gets its path.
 */
function vendored(found: string, file: string): () => PageFile {
  return lazily(() => {
    const code = readFileSync(join(dirname(require.resolve(found)), file), 'utf8');
    return pageFile('text/javascript', code.replace('from"preact"', 'from"./preact.js"'));
  });
}

function rootAbove(folder: string): string {
  return readdirSync(folder).includes('package.json') ? folder : rootAbove(dirname(folder));
}

const kinds: Readonly<Record<string, string>> = {
  '.jpg': 'image',
  '.png': 'image',
  '.mp4': 'video',
  '.wav': 'audio',
  '.mp3': 'audio',
};

/** What there is to pick; without an answer there is nothing, and own addresses still work. */
async function samplesOf(url: string | null) {
  if (!url) return [];
  const names = await fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    async (reply) => (reply.ok ? ((await reply.json()) as { samples: string[] }).samples : []),
    () => [],
  );
  return names.flatMap((name) => {
    const kind = kinds[extname(name)];
    return kind ? [{ kind, name, url: new URL(name, url).href }] : [];
  });
}

/** Where a task's workflow is shown: its id follows. */
function workflowsUrl({ temporalUiUrl, temporalNamespace }: ApiSettings): string | null {
  if (!temporalUiUrl) return null;
  const base = temporalUiUrl.replace(/\/+$/, '');
  return `${base}/namespaces/${encodeURIComponent(temporalNamespace ?? 'default')}/workflows/`;
}

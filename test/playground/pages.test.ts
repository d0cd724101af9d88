// Tests how the service serves the files of the playground. They are served only if the playground
// is enabled. The security policy allows nothing from other hosts, and no other file is served.

import { type Service, startService } from '../support/service';

let service: Service;

beforeAll(async () => {
  service = await startService({
    withoutWorker: true,
    settings: { playground: true, temporalUiUrl: 'http://ui.test/', temporalNamespace: 'films' },
  });
});

afterAll(() => service.close());

test('every file that the playground page refers to is served with its type and an ETag', async () => {
  const page = await service.call('GET', '/');
  expect(page.headers.get('content-type')).toMatch(/^text\/html/);
  const named = [...page.text.matchAll(/(?:href|src)="(\/[^"]+)"/g)].map(([, path]) => path ?? '');
  expect(named.length).toBeGreaterThan(5);
  for (const path of await withImports(named)) {
    const file = await service.call('GET', path);
    expect([path, file.status]).toEqual([path, 200]);
    expect(file.headers.get('content-type')).toMatch(/^(text\/(css|javascript)|image\/svg\+xml)/);
    const again = await service.call('GET', path, undefined, {
      'if-none-match': file.headers.get('etag') ?? 'none',
      'cache-control': 'max-age=0',
    });
    expect([path, again.status]).toEqual([path, 304]);
  }
});

test('the content security policy of the playground forbids inline code, inline styles and scripts of other hosts', async () => {
  const { headers, text } = await service.call('GET', '/');
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("style-src 'self';");
  expect(policy).toContain("connect-src 'self';");
  expect(policy).not.toContain('unsafe');
  expect(text).not.toMatch(/style=|<style|<script(?![^>]*src=)|\son\w+=/);
});

test.each([
  '/playground/../package.json',
  '/playground/%2e%2e/package.json',
  '/playground/..%2fpackage.json',
  '/playground/index.html',
  '/playground/vendor/',
  '/playground/nothing.js',
])('the path %s is answered with 404', async (path) => {
  const { status } = await service.call('GET', path);
  expect(status).toBe(404);
});

test('`/playground.json` needs no API key, and contains the samples and the URL of the Temporal UI, but no API key', async () => {
  const { json, text } = await service.call('GET', '/playground.json', undefined, {
    authorization: '',
  });
  expect(json.workflows).toBe('http://ui.test/namespaces/films/workflows/');
  expect(json.samples.map(({ kind }: { kind: string }) => kind).sort()).toEqual(
    ['audio', 'image', 'image', 'image', 'image', 'video'].sort(),
  );
  expect(text).not.toContain(service.apiKey);
});

test('if the playground is disabled, `/` returns the version, and the server serves no files of the playground', async () => {
  const plain = await startService({ withoutWorker: true, settings: { playground: false } });
  try {
    const root = await plain.call('GET', '/');
    expect(root.json).toEqual({ name: 'test', version: '0', commit: 'test' });
    for (const path of ['/playground.json', '/playground/app.js']) {
      expect((await plain.call('GET', path)).status).toBe(404);
    }
  } finally {
    await plain.close();
  }
});

/**
 * Returns the paths of the playground and of all modules that they import, directly or indirectly.
 */
async function withImports(paths: readonly string[]): Promise<string[]> {
  const found = new Set(paths.filter((path) => path.startsWith('/playground/')));
  for (const path of found) {
    if (!path.endsWith('.js')) continue;
    const { text } = await service.call('GET', path);
    for (const [, name] of text.matchAll(/from\s*["'](\.[^"']+)["']/g)) {
      found.add(new URL(name ?? '', `http://page${path}`).pathname);
    }
  }
  return [...found];
}

// Serves the playground. If the playground is off, `/` answers with the version of the service
// instead. The page consists of the files in public/ and of three modules of installed packages.
// Its content security policy allows only this host, except for images, videos and audio.

import { basename, extname } from 'node:path';
import type { ApiRouter } from './context';
import type { ApiDeps, ApiSettings } from './deps';
import { answerPageFile } from './page-file';
import { filesOf, vendorFiles } from './page-files';
import { sharedCall } from './shared-call';

export function pageRoutes(router: ApiRouter, { settings, version }: ApiDeps): void {
  if (!settings.playground) {
    router.get('/', (ctx) => {
      ctx.body = version;
    });
    return;
  }
  const own = filesOf('', '/playground/');
  const vendor = vendorFiles('/playground/vendor/');
  for (const [path, file] of Object.entries({ ...own, ...vendor })) {
    router.get(path, (ctx) => {
      ctx.set('Content-Security-Policy', policy);
      answerPageFile(ctx, file());
    });
  }
  // Anyone may ask, so simultaneous calls share one request.
  const ask = sharedCall(() => samplesOf(settings.studioUrl));
  router.get('/playground.json', async (ctx) => {
    ctx.body = {
      samples: await ask(),
      workflows: workflowsUrl(settings),
      docs: '/docs',
      version: version.version,
    };
  });
}

// Images, videos and audio may come from any host: results, samples and the caller's own media.
// Everything else comes from this host, and nothing is inline.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src * data:; media-src *; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const kinds: Readonly<Record<string, string>> = {
  '.jpg': 'image',
  '.png': 'image',
  '.mp4': 'video',
  '.wav': 'audio',
  '.mp3': 'audio',
};

/**
 * Returns the sample media. If the host of the samples does not answer, the list is empty. Users
 * can still enter other URLs.
 */
async function samplesOf(studioUrl: string | null) {
  if (!studioUrl) return [];
  const addresses = await fetch(`${studioUrl}/samples/`, {
    signal: AbortSignal.timeout(2_000),
  }).then(
    async (reply) => (reply.ok ? ((await reply.json()) as { samples: string[] }).samples : []),
    () => [],
  );
  return addresses.flatMap((address) => {
    const kind = kinds[extname(address)];
    return kind ? [{ kind, name: basename(address), url: address }] : [];
  });
}

/**
 * The URL of the workflows in the Temporal UI, or null if no UI is configured. The page appends a
 * workflow id to it.
 */
function workflowsUrl({ temporalUiUrl, temporalNamespace }: ApiSettings): string | null {
  if (!temporalUiUrl) return null;
  const base = temporalUiUrl.replace(/\/+$/, '');
  return `${base}/namespaces/${encodeURIComponent(temporalNamespace)}/workflows/`;
}

// Serves the playground. If the playground is off, `/` answers with the version of the service
// instead. The page consists of the files in public/ and of three modules of installed packages.
// Its content security policy allows only this host, except for images, videos and audio.

import { basename, extname } from 'node:path';
import { workflowsUrl } from '../tasks/workflows-url.rules';
import type { ApiRouter } from './context';
import type { ApiDeps } from './deps';
import { answerPageFile } from './page-file';
import { filesOf, pagePolicy, vendorFiles } from './page-files';
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
const policy = pagePolicy({ images: '* data:', media: '*' });

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

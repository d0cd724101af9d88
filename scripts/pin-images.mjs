// `npm run pin`: appends the digest of each image to its tag in Dockerfile and docker-compose.yml.
// Then every build and start uses the image that was tested. The script needs docker with buildx
// and access to the registries. With renovate.json, a bot does the same for newer versions.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail, root } from './lib/run.mjs';

const files = ['Dockerfile', 'docker-compose.yml'];
// The pattern does not match our own images, whose tag is a variable, and the stages of the
// Dockerfile, which have no tag.
const image =
  /^(FROM(?: --platform=\S+)?|\s+image:) ([\w./-]+:[\w.-]+)(?:@sha256:[0-9a-f]{64})?(?=\s|$)/gm;

const [folder = root] = process.argv.slice(2);
const digests = new Map();

try {
  const pinned = files.map((name) => {
    const path = join(folder, name);
    const text = readFileSync(path, 'utf8');
    return {
      path,
      text: text.replace(image, (_, word, ref) => `${word} ${ref}@${digestOf(ref)}`),
    };
  });
  for (const { path, text } of pinned) writeFileSync(path, text);
  process.stdout.write(`${digests.size} images pinned in ${files.join(' and ')}.\n`);
} catch (error) {
  fail(error);
}

function digestOf(ref) {
  if (!digests.has(ref)) digests.set(ref, ask(ref));
  return digests.get(ref);
}

/**
 * Returns the digest of the image's list of platforms, not of one platform. So the same line works
 * on every platform.
 */
function ask(ref) {
  const args = ['buildx', 'imagetools', 'inspect', '--format', '{{.Manifest.Digest}}', ref];
  const { status, stdout, stderr, error } = spawnSync('docker', args, { encoding: 'utf8' });
  const digest = stdout?.trim() ?? '';
  if (status === 0 && /^sha256:[0-9a-f]{64}$/.test(digest)) return digest;
  const why = (error?.message ?? stderr ?? '').trim().split('\n').at(-1);
  throw new Error(`The digest of ${ref} could not be read, so nothing was changed: ${why}`);
}

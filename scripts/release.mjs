// `npm run release -- VERSION`: checks that everything says this version, builds what is published
// into .release/VERSION, and makes the tag of the release. `--dry-run` makes no tag. `--write` only
// writes the version, and today's day, into every place. The workflow for tags publishes what
// `--publish` builds: only the commit of the tag, with both images for both platforms.

import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { buildIfStale } from './lib/build.mjs';
import { step } from './lib/progress.mjs';
import {
  bills,
  imagesLackedBy,
  packChart,
  packImages,
  packPython,
  packTypescript,
  whatEngineBuilds,
} from './lib/release/artifacts.mjs';
import { isFrozen, unfrozen } from './lib/release/frozen.mjs';
import { disagreements, isVersion, sectionOf, writeVersion } from './lib/release/versions.mjs';
import { fail, root, run } from './lib/run.mjs';

const usage =
  'Usage: npm run release -- VERSION [--dry-run | --write | --publish] [--out FOLDER] [--source URL]';
const say = (line) => process.stdout.write(`${line}\n`);

async function main() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      publish: { type: 'boolean', default: false },
      out: { type: 'string' },
      source: { type: 'string', default: '' },
    },
  });
  const [version] = positionals;
  if (!isVersion(version) || positionals.length > 1)
    throw new Error(`${usage}\nVERSION is like 1.2.3.`);
  if (values.write) {
    writeVersion(root, version, new Date().toISOString().slice(0, 10));
    return say(`Every place says ${version}. Read the change, and commit it.`);
  }
  const { publish, 'dry-run': dry } = values;
  const wrong = disagreements(root, version);
  if (wrong.length > 0)
    throw new Error(`${list(wrong)}\nnpm run release -- ${version} --write changes this.`);
  const section = sectionOf(root, version);
  const stops = publish ? whatStopsPublishing : whatStopsTag;
  const unready = await stops(version, section);
  if (unready.length > 0 && !dry) throw new Error(list(unready));

  const folder = resolve(values.out ?? join(root, '.release', version));
  const commit = (await run('git', ['rev-parse', 'HEAD'])).trim();
  await build(folder, { version, commit, source: values.source }, section.text);
  say(`\n${folder}`);
  for (const name of readdirSync(folder).sort())
    say(
      `  ${name.padEnd(56)} ${statSync(join(folder, name)).size.toLocaleString('en').padStart(12)} bytes`,
    );
  if (dry) {
    say(`\nA release would tag ${commit.slice(0, 10)} as v${version}.`);
    if (unready.length > 0) say(`First:\n${list(unready)}`);
    return;
  }
  // The tag is there: it started the workflow.
  if (publish) return;
  await run('git', [
    'tag',
    '--annotate',
    `v${version}`,
    '--message',
    `${version}\n\n${section.text}`,
  ]);
  say(`\nTagged. git push origin v${version} publishes it.`);
}

const list = (lines) => lines.map((line) => `- ${line}`).join('\n');

/** What a person must do before this commit can be tagged. */
async function whatStopsTag(version, section) {
  // What is released is not frozen again.
  return (await taggedCommit(version))
    ? [`choose another version, because the tag v${version} exists`]
    : whatIsMissing(version, section);
}

/** Why this commit may not be published, although someone made a tag. */
async function whatStopsPublishing(version, section) {
  const head = (await run('git', ['rev-parse', 'HEAD'])).trim();
  return [
    ...((await taggedCommit(version)) === head ? [] : [`put the tag v${version} on this commit`]),
    ...(await whatIsMissing(version, section)),
    ...imagesLackedBy(await whatEngineBuilds()),
  ];
}

/** The commit of the version's tag; empty if there is none. */
async function taggedCommit(version) {
  const tag = ['rev-parse', '--verify', '--quiet', `refs/tags/v${version}^{commit}`];
  return (await run('git', tag).catch(() => '')).trim();
}

async function whatIsMissing(version, { day, first }) {
  if (isFrozen(version)) await buildIfStale();
  const changed = await run('git', ['status', '--porcelain']);
  return [
    ...(first === version
      ? []
      : [`release ${first}, of which CHANGELOG.md tells before ${version}`]),
    ...(day ? [] : [`write the day into CHANGELOG.md: npm run release -- ${version} --write`]),
    ...unfrozen(version),
    ...(changed ? ['commit what is changed in this folder'] : []),
  ];
}

async function build(folder, about, notes) {
  rmSync(folder, { recursive: true, force: true });
  const drafts = join(folder, 'drafts');
  mkdirSync(drafts, { recursive: true });
  await step('npm package', () => packTypescript(folder, drafts, about.source));
  await step('Python wheel and source', () => packPython(folder));
  await step('chart', () => packChart(folder, about.version));
  const { platforms, why } = await whatEngineBuilds();
  if (platforms)
    await step(`images for ${platforms.join(' and ')}`, () => packImages(folder, about, platforms));
  else say(`The images were not built: ${why}.`);
  rmSync(drafts, { recursive: true });
  for (const [name, text] of Object.entries(await bills(about.version)))
    writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, 'NOTES.md'), withWholeLinks(notes, about));
  const lines = [];
  // A registry knows the images by the hashes of their manifests, not by those of the archives.
  for (const name of readdirSync(folder)
    .filter((file) => !file.endsWith('.oci.tar'))
    .sort())
    lines.push(`${await hashOf(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''));
}

/** The page of a release is beside no file of this folder. */
function withWholeLinks(text, { version, source }) {
  return source ? text.replace(/\]\((?![a-z]+:|#)/g, `](${source}/blob/v${version}/`) : text;
}

async function hashOf(file) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

await main().catch(fail);

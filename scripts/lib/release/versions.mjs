// Every place that says which version this is. One list serves the check and the change.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Each pattern has the version as its second group. */
const places = [
  ['package.json', /^( {2}"version": ")([^"]+)/m],
  ['package-lock.json', /^( {2}"version": ")([^"]+)/m],
  ['package-lock.json', /^( {4}"": \{\n {6}"name": "[^"]+",\n {6}"version": ")([^"]+)/m],
  ['Dockerfile', /^(ARG VERSION=)(\S+)/m],
  ['deploy/helm/Chart.yaml', /^(version: )(\S+)/m],
  ['deploy/helm/Chart.yaml', /^(appVersion: ")([^"]+)/m],
  ['clients/typescript/package.json', /^( {2}"version": ")([^"]+)/m],
  ['clients/python/pyproject.toml', /^(version = ")([^"]+)/m],
];
const changelog = 'CHANGELOG.md';
const heading = /^## (\d\S*) - (\d{4}-\d{2}-\d{2}|not released)$/m;
// There are no versions before a release, such as 1.2.0-rc.1: npm, pip and the platform would each need
// another name or place for them.
const form = /^\d+\.\d+\.\d+$/;

export const isVersion = (text) => form.test(text ?? '');

/** The sections of the changelog, the newest first; the day of one that is not released is undefined. */
function sectionsOf(root) {
  const text = readFileSync(join(root, changelog), 'utf8');
  return text
    .split(/^(?=## )/m)
    .slice(1)
    .map((section) => {
      const [, version, day] = heading.exec(section) ?? [];
      const body = section.slice(section.indexOf('\n')).trim();
      return { version, day: day === 'not released' ? undefined : day, body };
    });
}

/** Returns a sentence for each place that does not say this version. */
export function disagreements(root, version) {
  const read = (file) => readFileSync(join(root, file), 'utf8');
  const wrong = places.flatMap(([file, pattern]) => {
    const said = pattern.exec(read(file))?.[2];
    return said === version ? [] : [`${file} says ${said ?? 'no version'}`];
  });
  if (!sectionsOf(root).some((section) => section.version === version))
    wrong.push(`${changelog} has no section "## ${version} - DAY"`);
  return wrong;
}

/** The text of a version in the changelog, its day, and the version that the first section is of. */
export function sectionOf(root, version) {
  const sections = sectionsOf(root);
  const { day, body } = sections.find((section) => section.version === version);
  if (!body) throw new Error(`The section of ${version} in ${changelog} is empty.`);
  return { day, text: `${body}\n`, first: sections[0].version };
}

/** Writes the version into every place, and the day into the first section of the changelog. */
export function writeVersion(root, version, day) {
  const first = sectionsOf(root)[0];
  if (first?.day && first.version !== version)
    throw new Error(
      `${changelog} begins with ${first.version}, which is released. Write above it what is new, ` +
        `under "## ${version} - not released".`,
    );
  const change = (file, pattern, by) => {
    const path = join(root, file);
    const text = readFileSync(path, 'utf8');
    if (!pattern.test(text)) throw new Error(`${file} has no place for the version.`);
    writeFileSync(path, text.replace(pattern, by));
  };
  change(changelog, heading, () => `## ${version} - ${day}`);
  for (const [file, pattern] of places) change(file, pattern, (_, before) => `${before}${version}`);
}

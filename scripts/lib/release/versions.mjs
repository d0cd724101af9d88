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
// The form of Semantic Versioning, without build metadata, which image tags do not allow.
const form = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

export const isVersion = (text) => form.test(text ?? '');

/** Returns a sentence for each place that does not say this version. */
export function disagreements(root, version) {
  const read = (file) => readFileSync(join(root, file), 'utf8');
  const wrong = places.flatMap(([file, pattern]) => {
    const said = pattern.exec(read(file))?.[2];
    return said === version ? [] : [`${file} says ${said ?? 'no version'}`];
  });
  const first = heading.exec(read(changelog))?.[1];
  if (first !== version)
    wrong.push(`the first section of ${changelog} is of ${first ?? 'no version'}`);
  return wrong;
}

/** The text of a version in the changelog, and its day; the day is undefined before the release. */
export function sectionOf(root, version) {
  const text = readFileSync(join(root, changelog), 'utf8');
  const [, head] = text.split(/^(?=## )/m);
  const [, named, day] = heading.exec(head ?? '') ?? [];
  if (named !== version) throw new Error(`${changelog} has no section "## ${version} - DAY".`);
  const body = head.slice(head.indexOf('\n')).trim();
  if (!body) throw new Error(`The section of ${version} in ${changelog} is empty.`);
  return { day: day === 'not released' ? undefined : day, text: `${body}\n` };
}

/** Writes the version into every place, and the day into the changelog. */
export function writeVersion(root, version, day) {
  const change = (file, pattern, by) => {
    const path = join(root, file);
    const text = readFileSync(path, 'utf8');
    if (!pattern.test(text)) throw new Error(`${file} has no place for the version.`);
    writeFileSync(path, text.replace(pattern, by));
  };
  for (const [file, pattern] of places) change(file, pattern, (_, before) => `${before}${version}`);
  change(changelog, heading, () => `## ${version} - ${day}`);
}

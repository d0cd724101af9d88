// A released step of the schema is never edited, and a recorded name never goes. `npm run
// release:freeze` writes what is compared here.

import { hashOf, migrations } from '../../src/database/migrations';
import { frozenRelease, frozenVersions } from '../releases/frozen';
import { recordedNames } from '../releases/names';

type Steps = readonly { readonly name: string; readonly hash: string }[];

/** The frozen steps that are gone, stand elsewhere, or have another text. */
function edited(frozen: Steps, steps: typeof migrations): readonly string[] {
  return frozen
    .filter(({ name, hash }, n) => steps[n]?.name !== name || hashOf(steps[n]) !== hash)
    .map(({ name }) => name);
}

const versions = frozenVersions();
const testEach = versions.length > 0 ? test.each(versions) : test.skip.each(['that is next']);

testEach('no step of the schema of the release %s was edited', (version) => {
  const { steps } = frozenRelease(version);
  expect(steps.length).toBeGreaterThan(0);
  expect(edited(steps, migrations)).toEqual([]);
});

testEach('every name that the release %s records is still there', (version) => {
  const { names } = frozenRelease(version);
  expect(names.length).toBeGreaterThan(20);
  const now = recordedNames();
  expect(names.filter((name) => !now.includes(name))).toEqual([]);
});

test('an edited, a renamed, a removed and an inserted step are found, and one at the end is right', () => {
  const one = { name: '0001_a', sql: 'create table a (b int)' };
  const two = { name: '0002_b', sql: 'alter table a add column c int' };
  const frozen = [one, two].map((step) => ({ name: step.name, hash: hashOf(step) }));
  const bigger = { ...one, sql: 'create table a (b bigint)' };
  const last = { name: '0003_c', sql: 'create table c (d int)' };
  expect(edited(frozen, [bigger, two])).toEqual(['0001_a']);
  expect(edited(frozen, [one, { ...two, name: '0002_c' }])).toEqual(['0002_b']);
  expect(edited(frozen, [one])).toEqual(['0002_b']);
  expect(edited(frozen, [last, one, two])).toEqual(['0001_a', '0002_b']);
  expect(edited(frozen, [one, two, last])).toEqual([]);
});

// A released step of the schema is never edited, and a recorded name never goes. `npm run
// release:freeze` writes what is compared here.

import { hashOf, migrations } from '../../src/database/migrations';
import { frozenRelease, frozenVersions, neighboursOf, ownVersion } from '../releases/frozen';
import { recordedNames } from '../releases/names';
import { promises, shapeLines } from '../releases/promises';
import { moveOf } from '../releases/rows';

type Steps = readonly { readonly name: string; readonly hash: string }[];

/** The frozen steps that are gone, stand elsewhere, or have another text. */
function edited(frozen: Steps, steps: typeof migrations): readonly string[] {
  return frozen
    .filter(({ name, hash }, n) => steps[n]?.name !== name || hashOf(steps[n]) !== hash)
    .map(({ name }) => name);
}

const kindOf = (line: string) => /^\w+/.exec(line)?.[0];

const versions = frozenVersions();
const eachOf = (some: readonly string[]) =>
  some.length > 0 ? test.each(some) : test.skip.each(['that is next']);
const testEach = eachOf(versions);

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

testEach('everything that the release %s promises by a name is still there', (version) => {
  const kept = frozenRelease(version).promises;
  const kinds = [
    ...['setting', 'error', 'metric', 'alert', 'command', 'catalogue', 'chart', 'api', 'admin'],
    ...['mcp', 'npm', 'python', 'videos'],
  ];
  const few = kinds.filter((kind) => kept.filter((line) => kindOf(line) === kind).length < 5);
  expect(few).toEqual([]);
  const now = new Set(promises());
  expect(kept.filter((line) => !now.has(line))).toEqual([]);
});

// What is not frozen with its version, no later test would miss. A clone may lack the tags, so the
// changelog says which version this tree is.
eachOf(versions.filter((version) => `${version}.0` === ownVersion()))(
  'the release %s, with which the changelog begins, is frozen with all that this tree promises: otherwise freeze it again',
  (version) => {
    expect(promises()).toEqual(frozenRelease(version).promises);
  },
);

test.each([
  ['1.0.0', ['1.0'], ['1.0']],
  ['1.1.0', ['1.0'], ['1.0']],
  ['1.1.0', ['1.0', '1.1'], ['1.0', '1.1']],
  ['1.1.3', ['1.0', '1.1'], ['1.0', '1.1']],
  ['1.10.0', ['1.8', '1.9', '1.10'], ['1.9', '1.10']],
  ['1.0.4', ['1.0', '1.1'], ['1.0']],
  ['2.0.0', ['1.8', '1.9'], ['1.9']],
  ['1.0.0', [], []],
])(
  'of the frozen versions, %s runs beside its own and the one before: %j',
  (version, frozen, beside) => {
    expect(neighboursOf(version, frozen)).toEqual(beside);
  },
);

test('what a request and an answer promise is found', () => {
  const shape = { type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['b'] };
  expect(shapeLines('x', shape, true)).toEqual([
    'x: object',
    'x.a: string',
    'x.a, may be absent',
    'x.b',
  ]);
  expect(shapeLines('x', shape, false)).toEqual([
    'x: object',
    'x.a: string',
    'x.b',
    'x.b, always there',
  ]);
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

test.each([
  '2026-11-29T07:30:00Z',
  '2026-11-29T12:00:00Z',
  '2026-11-29T19:30:00Z',
  '2026-11-30T23:50:00Z',
  '2026-12-01T00:00:00Z',
  '2026-12-01T00:10:00Z',
  '2026-12-01T00:19:59Z',
  '2026-12-01T00:20:01Z',
  '2026-12-01T00:21:30Z',
  '2026-12-31T23:55:00Z',
  '2027-11-29T19:30:00Z',
  '2028-02-29T00:05:00Z',
])(
  'at %s the rows of a release are as old as then, and their days are those of their movements',
  (now) => {
    const [first, last, frozenAt] = ['07:03:12.384', '07:03:15.124', '07:23:15.300'].map((time) =>
      Date.parse(`2026-11-29T${time}Z`),
    ) as [number, number, number];
    const { ms, days } = moveOf(last, frozenAt, Date.parse(now));
    const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
    const kept = dayOf(Date.parse('2026-11-29') + days * 86_400_000);
    expect([first, last].map((time) => dayOf(time + ms))).toEqual([kept, kept]);
    const olderBy = Date.parse(now) - frozenAt - ms;
    expect(olderBy).toBeGreaterThanOrEqual(0);
    expect(olderBy).toBeLessThanOrEqual(60_000);
  },
);

// Compares the text of the Helm chart with the settings, the README of the chart and the
// Dockerfile. `npm run test:deploy` renders the chart.

import { parse } from 'yaml';
import { settingRows } from '../../src/config/config';
import { filesIn, read } from './sources';

const values = parse(read('deploy/helm/values.yaml')) as Readonly<Record<string, object>>;
const templates = ['.yaml', '.tpl']
  .flatMap((ending) => filesIn('deploy/helm/templates', ending))
  .map(read)
  .join('\n');
const settings = new Set<string>(settingRows().map(({ name }) => name));

test('the Helm chart sets only settings that exist', () => {
  const set = [...templates.matchAll(/"([A-Z][A-Z0-9]*_[A-Z0-9_]+)"|^([A-Z][A-Z0-9_]+): /gm)].map(
    ([, quoted, name = quoted]) => name ?? '',
  );
  expect(set).toEqual(
    expect.arrayContaining(['CATALOGUE_FILE', 'METRICS_PORT', 'DATABASE_WORKER_ROLE']),
  );
  expect(set.filter((name) => !settings.has(name) && name !== 'NODE_OPTIONS')).toEqual([]);
  expect(Object.keys(values.settings ?? {}).filter((name) => !settings.has(name))).toEqual([]);
});

test('the README of the Helm chart describes every value', () => {
  const page = read('deploy/helm/README.md');
  const missing = namesIn(values).filter((name) => {
    const [group = '', ...rest] = name.split('.');
    const last = rest.at(-1);
    const row = page.split('\n').find((line) => {
      const before = [group, ...rest.slice(0, -1)].join('.');
      return line.startsWith('| `') && line.includes(before) && line.includes(last ?? group);
    });
    return !row;
  });
  expect(missing).toEqual([]);
});

/** Returns the paths of all values. A list, an empty object and an object named in `whole` are one value. */
function namesIn(group: object, before = ''): string[] {
  return Object.entries(group).flatMap(([name, value]) => {
    const path = before + name;
    const whole = [
      'settings',
      'resources',
      'workers',
      'containerSecurityContext',
      'seccompProfile',
    ];
    const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
    const isGroup = isObject && Object.keys(value).length > 0 && !whole.includes(name);
    return isGroup ? namesIn(value, `${path}.`) : [path];
  });
}

test('the Helm chart opens the port of the image, the codec port and the metrics ports', () => {
  expect(templates.match(/containerPort: \d+/g)).toEqual([
    'containerPort: 8080',
    'containerPort: 9464',
    'containerPort: 8234',
    'containerPort: 8085',
    'containerPort: 9464',
  ]);
  expect(read('Dockerfile')).toContain('PORT=8080');
});

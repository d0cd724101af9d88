// Tests the settings that a development stack gives to its processes.

import { table } from '../../src/config/setting-table';
import { stackEnvironment } from '../../src/dev-stack/environment';

const ports = {
  ...{ api: 1, postgres: 2, temporal: 3, temporalUi: 4 },
  ...{ studio: 5, apiMetrics: 6, workerMetrics: 7 },
};
const secrets = { studioApiKey: 'a studio key' };

test('a development stack and the default settings have the same ratio of `CREATE_BURST` to `CREATE_RATE_PER_SECOND`', () => {
  const factorOf = (environment: Readonly<Record<string, string>>) => {
    const { CREATE_BURST, CREATE_RATE_PER_SECOND } = table.parse(environment);
    return CREATE_BURST / CREATE_RATE_PER_SECOND;
  };
  expect(factorOf(stackEnvironment({}, 'data', ports, secrets))).toBe(factorOf({}));
});

test('if the environment sets `CREATE_RATE_PER_SECOND`, the development stack does not set `CREATE_BURST`', () => {
  const given = { CREATE_RATE_PER_SECOND: '10' };
  const environment = stackEnvironment(given, 'data', ports, secrets);
  expect(environment.CREATE_RATE_PER_SECOND).toBe('10');
  expect(environment.CREATE_BURST).toBeUndefined();
});

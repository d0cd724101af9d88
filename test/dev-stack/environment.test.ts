// Tests the settings that a development stack gives to its processes.

import { table } from '../../src/config/setting-table';
import { stackEnvironment } from '../../src/dev-stack/environment';

const ports = {
  ...{ api: 1, postgres: 2, temporal: 3, temporalUi: 4 },
  ...{ studio: 5, apiMetrics: 6, workerMetrics: 7 },
};
const secrets = { pepper: 'sixteen characters', studioApiKey: 'a studio key' };

test('the burst of creates in a development stack is the same multiple of the rate as by default', () => {
  const factorOf = (environment: Readonly<Record<string, string>>) => {
    const { CREATE_BURST, CREATE_RATE_PER_SECOND } = table.parse(environment);
    return CREATE_BURST / CREATE_RATE_PER_SECOND;
  };
  expect(factorOf(stackEnvironment({}, 'data', ports, secrets))).toBe(factorOf({}));
});

test('if the environment sets the rate of creates, the development stack sets no burst', () => {
  const given = { CREATE_RATE_PER_SECOND: '10' };
  const environment = stackEnvironment(given, 'data', ports, secrets);
  expect(environment.CREATE_RATE_PER_SECOND).toBe('10');
  expect(environment.CREATE_BURST).toBeUndefined();
});

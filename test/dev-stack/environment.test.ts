// Tests the settings that a development stack gives to its processes.

import { table } from '../../src/config/setting-table';
import { stackEnvironment } from '../../src/dev-stack/environment';

const ports = {
  ...{ api: 1, postgres: 2, temporal: 3, temporalUi: 4 },
  ...{ studio: 5, apiMetrics: 6, workerMetrics: 7, console: 7 },
};
const secrets = { studioApiKey: 'a studio key' };

test('a development stack allows more creates than the default settings, unless the environment sets the rate', () => {
  const rateOf = (given: Readonly<Record<string, string>>) =>
    table.parse(stackEnvironment(given, 'data', ports, secrets)).CREATE_RATE_PER_SECOND;
  expect(rateOf({})).toBeGreaterThan(table.parse({}).CREATE_RATE_PER_SECOND);
  expect(rateOf({ CREATE_RATE_PER_SECOND: '10' })).toBe(10);
});

test.each([
  [{ PUBLIC_URL: 'https://video.example.com' }, 'video.example.com:443'],
  [{ STUDIO_URL: 'http://studio.example.com' }, 'studio.example.com:80'],
  [{ HOST: '::1' }, '[::1]:1'],
  [{ STUDIO_HOST: '::1' }, '[::1]:5'],
])('with %j the stack starts, and its parts may fetch files from there', (given, host) => {
  const settings = table.parse(stackEnvironment(given, 'data', ports, secrets));
  expect(settings.DANGEROUSLY_ALLOW_PROVIDER_HOSTS).toContain(host);
});

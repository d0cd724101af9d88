// A channel of the catalogue may say of its provider only what its protocol makes use of. Otherwise
// an operator would trust in a promise that nobody keeps.

import { protocols } from '../../activities/providers/protocols';
import { CatalogueError } from '../../src/catalogue/file';
import { parseCatalogue } from '../support/catalogue';
import { withVideos } from '../support/videos-catalogue';

function faultsOf(protocol: string, promise: object): readonly string[] {
  const channel = { protocol, baseUrl: 'https://api.example.com', apiKeyEnv: 'KEY', ...promise };
  try {
    parseCatalogue(withVideos({ mine: channel }, {}), {});
    return [];
  } catch (error) {
    if (error instanceof CatalogueError) return error.faults;
    throw error;
  }
}

const promise = 'honoursIdempotencyKey';
const users = ['ark', 'mediakit', 'openai-videos'];
const cases = Object.keys(protocols).map((name) => [name, users.includes(name)] as const);

test.each(cases)(`${promise} is true on a channel of %s: accepted is %s`, (name, isUsed) => {
  const refused = expect.stringMatching(`^channels\\.mine\\.${promise}: ${name} `);
  expect(faultsOf(name, { [promise]: true })).toEqual(isUsed ? [] : [refused]);
  expect(faultsOf(name, { [promise]: false })).toEqual([]);
});

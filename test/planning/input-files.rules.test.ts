// Tests stored files that a request uses as inputs. The tests show which files are refused, and
// which length of the reference videos is held.

import { isReachable } from '../../src/files/file-link.rules';
import {
  fileIds,
  type InputFile,
  inputFileFaults,
  referenceMsToHold,
} from '../../src/planning/input-files.rules';
import { aRequest } from '../support/builders';

const file = (over: Partial<InputFile> = {}): InputFile => ({
  id: 'file_1',
  media: 'image',
  bytes: 1_000,
  sentAs: 'address',
  ...over,
});
const faultsOf = (
  request: Parameters<typeof aRequest>[0],
  files: Record<string, InputFile | null>,
) =>
  inputFileFaults(aRequest(request), new Map(Object.entries(files))).map(
    ({ param, message }) => `${param} | ${message}`,
  );

test('an uploaded file of the right kind and an external address are accepted as inputs', () => {
  const images = ['file_1', 'https://example.com/a.png'];
  expect(faultsOf({ images }, { file_1: file() })).toEqual([]);
});

test('the fault of a missing file or of a file of another kind names the field', () => {
  const request = { images: ['file_1', 'file_2'], audios: ['file_3'] };
  const files = { file_1: file(), file_2: null, file_3: file({ media: 'video' }) };
  expect(faultsOf(request, files)).toEqual([
    expect.stringMatching(/^images\[1\] \| images\[1\]: .*no such file/),
    expect.stringMatching(/^audios\[0\] \| audios\[0\]: .*video, not audio/),
  ]);
});

test('a file that is sent inline is refused if it is a video and accepted if it is an image', () => {
  const request = { images: ['file_1'], videos: ['file_2'] };
  const files = {
    file_1: file({ sentAs: 'inline' }),
    file_2: file({ media: 'video', sentAs: 'inline' }),
  };
  const faults = faultsOf(request, files);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(/^videos\[0\] .*PUBLIC_URL/);
});

test('inline files are refused if they are too large for a request to the generator', () => {
  const large = file({ bytes: 23_000_000, sentAs: 'inline' });
  expect(faultsOf({ images: ['file_1'] }, { file_1: large })).toEqual([]);
  expect(faultsOf({ images: ['file_1', 'file_2'] }, { file_1: large, file_2: large })).toHaveLength(
    1,
  );
});

test.each([
  ['is 15.2 s for one video', 1, undefined, false, 15_200],
  ['is 15.2 s for all together', 3, undefined, true, 15_200],
  ['is not lowered by the stated length', 1, 1, false, 15_200],
  ['is raised by the stated length', 2, 20.0001, false, 20_001],
  ['is the stated length if it is trusted', 2, 1.0001, true, 1_001],
  ['is a longer stated length if it is trusted', 2, 20, true, 20_000],
  ['is 0 without videos', 0, 9, true, 0],
])('the length of the reference videos to hold %s', (_, videos, stated, isTrusted, ms) => {
  expect(referenceMsToHold(videos, stated, isTrusted)).toBe(ms);
});

test('`fileIds` maps each URL in the request to its file id, and returns undefined without files', () => {
  expect(fileIds(new Map([['https://x/files/t.png', file()]]))).toEqual({
    'https://x/files/t.png': 'file_1',
  });
  expect(fileIds(new Map())).toBeUndefined();
});

test.each([
  ['https://api.example.com', [], true],
  ['http://api.example.com', [], false],
  ['http://localhost:8080', [], false],
  ['https://10.0.0.1', [], false],
  ['http://127.0.0.1:8080', ['127.0.0.1:8080'], true],
])(
  'a generator can reach `PUBLIC_URL` %s with the allowed hosts %j: %s',
  (publicUrl, allowHosts, isReached) => {
    expect(isReachable(publicUrl, allowHosts)).toBe(isReached);
  },
);

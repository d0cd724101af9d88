// Tests stored files that a request uses as inputs. The tests show which files are refused, and how
// the length of reference videos is computed.

import { isReachable } from '../../src/domain/file-link';
import {
  fileIds,
  type InputFile,
  inputFileFaults,
  longestReferenceMs,
} from '../../src/domain/input-files';
import { aRequest } from '../support/builders';

const file = (over: Partial<InputFile> = {}): InputFile => ({
  id: 'file_1',
  media: 'image',
  bytes: 1_000,
  durationMs: null,
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
  ['is the sum of their measured lengths', ['a', 'b'], undefined, 7_500],
  ['is 15.2 s more if one length is unknown', ['a', 'c'], undefined, 19_200],
  ['is 15.2 s more if one is an external address', ['a', 'https://e.com/x.mp4'], undefined, 19_200],
  ['is 15.2 s if two lengths are unknown', ['c', 'https://e.com/x.mp4'], undefined, 15_200],
  ['is not lowered by the figure of the caller', ['a', 'c'], 1, 19_200],
  ['is not lowered by the figure of the caller if it is measured', ['a', 'b'], 1, 7_500],
  ['is raised by the figure of the caller', ['a', 'c'], 20.0001, 20_001],
  ['is 0 without videos', [], 9, 0],
])('the longest total length of the reference videos %s', (_, videos, stated, ms) => {
  const video = (durationMs: number | null) => file({ media: 'video', durationMs });
  const files = new Map(Object.entries({ a: video(4_000), b: video(3_500), c: video(null) }));
  expect(longestReferenceMs(videos, files, stated)).toBe(ms);
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

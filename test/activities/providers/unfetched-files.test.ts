// Tests the sentences for the codes with which each protocol says that a file could not be fetched, or
// that a parameter is wrong. The provider's text is never shown.

import * as ark from '../../../activities/providers/ark/faults';
import * as dashscope from '../../../activities/providers/dashscope/faults';
import * as kling from '../../../activities/providers/kling/faults';
import * as minimax from '../../../activities/providers/minimax/faults';
import * as openaiVideos from '../../../activities/providers/openai-videos/faults';
import type { JobFailure } from '../../../src/jobs/job.rules';
import { failedUpstream } from '../../../src/tasks/ending.rules';
import { aPlan, aRequest } from '../../support/builders';

const url = 'https://media.example.com/a';
const one = aRequest({ images: [url] });
const two = aRequest({ images: ['data:image/png;base64,AAAA', url], videos: [url] });
const none = aRequest({});

const answer = (json: object) => ({ status: 400, retryAfterMs: null, dateMs: null, json });
const message = 'Failed to download https://media.example.com/a';
const ofArk = (code: string, param?: string) => answer({ error: { code, param, message } });
const ofDashscope = (code: string) => answer({ code, message });
const ofMinimax = answer({ error: { type: 'bad_request_error', message: `${message} (2013)` } });
const ofKling = answer({ code: 1201, message });
const ofOpenai = (code: string | null, param: string | null) =>
  answer({ error: { code, param, message, type: 'invalid_request_error' } });

const check = 'check that its address is public and answers with the file.';
const unfetched = `images[0] could not be fetched by the provider: ${check}`;
const refused = `images[0] was refused or could not be fetched by the provider: ${check}`;
const general = 'The generator did not accept one of the parameters.';
const unsaid = `${general} The likeliest cause is an address that is not public: images[0].`;
const hint = (fields: string) => unsaid.replace('images[0]', fields);

test.each([
  [
    'ark, an entry',
    ark.classifyFault(ofArk('InvalidParameter', 'content[1].image_url'), one),
    refused,
  ],
  ['ark, a bare entry', ark.classifyFault(ofArk('InvalidParameter', 'content[1]'), one), refused],
  ['ark, an image', ark.classifyFault(ofArk('InvalidImageURL.InvalidFormat'), one), refused],
  ['ark, no entry', ark.classifyFault(ofArk('InvalidParameter'), one), unsaid],
  ['ark, another parameter', ark.classifyFault(ofArk('InvalidParameter', 'ratio'), one), general],
  [
    'dashscope, no connection',
    dashscope.classifyFault(ofDashscope('InvalidURL.ConnectionRefused'), one),
    unfetched,
  ],
  [
    'dashscope, a timeout',
    dashscope.classifyFault(ofDashscope('InvalidURL.Timeout'), one),
    unfetched,
  ],
  ['dashscope, an address', dashscope.classifyFault(ofDashscope('InvalidURL'), one), unfetched],
  [
    'dashscope, a check',
    dashscope.classifyFault(ofDashscope('InvalidParameter.DataInspection'), one),
    unfetched,
  ],
  [
    'dashscope, a download',
    dashscope.classifyFault(ofDashscope('BadRequest.InputDownloadFailed'), one),
    unfetched,
  ],
  ['dashscope, a parameter', dashscope.classifyFault(ofDashscope('InvalidParameter'), one), unsaid],
  ['minimax', minimax.classifyFault(ofMinimax, one), unsaid],
  ['kling', kling.classifyFault(ofKling, one), unsaid],
  [
    'openai-videos, an address',
    openaiVideos.classifyFault(ofOpenai('invalid_image_url', null), one),
    unfetched,
  ],
  [
    'openai-videos, the image',
    openaiVideos.classifyFault(ofOpenai('invalid_value', 'input_reference'), one),
    refused,
  ],
  ['openai-videos, no parameter', openaiVideos.classifyFault(ofOpenai(null, null), one), unsaid],
  [
    'openai-videos, another parameter',
    openaiVideos.classifyFault(ofOpenai('invalid_value', 'size'), one),
    general,
  ],
])('a refused create says which file is meant: %s', (_, fault, sentence) => {
  expect(fault).toMatchObject({ kind: 'caller', sentence });
});

test.each([
  [
    'ark',
    ark.classifyFault(ofArk('InvalidParameter'), two),
    ark.classifyFault(ofArk('InvalidParameter'), none),
  ],
  ['minimax', minimax.classifyFault(ofMinimax, two), minimax.classifyFault(ofMinimax, none)],
  ['kling', kling.classifyFault(ofKling, two), kling.classifyFault(ofKling, none)],
])('%s names each file that is fetched, and none without files', (_, several, without) => {
  expect(several.sentence).toBe(hint('images[1], videos[0]'));
  expect(without.sentence).toBe(general);
});

test('an address among several, and a file that was sent inside the create', () => {
  const lost = dashscope.classifyFault(ofDashscope('InvalidURL'), two).sentence;
  expect(lost).toMatch(/^One of images\[1\], videos\[0\] could not be fetched/);
  const inline = ark.classifyFault(ofArk('InvalidParameter', 'content[1].image_url'), two);
  expect(inline.sentence).toBe('images[0] was refused by the provider.');
});

const messageOf = (failure: JobFailure, inputType: 'reference' | 'text_to_video') => {
  const report = { kind: 'generation', upstreamId: 'x', status: 'failed', failure } as const;
  const ending = failedUpstream(report, aPlan({ inputType }));
  return ending.succeeded ? '' : ending.error.message;
};

test.each([
  ['dashscope', dashscope.failureOf('failed', { code: 'InvalidURL.Timeout', message })],
  [
    'openai-videos',
    openaiVideos.failureOf('failed', { code: 'failed_to_download_image', message }),
  ],
])('a job of %s that failed with the code of a download says so', (_, failure) => {
  expect(messageOf(failure, 'reference')).toMatch(/^One of the files could not be fetched/);
});

test.each([
  ['ark', ark.failureOf('failed', { code: 'InvalidParameter', message })],
  ['dashscope', dashscope.failureOf('failed', { code: 'InvalidParameter', message })],
  ['minimax', minimax.failureOf('failed', { code: 2013, message })],
])('a job of %s that failed with a parameter has a hint only if it had files', (_, failure) => {
  expect(messageOf(failure, 'reference')).toMatch(/likeliest cause is the address of a file/);
  expect(messageOf(failure, 'text_to_video')).toBe(failure.sentence);
});

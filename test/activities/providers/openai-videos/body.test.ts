// Checks the fields of a create in each dialect.

import { createFields, formOf } from '../../../../activities/providers/openai-videos/body';
import { profileNamed } from '../../../../activities/providers/openai-videos/profiles';
import { aJobInput, aPlan, aRequest } from '../../../support/builders';

const image = 'https://media.example.com/a.png';
const common = {
  model: 'wan',
  prompt: 'a lighthouse at dusk',
  seconds: '5',
  size: '1280x720',
};
const fieldsOf = (profile: string | null, request: object = {}) =>
  createFields(
    aJobInput({ request: aRequest(request), plan: aPlan({ width: 1280, height: 720 }) }),
    'wan',
    profileNamed(profile),
  );

test.each([
  [null, common],
  ['openai', common],
  ['vllm-omni', { ...common, seed: 42 }],
  ['sglang', { ...common, seed: 42 }],
  ['gateway', { ...common, seed: 42 }],
])('a text task in the dialect %s has the planned size and length', (profile, fields) => {
  expect(fieldsOf(profile)).toEqual(fields);
});

test.each([
  ['openai', { input_reference: { image_url: image } }],
  ['vllm-omni', { image_reference: { image_url: image } }],
  ['sglang', { reference_url: image }],
  ['gateway', { input_reference: { image_url: image } }],
])('an image in the dialect %s is sent by its address', (profile, fields) => {
  expect(fieldsOf(profile, { images: [image] })).toMatchObject(fields);
});

test.each([
  ['openai', {}],
  ['vllm-omni', { fps: 16, lora: { name: 'x' } }],
  ['sglang', { fps: 16 }],
  ['gateway', { fps: 16, lora: { name: 'x' }, camera: 'fixed' }],
])(
  'the dialect %s takes its own options, and none replaces a field of the service',
  (profile, taken) => {
    const passThrough = {
      fps: 16,
      lora: { name: 'x' },
      camera: 'fixed',
      size: '8x8',
      model: 'dearer',
    };
    const { fps, lora, camera, ...rest } = fieldsOf(profile, { metadata: { passThrough } });
    expect(JSON.parse(JSON.stringify({ fps, lora, camera }))).toEqual(taken);
    expect(rest).toMatchObject(common);
  },
);

test('a form has texts only, and objects as JSON', () => {
  expect(formOf({ seconds: '5', seed: 42, lora: { name: 'x' }, sound: true })).toEqual({
    seconds: '5',
    seed: '42',
    lora: '{"name":"x"}',
    sound: 'true',
  });
});

// Checks the path and the body of a create.

import { createBody, pathOf } from '../../../../activities/providers/kling/body';
import { aJobInput, aPlan, aRequest } from '../../../support/builders';

const image = 'https://media.example.com/a.png';
const last = 'https://media.example.com/b.png';

function sent(request: object = {}, plan: object = {}) {
  const job = aJobInput({ request: aRequest(request), plan: aPlan(plan) });
  const { external_task_id: name, ...body } = createBody(job, 'kling-v3');
  expect(name).toBe(job.taskId);
  return { path: pathOf(job), body };
}

const common = {
  model_name: 'kling-v3',
  prompt: 'a lighthouse at dusk',
  mode: 'std',
  duration: '5',
  sound: 'on',
};
const shaped = { ...common, aspect_ratio: '16:9' };

test.each([
  ['a prompt', {}, {}, 'text2video', shaped],
  ['1080p', {}, { resolution: '1080p' }, 'text2video', { ...shaped, mode: 'pro' }],
  ['silence', {}, { generateAudio: false }, 'text2video', { ...shaped, sound: 'off' }],
  [
    'a watermark',
    { metadata: { watermark: true } },
    {},
    'text2video',
    { ...shaped, watermark_info: { enabled: true } },
  ],
  [
    'two frames',
    { images: [image, last] },
    { inputType: 'first_last_frame' },
    'image2video',
    { ...common, image, image_tail: last },
  ],
  [
    'one image',
    { images: [image] },
    { inputType: 'reference' },
    'image2video',
    { ...common, image },
  ],
  [
    'references',
    { images: [image, last] },
    { inputType: 'reference' },
    'multi-image2video',
    { ...shaped, image_list: [{ image }, { image: last }] },
  ],
  [
    'an image that is sent inline',
    { images: ['data:image/png;base64,AAAA'] },
    { inputType: 'reference' },
    'image2video',
    { ...common, image: 'AAAA' },
  ],
])('a create with %s has its path and its fields', (_, request, plan, path, body) => {
  expect(sent(request, plan)).toEqual({ path, body });
});

test('a model without sound gets no such field', () => {
  expect(sent({}, { generateAudio: null }).body).not.toHaveProperty('sound');
});

test('options are passed on, and none replaces a field of the service', () => {
  const passThrough = { cfg_scale: 0.7, mode: 'pro', duration: '15', external_task_id: 'x' };
  const { body } = sent({ metadata: { passThrough } });
  expect(body).toEqual({ ...shaped, cfg_scale: 0.7 });
});

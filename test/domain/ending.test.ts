import { resultSources } from '../../src/domain/ending';
import { anEnhancedPlan, aSuccess } from '../support/builders';

test('the video of an enhanced task comes from the enhancer, and its last frame from the generator', () => {
  const frame = 'https://media.example.com/frame.png';
  const video = 'https://enhancer.example.com/video.mp4';
  const sources = resultSources({
    plan: { ...anEnhancedPlan(), returnsLastFrame: true },
    generation: { ...aSuccess({ lastFrameUrl: frame }), channel: 'studio' },
    enhanced: {
      ...aSuccess({ videoUrl: video }),
      kind: 'super_resolution',
      channel: 'enhancer',
    },
    stored: undefined,
  });
  expect(sources).toEqual([
    { role: 'video', url: video, channel: 'enhancer', expiresAt: null },
    { role: 'last_frame', url: frame, channel: 'studio', expiresAt: null },
  ]);
});

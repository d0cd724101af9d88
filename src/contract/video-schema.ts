// The zod schema of a task's result.

import { z } from 'zod';
import { goneReasons } from './vocabulary';

export const videoSchema = z
  .strictObject({
    url: z.string().optional().meta({
      description:
        'URL of the video, at this service; it needs no key. Absent once the video is not kept any more.',
    }),
    url_gone_reason: z.enum(goneReasons).optional().meta({
      description: 'Only without `url`. `deleted`: by its owner. `expired`: its time is over.',
    }),
    last_frame_url: z
      .string()
      .optional()
      .meta({ description: 'The last frame of the base video, if it was asked for.' }),
    last_frame_url_gone_reason: z.enum(goneReasons).optional().meta({
      description: 'Only if there was a last frame and it is not kept any more.',
    }),
    resolution: z.string().optional().meta({ example: '720p' }),
    ratio: z.string().optional().meta({
      description: 'Of the base video. If it was `adaptive`, the nearest one of the table.',
      example: '16:9',
    }),
    width: z.int().optional().meta({ description: 'Pixels of the stored video, measured.' }),
    height: z.int().optional(),
    expires_at: z
      .int()
      .meta({ description: 'Unix seconds after which the links have expired.' })
      .optional(),
  })
  .meta({ id: 'VideoResult' });

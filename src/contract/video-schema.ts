// zod schemas of a task's result, and of the upload of the video to a URL of the caller.

import { z } from 'zod';
import { goneReasons, outputUploadStatuses } from './vocabulary';

export const videoSchema = z
  .strictObject({
    url: z.string().optional().meta({
      description:
        'URL of the video, at this service; it needs no key. Absent once the video is not kept any more.',
    }),
    url_gone_reason: z.enum(goneReasons).optional().meta({
      description:
        'Only without `url`. `deleted`: by its owner. `expired`: its time is over. `lost`: it could not be fetched from the generator in time.',
    }),
    last_frame_url: z.string().optional(),
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

export const outputUploadSchema = z
  .strictObject({
    status: z.enum(outputUploadStatuses),
    error: z.string().optional().meta({ description: 'Why it failed.' }),
  })
  .meta({
    id: 'OutputUpload',
    description:
      'Only on success, if `metadata.output_upload_url` was sent. `pending`: it is tried for a day. It never fails the task.',
  });

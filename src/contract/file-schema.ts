// zod schemas of the replies about uploaded files. The files of results are in video-schema.ts.

import { z } from 'zod';
import { pageOf } from './model-schema';

const id = z.string().meta({ example: 'file_01k9m3c5x8v2q4w6e8r0t2y4na' });

export const fileSchema = z
  .strictObject({
    id,
    object: z.literal('file'),
    url: z.string().meta({ description: 'This link alone gives access to the file.' }),
    kind: z.enum(['image', 'video', 'audio']),
    content_type: z
      .string()
      .meta({ description: 'By the content of the file.', example: 'video/mp4' }),
    bytes: z.int(),
    sha256: z.string().meta({ description: '64 hexadecimal digits.' }),
    name: z.string().nullable().meta({ description: 'As it was sent.' }),
    duration: z
      .number()
      .nullable()
      .meta({ description: 'Seconds of a video, if its file says so.' }),
    created_at: z.int().meta({ description: 'Unix seconds.' }),
    expires_at: z.int().meta({ description: 'Unix seconds after which the file is deleted.' }),
  })
  .meta({ id: 'File' });

export type FileObject = z.infer<typeof fileSchema>;

export const filesSchema = pageOf(fileSchema);

export const deletedFileSchema = z.strictObject({
  id,
  object: z.literal('file'),
  deleted: z.literal(true),
});

// OpenAPI operations of uploaded files and of the public links of files.

import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import { deletedFileSchema, fileSchema, filesSchema } from './file-schema';
import { errorResponses, jsonReply, pageQuery, replyHeaders } from './openapi-parts';
import { withoutNul } from './safe-json';

const tags = ['Files'];
const binary = z.string().meta({ format: 'binary' });
// Without a byte there is no file.
const sentBytes = z.string().min(1).meta({ format: 'binary' });
const range = z.object({ Range: z.string().optional().meta({ example: 'bytes=0-1023' }) });
const bytesHeaders = {
  ...replyHeaders,
  ETag: { description: 'The SHA-256 of the file.', schema: { type: 'string' } },
  'Accept-Ranges': { schema: { type: 'string' } },
} as const;
const bytes = {
  content: { '*/*': { schema: binary } },
  headers: bytesHeaders,
};

const bytesReplies: ZodOpenApiOperationObject['responses'] = {
  '200': { description: 'The file.', ...bytes },
  '206': { description: 'The part that `Range` asks for.', ...bytes },
  '304': { description: 'The client has the file: `If-None-Match`.', headers: bytesHeaders },
};

const deliver: ZodOpenApiOperationObject = {
  operationId: 'readLinkedFile',
  tags,
  summary: 'A file by its link',
  description:
    'The link of a result or of an uploaded file. It needs no key: whoever has the link can read the file, and nobody can guess it. `Range`, `If-Range` and `If-None-Match` are honoured.',
  security: [],
  requestParams: {
    path: z.object({
      token: z
        .string()
        .regex(/^[A-Za-z0-9_-]{32,64}$/)
        .meta({ description: 'The secret part of the link.' }),
      ext: z.string().regex(withoutNul).meta({ example: 'mp4' }),
    }),
    header: range,
  },
  responses: {
    ...bytesReplies,
    '302': { description: 'The file is at the address in `Location`, for an hour.' },
    ...errorResponses('file_not_found', 'file_removed', 'range_not_satisfiable', 'rate_limited'),
  },
};

const path = z.object({
  file_id: z.string().min(1).regex(withoutNul).meta({ example: 'file_01k9m3c5x8v2q4w6e8r0t2y4na' }),
});
const readErrors = errorResponses('invalid_api_key', 'file_not_found');

const upload: ZodOpenApiOperationObject = {
  operationId: 'uploadFile',
  tags,
  summary: 'Upload a file',
  description:
    'The body is the file, or a multipart form with one file. Its content decides its type: images (30 MiB), videos in MP4 or MOV (50 MiB), audio in WAV or MP3 (15 MiB). The `id` or the `url` of the reply may stand in `image`, `images`, `videos` and `audios` of a create.',
  requestParams: {
    query: z.object({
      name: z
        .string()
        .optional()
        .meta({ description: 'A name for the file; forms have their own.' }),
    }),
  },
  requestBody: {
    required: true,
    content: {
      'multipart/form-data': { schema: z.object({ file: sentBytes }) },
      'application/octet-stream': { schema: sentBytes },
    },
  },
  responses: {
    '200': jsonReply('The stored file.', fileSchema),
    ...errorResponses(
      'invalid_value',
      'invalid_api_key',
      'upload_limit_reached',
      'request_too_large',
      'unsupported_media_type',
      'outcome_unknown',
    ),
  },
};

const list: ZodOpenApiOperationObject = {
  operationId: 'listFiles',
  tags,
  summary: 'The account’s uploaded files, newest first',
  requestParams: {
    query: z.object(pageQuery(/^file_[0-9a-hjkmnp-tv-z]{26}$/)),
  },
  responses: {
    '200': jsonReply('One page.', filesSchema),
    ...errorResponses('invalid_value', 'invalid_api_key'),
  },
};

export const filePaths: ZodOpenApiPathsObject = {
  '/v1/files': { post: upload, get: list },
  '/v1/files/{file_id}': {
    get: {
      operationId: 'getFile',
      tags,
      summary: 'An uploaded file',
      requestParams: { path },
      responses: { '200': jsonReply('The file, without its bytes.', fileSchema), ...readErrors },
    },
    delete: {
      operationId: 'deleteFile',
      tags,
      summary: 'Delete an uploaded file',
      description:
        'The bytes are deleted at once. A task that has not begun to use the file fails.',
      requestParams: { path },
      responses: { '200': jsonReply('The file was deleted.', deletedFileSchema), ...readErrors },
    },
  },
  '/v1/files/{file_id}/content': {
    get: {
      operationId: 'readFile',
      tags,
      summary: 'The bytes of an uploaded file',
      requestParams: { path, header: range },
      responses: {
        ...bytesReplies,
        ...readErrors,
        ...errorResponses('range_not_satisfiable'),
      },
    },
  },
  '/files/{token}.{ext}': { get: deliver },
};

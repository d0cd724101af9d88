// A parsed create as the body that a caller would send for it. Older spellings and absent fields are
// not kept: the body has the documented fields, with the values that apply.

import type { VideoRequest } from './request';

/** Sent again, the body makes an equal request. */
export function sentRequest({
  images,
  videos,
  audios,
  metadata,
  ...request
}: VideoRequest): object {
  const { passThrough, ...options } = metadata;
  const lists = Object.entries({ images, videos, audios }).filter(([, list]) => list.length > 0);
  return {
    ...request,
    ...Object.fromEntries(lists),
    metadata: { ...passThrough, ...options },
  };
}

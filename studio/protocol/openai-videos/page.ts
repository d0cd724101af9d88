/* One page of the list. The newest video comes first, unless the caller asks for another order. */

import type { GenerationJob } from '../../jobs/job';
import { invalid } from '../../protocol-error';
import { viewVideo } from './view';

export function pageOf(oldestFirst: readonly GenerationJob[], query: URLSearchParams): object {
  const limit = query.get('limit') ?? '20';
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > 100) {
    throw invalid('limit', 'it must be an integer from 1 to 100');
  }
  const videos = query.get('order') === 'asc' ? oldestFirst : oldestFirst.toReversed();
  const after = query.get('after');
  const start = after ? videos.findIndex(({ id }) => id === after) + 1 : 0;
  const page = videos.slice(start, start + Number(limit));
  return {
    object: 'list',
    data: page.map(viewVideo),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: start + page.length < videos.length,
  };
}

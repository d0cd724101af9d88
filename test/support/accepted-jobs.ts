// Counts the creates of jobs that the studio has accepted. Our own tables cannot show a job that the
// service has created twice and recorded once.

import type { Service } from './service';

export async function acceptedJobs(
  { studio, studioKey }: Pick<Service, 'studio' | 'studioKey'>,
  taskId: string,
): Promise<number> {
  const reply = await fetch(`${studio.url}/admin/accepted?client_request_id=${taskId}`, {
    headers: { authorization: `Bearer ${studioKey}` },
  });
  return ((await reply.json()) as { total: number }).total;
}

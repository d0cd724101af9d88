// The fields of a create.

import type { RequestedJob } from '../../../src/jobs/job.rules';
import type { Profile } from './profiles';

/**
 * Returns the fields of a create. The options from the caller's metadata come first, so that they
 * cannot replace our fields.
 */
export function createFields(
  { request, plan }: RequestedJob,
  upstreamModel: string,
  profile: Profile,
): Readonly<Record<string, unknown>> {
  const [image] = request.images;
  return {
    ...optionsOf(request.metadata.passThrough, profile),
    model: upstreamModel,
    prompt: request.prompt,
    seconds: String(plan.durationSeconds),
    size: `${plan.width}x${plan.height}`,
    ...(profile.takesSeed ? { seed: plan.seed } : {}),
    // The URL as our parser writes it. The provider's parser could find another host in the
    // caller's original text.
    ...(image === undefined ? {} : profile.image(new URL(image).href)),
  };
}

function optionsOf(sent: Readonly<Record<string, unknown>>, { options }: Profile) {
  if (options === 'all') return sent;
  return Object.fromEntries(Object.entries(sent).filter(([name]) => options.includes(name)));
}

/** All values of a form are texts. Objects are sent as JSON. */
export function formOf(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, text(value)]));
}

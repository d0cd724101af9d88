// Creates a task from a request that a shape has translated. Unlike our own form, a shape refuses
// the fields that the service does not know, because its caller expects them to have an effect.

import { invalid } from '../../contract/field';
import { type ParsedRequest, parseRequest } from '../../contract/parse-request';
import type { JsonObject } from '../../contract/safe-json';
import { isRetryable } from '../../database/database';
import { answerCreate, type CreateOutcome, notShown } from '../../tasks/create/answer.http';
import type { Create } from '../../tasks/create/create.http';
import { showNames } from '../../tasks/create/read-request.http';
import type { KeyedCall } from '../context';
import type { KeyedDeps } from '../deps';
import type { Translated } from './shape';

export async function createTranslated(
  ctx: KeyedCall,
  create: Create,
  { body, compared = (request) => request }: Translated,
): Promise<CreateOutcome> {
  const parsed = parseTranslated(body);
  showNames(ctx, parsed);
  const outcome = await create(ctx, parsed, compared(parsed.request));
  answerCreate(ctx, outcome);
  return outcome;
}

/**
 * Reads a task that was just created. If the read fails, the refusal names the task: a caller who
 * only learned that the service cannot answer would create another one.
 */
export async function readCreated<T>(
  ctx: KeyedCall,
  { observer }: Pick<KeyedDeps, 'observer'>,
  taskId: string,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isRetryable(error)) throw error;
    observer.failed(error, ctx.state);
    throw notShown(taskId);
  }
}

export function parseTranslated(body: JsonObject): ParsedRequest {
  const read = parseRequest(body);
  const unknown = read.ignored.map((name) =>
    invalid(name, 'there is no such field; options of a video go into metadata.'),
  );
  return { ...read, faults: [...read.faults, ...unknown], ignored: [] };
}

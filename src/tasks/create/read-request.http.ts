// Reads and parses the body of a create or a quote. Two reply headers list the names that the
// service does not know: ignored fields, and options that are passed to the generator.

import { type ParsedRequest, parseRequest } from '../../contract/parse-request';
import { bodyBytesMax, readJsonBody } from '../../gateway/body';
import type { ApiCall } from '../../gateway/context';

const ignoredFieldsHeader = 'X-Ignored-Fields';
const passedFieldsHeader = 'X-Passed-Fields';

export async function readRequest(ctx: ApiCall): Promise<ParsedRequest> {
  const parsed = parseRequest(await readJsonBody(ctx.req, bodyBytesMax));
  showNames(ctx, parsed);
  return parsed;
}

export function showNames(ctx: ApiCall, parsed: ParsedRequest): void {
  const { ignored, request } = parsed;
  const passed = Object.keys(request.metadata.passThrough).map((name) => `metadata.${name}`);
  if (ignored.length > 0) ctx.set(ignoredFieldsHeader, listed(ignored));
  if (passed.length > 0) ctx.set(passedFieldsHeader, listed(passed));
}

// Names come from the caller, so a header shows few of them and only their beginning.
const shownMax = 20;
const charsMax = 60;

/**
 * The names as a header value. They are percent-encoded, because headers are ASCII and a comma
 * separates the names.
 */
function listed(names: readonly string[]): string {
  const shown = names
    .slice(0, shownMax)
    .map((name) =>
      encodeURIComponent([...name.slice(0, 2 * charsMax)].slice(0, charsMax).join('')),
    );
  return [...shown, ...(names.length > shownMax ? ['...'] : [])].join(', ');
}

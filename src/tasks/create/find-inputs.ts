// Finds the files that a request names as inputs, by id or by link. Only files of the caller's
// account are found.

import type { VideoRequest } from '../../contract/request';
import { isReachable, tokenOfLink } from '../../files/file-link.rules';
import { type FileRow, findStoredFiles } from '../../files/links.rows';
import type { KeyedState } from '../../gateway/context';
import type { KeyedDeps } from '../../gateway/deps';
import type { InputFile, InputFiles } from '../../planning/input-files.rules';

/**
 * Returns undefined if the request names no file, which is the usual case. In this case, the
 * database is not read.
 */
export function findInputs(
  deps: KeyedDeps,
  state: Pick<KeyedState, 'caller' | 'db'>,
  { images, videos, audios }: VideoRequest,
): Promise<InputFiles> | undefined {
  const { publicUrl } = deps.settings;
  const named = [...images, ...videos, ...audios].filter(
    (sent) => sent.startsWith('file_') || tokenOfLink(publicUrl, sent) !== null,
  );
  return named.length > 0 ? lookUp(deps, state, named) : undefined;
}

async function lookUp(
  deps: KeyedDeps,
  { caller, db }: Pick<KeyedState, 'caller' | 'db'>,
  named: readonly string[],
): Promise<InputFiles> {
  const tokenOf = (sent: string) => tokenOfLink(deps.settings.publicUrl, sent);
  const tokens = named.flatMap((sent) => tokenOf(sent) ?? []);
  const rows = await findStoredFiles(db, caller.accountId, { ids: named, tokens });
  const found = new Map<string, InputFile | null>();
  for (const sent of named) {
    const row = rows.find(({ id, linkToken }) => id === sent || linkToken === tokenOf(sent));
    found.set(sent, row ? await inputOf(deps, row) : null);
  }
  return found;
}

async function inputOf({ storage, settings }: KeyedDeps, row: FileRow): Promise<InputFile> {
  const presigned = () =>
    storage.presigned(row.key, { seconds: 60, contentType: row.contentType ?? '' });
  const canReach = (url: string) => isReachable(url, settings.dangerouslyAllowProviderHosts);
  const hasAddress = canReach(settings.publicUrl) || canReach((await presigned()) ?? '');
  const { id, media, length } = row;
  return { id, media, bytes: length ?? 0, sentAs: hasAddress ? 'address' : 'inline' };
}

// The routes of the admin API: one for each admin command that has one. A path that is not in this
// table does not exist.

import { adminCommands } from '../commands/admin';
import type { AdminCommand, HttpRoute } from '../commands/admin/command-line';
import type { OperatorRole } from '../operators/roles.rules';

export interface Route {
  readonly method: string;
  readonly path: string;
  readonly role: OperatorRole;
  readonly http: HttpRoute;
  readonly command: AdminCommand;
}

export const prefix = '/admin/v1';

export const routes: readonly Route[] = adminCommands.flatMap((command) => {
  const { http } = command;
  if ('none' in http) return [];
  const [method = '', path = ''] = http.at.split(' ');
  return [{ method, path: `${prefix}${path}`, role: http.role, http, command }];
});

export interface FoundRoute {
  readonly route: Route;
  /** The words of the path by the names in the route, without the colon. */
  readonly params: Readonly<Record<string, string>>;
}

export function findRoute(method: string, path: string): FoundRoute | null {
  const words = wordsOf(path);
  if (!words) return null;
  for (const route of routes) {
    if (route.method !== method) continue;
    const params = match(route.path.split('/'), words);
    if (params) return { route, params };
  }
  return null;
}

/** Null if the path is no valid URL. A word may contain an encoded slash. */
function wordsOf(path: string): readonly string[] | null {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return null;
  }
}

function match(pattern: readonly string[], words: readonly string[]) {
  if (pattern.length !== words.length) return null;
  const params: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) {
    const word = words[at] ?? '';
    if (!part.startsWith(':')) {
      if (part !== word) return null;
    } else if (word === '') return null;
    else params[part.slice(1)] = word;
  }
  return params;
}

/*
 * What a folder of this directory exports: the calls of one protocol, over the jobs that all
 * protocols share.
 */

import type { Exchange } from '../http';
import type { JobStore } from '../jobs/job-store';
import type { MediaStore } from '../media/media-store';
import type { ResultFiles } from '../media/result-files';
import type { CallParser } from './create-call';

export interface FaceParts {
  store: JobStore;
  files: ResultFiles;
  media: MediaStore;
  parseCall: CallParser;
}

type Call = (exchange: Exchange, id: string) => void | Promise<void>;

export interface Face {
  /** The handlers, by method and path. The part `{id}` of a path stands for the id of a job. */
  calls: Readonly<Record<string, Call>>;
  /** Returns the body of an error reply, in the form of the protocol. */
  refusal(error: object, requestId: string, status: number): object;
  /** True if a call with this token has the key of the studio; by default the token is the key. */
  isKey?(token: string, key: string): boolean;
}

// Signs requests to an S3-compatible service (AWS Signature Version 4) and sends them.

import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { AwsV4Signer } from 'aws4fetch';
import { exchange, isSuccess, type Limits, type Send } from './s3-exchange';
import { codeIn, faultOfConnection, faultOfReply } from './s3-faults';

export interface S3Settings {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** True: the bucket is in the path of the URL. False: the bucket is in the host name. */
  readonly pathStyle: boolean;
  /** Tests set shorter times. */
  readonly limits?: Partial<Limits>;
}

type Query = Readonly<Record<string, string>>;

interface What {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  /** Absent if the request is about the bucket itself. */
  readonly key?: string;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly send?: Send;
  readonly signal?: AbortSignal | undefined;
}

export interface S3Requests {
  /**
   * Returns the answer, whose body is not read yet; null if there is no such key. Throws a
   * StorageError for any other refusal.
   */
  ask(what: What): Promise<http.IncomingMessage | null>;
  presign(key: string, from: Date, query: Query): Promise<string>;
}

interface How {
  readonly method?: string;
  readonly signQuery?: boolean;
  /** The time of the signature in its own form; now by default. */
  readonly datetime?: string;
}

const usual: Limits = { connectTimeoutMs: 5_000, idleMs: 60_000 };

export function createS3Requests(settings: S3Settings): S3Requests {
  const limits = { ...usual, ...settings.limits };
  const protocol = settings.endpoint.startsWith('https:') ? https : http;
  // Unused connections are closed after 3 s. If the service closed a connection first, a new
  // request on that connection could fail.
  const agent = new protocol.Agent({ keepAlive: true, timeout: 3_000 });
  const cache = new Map<string, ArrayBuffer>();
  const sign = (key: string, query: Query, how: How) =>
    new AwsV4Signer({
      ...settings,
      ...how,
      url: addressOf(settings, key, query),
      service: 's3',
      cache,
    }).sign();

  return {
    async ask({ method, key = '', query = {}, headers = {}, send, signal }) {
      const { url, headers: signed } = await sign(key, query, { method });
      signal?.throwIfAborted();
      const outgoing = protocol.request(url, {
        method,
        headers: { ...Object.fromEntries(signed), ...headers },
        timeout: limits.connectTimeoutMs,
        // A streamed body cannot be sent twice. So a request with such a body gets a new
        // connection, because the service may be about to close an old connection.
        agent: send ? false : agent,
        ...(signal ? { signal } : {}),
      });
      try {
        const reply = await exchange(outgoing, limits, send);
        if (isSuccess(reply)) return reply;
        const status = reply.statusCode ?? 0;
        const body = await text(reply);
        if (status === 404 && codeIn(body) === 'NoSuchKey') return null;
        throw faultOfReply(status, body);
      } catch (error) {
        outgoing.destroy();
        throw faultOfConnection(error);
      }
    },

    async presign(key, from, query) {
      const datetime = from.toISOString().replace(/[:-]|\.\d{3}/g, '');
      const { url } = await sign(key, query, { method: 'GET', signQuery: true, datetime });
      return url.href;
    },
  };
}

type Place = Pick<S3Settings, 'endpoint' | 'bucket' | 'pathStyle'>;

/** Its origin is that of every URL of the bucket, also of those to which callers are sent. */
export function bucketUrl({ endpoint, bucket, pathStyle }: Place): URL {
  const url = new URL(endpoint);
  if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`;
  return url;
}

function addressOf(place: Place, key: string, query: Query): string {
  const { bucket, pathStyle } = place;
  const url = bucketUrl(place);
  const base = url.pathname.replace(/\/$/, '');
  url.pathname = [base, ...(pathStyle ? [bucket] : []), ...(key ? [key] : [])].join('/');
  url.search = new URLSearchParams(query).toString();
  return url.href;
}

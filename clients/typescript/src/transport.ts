// Sends requests, and repeats those without an answer or with an answer that asks for a repeat.
// Every request that the client sends is safe to repeat.

import type { Access } from './environment.ts';
import { errorOf, VideoError } from './error.ts';

export interface ClientOptions extends Access {
  /** For how long a call is repeated after its first attempt; 120,000 by default. */
  readonly repeatForMs?: number;
  /** After how long an attempt without an answer is given up; 30,000 by default. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
  /** Called before the pause after which a call is repeated. */
  readonly onRepeat?: (error: VideoError, pauseMs: number) => void;
}

export interface Attempt {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body?: RequestInit['body'];
  readonly signal?: AbortSignal | undefined;
  /** Added to the time limit, for answers that the service holds back. */
  readonly heldMs?: number;
}

export interface Answer<T> {
  readonly value: T;
  readonly headers: Headers;
}

export type Transport = ReturnType<typeof createTransport>;

const repeatable = new Set([408, 429, 500, 502, 503, 504]);

export function createTransport(options: ClientOptions) {
  const { timeoutMs = 30_000 } = options;
  const send: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init));

  /** One attempt. `read` runs within the time limit, because an answer may also stop midway. */
  async function once<T>(attempt: Attempt, read: (response: Response) => Promise<T>) {
    const { method, url, headers, body, heldMs = 0 } = attempt;
    const { signal, end } = createLimit(timeoutMs + heldMs, attempt.signal);
    try {
      const sent = body === undefined ? {} : { body };
      // A followed redirect may turn a POST into a GET, and loses the key.
      const redirect = 'manual';
      const response = await send(url, { method, headers, ...sent, signal, redirect });
      if (!response.ok) throw await errorOf(response);
      return { value: await read(response), headers: response.headers };
    } finally {
      end();
    }
  }

  return {
    timeoutMs,
    fetch: send,

    /** `onAttempt` gets the number of each attempt, because an earlier one may have had an effect. */
    async json<T>(attempt: Attempt, onAttempt?: (number: number) => void): Promise<Answer<T>> {
      const patience = createPatience(options, attempt.signal);
      for (let number = 1; ; number += 1) {
        onAttempt?.(number);
        try {
          return await once(attempt, (response) => response.json() as Promise<T>);
        } catch (error) {
          await patience.pauseAfter(error);
        }
      }
    },

    patience: (signal?: AbortSignal) => createPatience(options, signal),
  };
}

/**
 * A signal that also aborts if nothing renews it for this time. `end` must be called: the signals of
 * `AbortSignal.any` would stay with a long-lived signal of the caller.
 */
export function createLimit(ms: number, outer?: AbortSignal) {
  outer?.throwIfAborted();
  const controller = new AbortController();
  const late = () => controller.abort(new Error(`nothing arrived for ${ms} ms`));
  const stop = () => controller.abort(outer?.reason);
  outer?.addEventListener('abort', stop);
  let timer = setTimeout(late, ms);
  const pause = () => clearTimeout(timer);
  return {
    signal: controller.signal,
    pause,
    renew() {
      pause();
      timer = setTimeout(late, ms);
    },
    end() {
      pause();
      outer?.removeEventListener('abort', stop);
    },
  };
}

/** Decides after a failure whether to try again, and waits before it. */
function createPatience(options: ClientOptions, signal?: AbortSignal) {
  const { repeatForMs = 120_000, onRepeat } = options;
  // The first attempt does not count: it may be a long upload.
  let began: number | undefined;
  let failures = 0;
  return {
    /** Something arrived, so the time for repeats begins anew. */
    progressed() {
      began = undefined;
      failures = 0;
    },
    async pauseAfter(cause: unknown): Promise<void> {
      signal?.throwIfAborted();
      const error = cause instanceof VideoError ? cause : noAnswer(cause);
      if (error.status !== 0 && !repeatable.has(error.status)) throw error;
      // Between the half and the whole of the pause, so that many clients do not return at once.
      const backoffMs = Math.min(8_000, 250 * 2 ** failures) * (0.5 + Math.random() / 2);
      const pauseMs = error.retryAfterSeconds ? error.retryAfterSeconds * 1_000 : backoffMs;
      began ??= performance.now();
      if (performance.now() + pauseMs > began + repeatForMs) throw error;
      failures += 1;
      onRepeat?.(error, pauseMs);
      await sleep(pauseMs, signal);
    },
  };
}

function noAnswer(cause: unknown): VideoError {
  return new VideoError(`The service did not answer: ${reasonOf(cause)}.`, {
    ...{ status: 0, code: 'no_answer', cause },
  });
}

/** `fetch` says what went wrong only in the cause of its error. */
function reasonOf(error: unknown): string {
  const { message, code, cause } = Object(error) as Record<string, unknown>;
  const text = String(message || code || error);
  const named = typeof code === 'string' && !text.includes(code) ? `${text} (${code})` : text;
  return cause ? `${named}: ${reasonOf(cause)}` : named;
}

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

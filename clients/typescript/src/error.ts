// The one error that the client throws for an answer, or for the lack of one.

export interface VideoErrorFields {
  readonly status: number;
  readonly code: string;
  readonly type?: string;
  readonly param?: string;
  readonly requestId?: string;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

export class VideoError extends Error {
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  /**
   * The code of the service. The client itself adds `no_answer`, `unexpected_answer`,
   * `content_changed` and `invalid_callback`.
   */
  readonly code: string;
  readonly type: string;
  /** The JSON path of the first faulty value; may be empty. */
  readonly param: string;
  /** The `X-Request-Id` of the answer; may be empty. */
  readonly requestId: string;
  readonly retryAfterSeconds: number | undefined;
  /** The key of a failed create or `createAndWait`: the same key gives the same task. */
  idempotencyKey: string | undefined;
  /** The task of a `createAndWait` that failed during the wait. */
  taskId: string | undefined;

  constructor(message: string, fields: VideoErrorFields) {
    super(message, fields.cause === undefined ? {} : { cause: fields.cause });
    this.name = 'VideoError';
    this.status = fields.status;
    this.code = fields.code;
    this.type = fields.type ?? '';
    this.param = fields.param ?? '';
    this.requestId = fields.requestId ?? '';
    this.retryAfterSeconds = fields.retryAfterSeconds;
  }
}

/** Tells the caller of `createAndWait` what to continue with. */
export function withTask(error: unknown, taskId: string, key: string): unknown {
  if (error instanceof VideoError) {
    error.message += ` (task ${taskId})`;
    error.taskId = taskId;
    error.idempotencyKey = key;
  }
  return error;
}

export async function errorOf(response: Response): Promise<VideoError> {
  const text = await response.text();
  const { error } = (parsed(text) ?? {}) as { error?: Record<string, string> };
  const seconds = retryAfterOf(response.headers);
  // Browsers hide the status and the address of a redirect.
  const status = response.type === 'opaqueredirect' ? 302 : response.status;
  const location = response.headers.get('location');
  const to = location ? `, a redirect to ${location}` : '';
  return new VideoError(error?.message ?? `The answer was HTTP ${status}${to}.`, {
    status,
    code: error?.code ?? 'unexpected_answer',
    type: error?.type ?? '',
    param: error?.param ?? '',
    requestId: response.headers.get('x-request-id') ?? '',
    ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
  });
}

/** The seconds of `Retry-After`, which may also be a date. */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? '';
  const isNumber = /^\d+(\.\d+)?$/.test(text);
  const seconds = isNumber ? Number(text) : (Date.parse(text) - Date.now()) / 1_000;
  return seconds >= 0 ? seconds : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

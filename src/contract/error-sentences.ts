// What each error code means, for the documents.

import type { RefusalCode } from './error';

/** For each code: its meaning for a caller, an example message, and the example's param. */
export const sentences: Readonly<
  Record<RefusalCode, readonly [meaning: string, message: string, param?: string]>
> = {
  invalid_json: [
    'the body is no JSON object in UTF-8, or holds what a body may not; a syntax fault names line and column',
    'The body must be a JSON object in UTF-8, but it is not valid JSON: unexpected "}" at line 1, column 34.',
  ],
  missing_required_parameter: [
    'a required field is missing',
    'prompt: is required; it must be a non-empty string.',
    'prompt',
  ],
  invalid_value: [
    'a value is malformed or out of range',
    'metadata.seed: must be a whole number from -1 to 4294967295; got "x".',
    'metadata.seed',
  ],
  unsupported_value: [
    'the model cannot do this',
    'resolution: model "studio-2.0-fast" renders 480p, 720p, not 1080p.',
    'resolution',
  ],
  conflicting_parameters: [
    'two fields exclude each other',
    'image: is the old form of images[0] and cannot be sent together with images; put it into images.',
    'image',
  ],
  model_not_found: [
    'there is no such model; the message lists the models of the key',
    'model: there is no model "x". This key may use: studio-2.0.',
    'model',
  ],
  task_id_required: ['the path has no task id', 'task_id is required', 'task_id'],
  malformed_http: ['the request is not valid HTTP', 'The request is not valid HTTP.'],
  invalid_api_key: [
    'the key is missing, malformed, unknown, expired or revoked',
    'The API key is missing, unknown, expired or revoked. Send a valid one as "Authorization: Bearer <API_KEY>".',
  ],
  insufficient_balance: [
    'the balance is too small; the message has the needed and the available amount',
    'This task needs a hold of 5.009400 CNY, but only 1.000000 CNY is available.',
  ],
  budget_exceeded: [
    'a budget of the account or the key is spent; the message has its limit and when its next period begins',
    'This task needs a hold of 5.009400 CNY, but the day budget of this account is 100.000000 CNY, of which 80.000000 CNY is spent and 18.000000 CNY is held. It begins anew at 2026-02-01T16:00:00Z (time zone Asia/Shanghai).',
  ],
  model_not_allowed: [
    'this key may not use the model',
    'This key may not use the model "studio-2.0".',
    'model',
  ],
  channel_not_allowed: [
    'this key may use no channel of the model, or none for super-resolution',
    'This key may use no channel that serves this model.',
    'model',
  ],
  account_disabled: [
    'the account is disabled, so every call is refused',
    'This account is disabled.',
  ],
  key_management_not_allowed: [
    'this key may not make or revoke keys',
    'This key may not make or revoke keys. The operator can allow it.',
  ],
  task_not_found: [
    'the task is unknown, or belongs to another account',
    'There is no such task.',
    'task_id',
  ],
  file_not_found: ['the file is unknown, or belongs to another account', 'There is no such file.'],
  webhook_not_found: [
    'the webhook is unknown, or belongs to another account',
    'There is no such webhook.',
  ],
  key_not_found: [
    'the key is unknown, or belongs to another account',
    'There is no such key.',
    'key_id',
  ],
  route_not_found: ['there is no route with this path', 'There is nothing at /v1/x.'],
  method_not_allowed: [
    'the path has no such method; `Allow` lists the methods',
    'PUT is not possible here; possible: POST.',
  ],
  request_timeout: [
    'the request has not arrived within 15 seconds, or an upload within ten minutes',
    'The request did not arrive in time.',
  ],
  callback_not_found: [
    'the task has not finished, has no callback or no webhook for it any more, or its callback was sent 100 times',
    'There is no message to send: the task has not finished, or it has no callback.',
    'task_id',
  ],
  idempotency_key_reused: [
    'the key was used with another body, or its task is forgotten',
    'This Idempotency-Key was used with another body. Use a new key for a new task.',
    'Idempotency-Key',
  ],
  task_already_finished: [
    'a finished task cannot be cancelled',
    'The task has finished already; it is left as it is.',
    'task_id',
  ],
  task_not_finished: [
    'the content of an unfinished task cannot be deleted; in the forms of OpenAI and Ark, a task that is being stored cannot be cancelled',
    'The task has not finished, so it has no content to delete. Cancel it first, with DELETE /v1/videos/generations/task_01k9m3c5x8v2q4w6e8r0t2y4na.',
    'task_id',
  ],
  upload_limit_reached: [
    'the account has as many uploaded files or bytes as it may; delete some files',
    'This account has 1000 uploaded files, which is the limit. Delete files that are not needed any more.',
  ],
  webhook_limit_reached: [
    'the account has ten webhooks, which is the limit',
    'This account has 10 webhooks, which is the limit. Delete one first.',
  ],
  key_limit_reached: [
    'the account has 50 valid keys, or has made 200 in a day',
    'This account has 50 valid keys, which is the limit. Revoke one first.',
  ],
  file_removed: [
    'the file is not kept any more; the message says why',
    'The file is not kept any more: its time is over.',
  ],
  request_removed: [
    'the task was forgotten or erased, and what was sent for it too',
    'What was sent for this task was removed.',
  ],
  request_too_large: [
    'the body is larger than 128 KiB, or a file larger than its kind may be',
    'The body may have at most 131072 bytes; this one has 200000 or more.',
  ],
  unsupported_media_type: [
    'the body is not `application/json` in UTF-8, or is compressed; or the file is of no accepted type',
    'The Content-Type must be application/json in UTF-8; got "text/plain".',
  ],
  range_not_satisfiable: [
    '`Range` asks for no byte of the file',
    'The file has 1000 bytes, and the Range asks for none of them.',
    'Range',
  ],
  expectation_failed: [
    '`Expect` is not `100-continue`',
    'Of all expectations, only 100-continue is met.',
  ],
  rate_limited: [
    'a limit of the key, the address or the account was reached',
    'This key may create 10 times a second (up to 200 at once), and did so more often. Try again in 1 s.',
  ],
  headers_too_large: [
    'the headers have more than 16 KiB together',
    'The headers have too many bytes together.',
  ],
  internal_error: [
    'the service has a fault; report the request id',
    'Something went wrong here. Tell us the request id …',
  ],
  unavailable: [
    'the service cannot answer now, and a create has stored nothing; try again after `Retry-After`',
    'The service cannot answer at the moment. Try again shortly.',
  ],
  outcome_unknown: [
    'it is not known whether this was done; `Location` names the task of a create; look at the list of keys, webhooks or files first',
    'It is not known whether the task task_… was stored. If it was, it runs. Repeat the call with the same Idempotency-Key, or look for the task at its Location.',
  ],
};

/** What a code means, in a few words for a caller. */
export const meaningOf = (code: RefusalCode): string => sentences[code][0];

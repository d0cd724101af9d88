// All error codes of the API, each with its HTTP status and type. Three codes are server errors; the
// caller causes all other errors. Workflow histories contain the codes, so codes may be added but
// never renamed.

export const refusals = {
  invalid_json: { status: 400, type: 'invalid_request_error' },
  missing_required_parameter: { status: 400, type: 'invalid_request_error' },
  invalid_value: { status: 400, type: 'invalid_request_error' },
  unsupported_value: { status: 400, type: 'invalid_request_error' },
  conflicting_parameters: { status: 400, type: 'invalid_request_error' },
  model_not_found: { status: 400, type: 'invalid_request_error' },
  malformed_http: { status: 400, type: 'invalid_request_error' },
  task_id_required: { status: 400, type: 'invalid_request_error' },
  invalid_api_key: { status: 401, type: 'authentication_error' },
  insufficient_balance: { status: 402, type: 'billing_error' },
  budget_exceeded: { status: 402, type: 'billing_error' },
  model_not_allowed: { status: 403, type: 'permission_error' },
  channel_not_allowed: { status: 403, type: 'permission_error' },
  account_disabled: { status: 403, type: 'permission_error' },
  key_management_not_allowed: { status: 403, type: 'permission_error' },
  task_not_found: { status: 404, type: 'not_found_error' },
  file_not_found: { status: 404, type: 'not_found_error' },
  webhook_not_found: { status: 404, type: 'not_found_error' },
  key_not_found: { status: 404, type: 'not_found_error' },
  route_not_found: { status: 404, type: 'not_found_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  request_timeout: { status: 408, type: 'invalid_request_error' },
  callback_not_found: { status: 409, type: 'invalid_request_error' },
  idempotency_key_reused: { status: 409, type: 'invalid_request_error' },
  task_already_finished: { status: 409, type: 'invalid_request_error' },
  task_not_finished: { status: 409, type: 'invalid_request_error' },
  upload_limit_reached: { status: 409, type: 'invalid_request_error' },
  webhook_limit_reached: { status: 409, type: 'invalid_request_error' },
  key_limit_reached: { status: 409, type: 'invalid_request_error' },
  file_removed: { status: 410, type: 'not_found_error' },
  request_removed: { status: 410, type: 'not_found_error' },
  request_too_large: { status: 413, type: 'invalid_request_error' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error' },
  range_not_satisfiable: { status: 416, type: 'invalid_request_error' },
  expectation_failed: { status: 417, type: 'invalid_request_error' },
  rate_limited: { status: 429, type: 'rate_limit_error' },
  headers_too_large: { status: 431, type: 'invalid_request_error' },
  internal_error: { status: 500, type: 'server_error' },
  unavailable: { status: 503, type: 'server_error' },
  outcome_unknown: { status: 503, type: 'server_error' },
} as const;

export type RefusalCode = keyof typeof refusals;

export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
  readonly param: string;
}

interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string;
    readonly code: string;
  };
}

export function errorBody(refusal: Refusal): ErrorBody {
  const { type } = refusals[refusal.code];
  return {
    error: { message: refusal.message, type, param: refusal.param, code: refusal.code },
  };
}

// Generated from the OpenAPI document; see test/contract/client-types.test.ts.

/** null and [] count as absent. Unknown names are ignored and listed in the header X-Ignored-Fields; those that belong inside `metadata` or resemble a field are refused. */
export interface VideoRequest {
  /** Decides abilities and price; `GET /v1/models` lists the models of the key. */
  model: string;
  /** Not blank; at most 10,000 characters without the space around it, or the model’s own limit. Switches that would change the price (`--ratio`, `--dur` …) are refused. */
  prompt: string;
  /** A variant of the model: with `studio-2.0`, the mode `fast` means `studio-2.0-fast`, with its abilities and price. `features.modes` of a model lists its modes; another value is ignored. */
  mode?: string | null;
  /** Inferred if absent: `videos` → `reference`; two or more images → `first_last_frame`; one image, or audios alone → `reference`; nothing → `text_to_video`. */
  input_type?: "text_to_video" | "first_last_frame" | "reference" | null;
  /** Older form of `images[0]`; not together with `images`. */
  image?: string | null;
  /** At most 9 public HTTPS addresses or uploaded files (`file_…`). `first_last_frame`: the first and the last entry are those frames. */
  images?: Array<string> | null;
  /** At most 3 public HTTP(S) addresses or uploaded files. */
  videos?: Array<string> | null;
  /** At most 3 public HTTP(S) addresses or uploaded files. */
  audios?: Array<string> | null;
  /** The tier; the default is the model’s, mostly `720p`. An empty text counts as absent. A tier other than `480p`, `720p`, `1080p` and `4k` only for a model that lists it. */
  resolution?: "" | "480p" | "720p" | "1080p" | "4k" | "360p" | "512p" | "540p" | "768p" | null;
  /** Width to height; the default is the model’s, mostly `adaptive`. `3:2`, `2:3` and `9:21` only for a model that lists them. */
  ratio?: "16:9" | "4:3" | "1:1" | "3:4" | "9:16" | "21:9" | "adaptive" | "3:2" | "2:3" | "9:21" | null;
  /** Older form: a tier (`720p`) or dimensions of the model (`1280x720`, `1280*720`). Ignored if `resolution` is sent. */
  size?: string | null;
  /** Whole seconds, 4 to 15 or the model’s own `durations`; -1: the model chooses the length. The default is mostly 5. */
  duration?: number | string | null;
  /** Older form of `duration`; ignored if `duration` is sent. */
  seconds?: number | string | null;
  /** Options, as an object or as a string that contains a JSON object. */
  metadata?: VideoMetadata | string | null;
  [name: string]: unknown;
}

/** Extension options. Names not listed here are passed to the generator unchanged and listed in the header X-Passed-Fields. Refused are names that resemble a field, and those the service owns (model, content, prompt, resolution, ratio, duration, seconds, size, frames, framespersecond, input_type, mode, image, images, videos, audios, service_tier, priority, draft_task, output_format, omni_reference_task_type, output_upload_url) in any spelling. */
export interface VideoMetadata {
  /** Synchronized audio; default true, false for a silent model, which refuses true. */
  generate_audio?: boolean | null;
  /** Adds a watermark; default false. */
  watermark?: boolean | null;
  /** Preview mode, if the model has one; always 480p, another tier is refused. Default false. */
  draft?: boolean | null;
  /** Random if absent or -1. The finished task shows the seed that was used. */
  seed?: number | null;
  /** Returns the last frame of the base video as a picture in `data[0].last_frame_url`. Super-resolution does not change its size. Default false. */
  return_last_frame?: boolean | null;
  /** Seconds from acceptance until an unfinished task fails and is refunded, with its time in queues. A fraction is rounded up. Default 172800. */
  execution_expires_after?: number | null;
  /** At most 16 objects with a `type` that the model offers (`web_search`); other fields are passed on. One object counts as a list of one. */
  tools?: Array<{
    /** `web_search` turns on web search. */
    type: string;
    [name: string]: unknown;
  }> | {
    /** `web_search` turns on web search. */
    type: string;
    [name: string]: unknown;
  } | null;
  /** Chained super-resolution. `{}` is off. */
  super_resolution_config?: SuperResolutionConfig | null;
  /** Public HTTPS address for the callback when the task is final. */
  callback_url?: string | null;
  /** A hashed identifier of your user. */
  safety_identifier?: string | null;
  /** Seconds of the reference videos together, for the `estimate` of a quote. It only raises the hold, unless the operator trusts the account. No effect without `videos`. */
  input_video_duration?: number | null;
  /** Up to 16 names with texts. The task and its callback show them, lists filter by them, and the generator does not get them. */
  labels?: {
    [name: string]: string | null;
  } | null;
  [name: string]: unknown;
}

/** Chained super-resolution. `{}` is off. */
export interface SuperResolutionConfig {
  /** Target tier, above the tier of the base video. Exactly one of `resolution` and `resolution_limit`. */
  resolution?: "720p" | "1080p" | "2k" | "4k" | null;
  /** Target short side in pixels, above that of the base video; with `adaptive`, above the largest short side of the tier in `sizes`. */
  resolution_limit?: number | null;
  /** The kind of the video; it influences the enhancement. */
  scene?: "aigc" | "short_series" | "ugc" | "old_film" | null;
  /** `standard` (default) or `professional`, at ten times the price. */
  tool_version?: "standard" | "professional" | null;
  /** Frame rate; above the 24 of the base video, frames are interpolated. */
  fps?: number | null;
}

export interface Task {
  /** Public task id. */
  id: string;
  /** Equal to `id`. */
  task_id: string;
  object: "video.generation.task";
  /** `succeeded` and `failed` are final; poll every 2 to 5 seconds until one of them appears. */
  status: "pending" | "submitted" | "running" | "succeeded" | "failed";
  /** What the task is doing or waits for; of a failed task its reason. */
  message: string;
  /** The trace of the create: from its `traceparent`, otherwise a new one. */
  trace_id: string;
  /** Empty until success, then one object. */
  data: Array<VideoResult>;
  /** As it was sent. */
  model: string;
  /** Unix seconds. */
  created_at: number;
  /** As `metadata.labels` was sent; absent without labels. */
  labels?: {
    [name: string]: string;
  };
  /** Unix seconds; only when final. */
  finished_at?: number;
  /** Only while running. `storing`: the video is finished and is being copied. */
  stage?: "generation" | "super_resolution" | "storing";
  /** Equal to `data[0].url` and absent like it; with super-resolution the enhanced video. */
  video_url?: string;
  /** Seconds. */
  duration?: number;
  /** On success. `completion_tokens` at the price of the time of the create is the charge; `seconds` is measured in the file. */
  usage?: {
    completion_tokens: number;
    total_tokens: number;
    /** The measured length of the video. */
    seconds?: number;
  };
  /** Only of failed tasks, which are not charged. `provider_error`: generator or enhancer refused or failed. `task_error`: the service ended the task (expired, cancelled, out of balance). */
  error?: {
    message: string;
    /** `provider_error`: generator or enhancer refused or failed. `task_error`: decided here (expired, cancelled, out of balance). */
    code: "task_error" | "provider_error";
  };
  /** The seed that was used; absent if the generator takes none. */
  seed?: number;
  /** Once held: `held`, `charged`, `refunded` and the items of the charge, with six decimals. */
  billing?: Billing;
  /** Only when final: the seconds of each part of its life. Their sum is the whole. */
  timings?: Timings;
}

export interface VideoResult {
  /** URL of the video, at this service; it needs no key. Absent once the video is not kept any more. */
  url?: string;
  /** Only without `url`. `deleted`: by its owner. `expired`: its time is over. */
  url_gone_reason?: "deleted" | "expired" | "removed_by_operator";
  /** The last frame of the base video, if it was asked for. */
  last_frame_url?: string;
  /** Only if there was a last frame and it is not kept any more. */
  last_frame_url_gone_reason?: "deleted" | "expired" | "removed_by_operator";
  resolution?: string;
  /** Of the base video. If it was `adaptive`, the nearest one of the table. */
  ratio?: string;
  /** Pixels of the stored video, measured. */
  width?: number;
  height?: number;
  /** Unix seconds after which the links have expired. */
  expires_at?: number;
}

export interface Billing {
  currency: string;
  /** Decimal amount, six places. */
  held: string;
  /** Decimal amount, six places. */
  charged: string;
  /** Decimal amount, six places. */
  refunded: string;
  items: Array<BillingItem>;
  /** No plausible usage was reported for a line of the bill; at most what was held is charged. */
  usage_missing?: true;
}

export interface BillingItem {
  kind: "generation" | "super_resolution";
  /** Millions of tokens, or minutes; six places. */
  quantity: string;
  unit: string;
  /** Decimal amount, six places. */
  unit_price: string;
  /** Decimal amount, six places. */
  amount: string;
}

/** Seconds. A part that was not reached is absent. */
export interface Timings {
  /** From the create until its amount was held. */
  queued: number;
  /** Until a generator had it. */
  placed?: number;
  /** Until the generator had made the video. */
  generated?: number;
  /** Until its super-resolution was made. */
  enhanced?: number;
  /** Until the results were stored and the task was settled. */
  stored?: number;
}

export interface WebhookRequest {
  /** Public HTTPS address for the callback when the task is final. */
  url: string;
  events?: Array<"succeeded" | "failed" | "balance.low" | "budget.near" | "budget.reached"> | null;
}

export interface AlertRequest {
  below: string | null;
}

export interface KeyRequest {
  name?: string | null;
  models?: Array<string> | null;
  expires_at?: number | null;
}

/** Exactly these five fields. */
export interface CreatedTask {
  /** Public task id. */
  id: string;
  /** Equal to `id`. */
  task_id: string;
  object: "video.generation.task";
  /** `succeeded` and `failed` are final; poll every 2 to 5 seconds until one of them appears. */
  status: "pending" | "submitted" | "running" | "succeeded" | "failed";
  /** What the task is doing or waits for; of a failed task its reason. */
  message: string;
}

export interface ErrorBody {
  error: {
    /** For people. Of a 400 it names every fault found, one per line. */
    message: string;
    type: "invalid_request_error" | "authentication_error" | "billing_error" | "permission_error" | "not_found_error" | "rate_limit_error" | "server_error";
    /** JSON path of the first fault, for example `images[3]`; may be empty. */
    param: string;
    code: "invalid_json" | "missing_required_parameter" | "invalid_value" | "unsupported_value" | "conflicting_parameters" | "model_not_found" | "malformed_http" | "task_id_required" | "invalid_api_key" | "insufficient_balance" | "budget_exceeded" | "model_not_allowed" | "channel_not_allowed" | "account_disabled" | "key_management_not_allowed" | "task_not_found" | "file_not_found" | "webhook_not_found" | "key_not_found" | "route_not_found" | "method_not_allowed" | "request_timeout" | "callback_not_found" | "idempotency_key_reused" | "task_already_finished" | "task_not_finished" | "upload_limit_reached" | "webhook_limit_reached" | "key_limit_reached" | "file_removed" | "request_removed" | "request_too_large" | "unsupported_media_type" | "range_not_satisfiable" | "expectation_failed" | "rate_limited" | "headers_too_large" | "internal_error" | "unavailable" | "outcome_unknown";
  };
}

export interface CancelledTask {
  /** Public task id. */
  id: string;
  /** Equal to `id`. */
  task_id: string;
  object: "video.generation.task";
  /** `succeeded` and `failed` are final; poll every 2 to 5 seconds until one of them appears. */
  status: "pending" | "submitted" | "running" | "succeeded" | "failed";
  /** What the task is doing or waits for; of a failed task its reason. */
  message: string;
  /** The trace of the create: from its `traceparent`, otherwise a new one. */
  trace_id: string;
  /** Empty until success, then one object. */
  data: Array<VideoResult>;
  /** As it was sent. */
  model: string;
  /** Unix seconds. */
  created_at: number;
  /** As `metadata.labels` was sent; absent without labels. */
  labels?: {
    [name: string]: string;
  };
  /** Unix seconds; only when final. */
  finished_at?: number;
  /** Only while running. `storing`: the video is finished and is being copied. */
  stage?: "generation" | "super_resolution" | "storing";
  /** Equal to `data[0].url` and absent like it; with super-resolution the enhanced video. */
  video_url?: string;
  /** Seconds. */
  duration?: number;
  /** On success. `completion_tokens` at the price of the time of the create is the charge; `seconds` is measured in the file. */
  usage?: {
    completion_tokens: number;
    total_tokens: number;
    /** The measured length of the video. */
    seconds?: number;
  };
  /** Only of failed tasks, which are not charged. `provider_error`: generator or enhancer refused or failed. `task_error`: the service ended the task (expired, cancelled, out of balance). */
  error?: {
    message: string;
    /** `provider_error`: generator or enhancer refused or failed. `task_error`: decided here (expired, cancelled, out of balance). */
    code: "task_error" | "provider_error";
  };
  /** The seed that was used; absent if the generator takes none. */
  seed?: number;
  /** Once held: `held`, `charged`, `refunded` and the items of the charge, with six decimals. */
  billing?: Billing;
  /** Only when final: the seconds of each part of its life. Their sum is the whole. */
  timings?: Timings;
  /** The cancellation was accepted. A task that is not final yet ends soon; read on. */
  cancel_requested?: true;
}

export interface CallbackAttempt {
  attempt: number;
  /** Unix seconds. */
  at: number;
  /** HTTP status; null without an answer. */
  status: number | null;
  latency_ms: number | null;
  error: string | null;
}

export interface Quote {
  model: string;
  input_type: "text_to_video" | "first_last_frame" | "reference";
  /** Pixels of the video, after super-resolution; null if the generator decides (`adaptive`). */
  width: number | null;
  height: number | null;
  /** -1: the model picks the length. */
  duration: number;
  /** Tokens that would be held. */
  tokens: number;
  currency: string;
  /** Decimal amount, six places. */
  hold: string;
  /** What the task would cost by `input_video_duration`; present if it is sent with `videos`. */
  estimate?: string;
  items: Array<BillingItem>;
  plain_video: PlainVideo;
}

/** The most that five seconds of 720p without references cost, to compare models. */
export interface PlainVideo {
  resolution: "480p" | "720p" | "1080p" | "4k" | "360p" | "512p" | "540p" | "768p";
  ratio: "16:9" | "4:3" | "1:1" | "3:4" | "9:16" | "21:9" | "adaptive" | "3:2" | "2:3" | "9:21";
  duration: number;
  currency: string;
  /** Decimal amount, six places. */
  price: string;
  /** Decimal amount, six places. */
  price_per_second: string;
}

export interface Model {
  id: string;
  /** The day (UTC) from which the model is not sold any more. */
  retires?: string;
  /** The model to use instead. */
  replaced_by?: string;
  resolutions: Array<"480p" | "720p" | "1080p" | "4k" | "360p" | "512p" | "540p" | "768p">;
  ratios: Array<"16:9" | "4:3" | "1:1" | "3:4" | "9:16" | "21:9" | "adaptive" | "3:2" | "2:3" | "9:21">;
  /** `WxH` by tier and ratio. */
  sizes: {
    [name: string]: {
      [name: string]: string;
    };
  };
  durations: {
    min: number;
    max: number;
    /** The only lengths that the model makes; absent: all from min to max. */
    values?: Array<number>;
    /** True if -1 is accepted. */
    auto: boolean;
  };
  inputs: {
    types: Array<"text_to_video" | "first_last_frame" | "reference">;
    reference_images_max: number;
    videos_max: number;
    audios_max: number;
    audio_alone: boolean;
    middle_frames: boolean;
  };
  features: {
    audio: boolean;
    draft: boolean;
    last_frame: boolean;
    /** True if a draft can have its last frame too. */
    draft_last_frame: boolean;
    tools: Array<string>;
    tools_text_only: boolean;
    modes: Array<string>;
    super_resolution: boolean;
    prompt_chars_max: number;
  };
  defaults: {
    resolution: "480p" | "720p" | "1080p" | "4k" | "360p" | "512p" | "540p" | "768p";
    ratio: "16:9" | "4:3" | "1:1" | "3:4" | "9:16" | "21:9" | "adaptive" | "3:2" | "2:3" | "9:21";
    duration: number;
  };
  /** The first row whose conditions all hold is the price of a million tokens. */
  prices: Array<{
    resolutions?: Array<"480p" | "720p" | "1080p" | "4k" | "360p" | "512p" | "540p" | "768p">;
    input_video?: boolean;
    audio?: boolean;
    currency: string;
    /** Decimal amount, six places. */
    per_million_tokens: string;
  }>;
  plain_video: PlainVideo;
  super_resolution: {
    /** Allowed targets by base resolution. */
    targets: {
      [name: string]: Array<string>;
    };
    prices: Array<{
      resolution: string;
      fps_max: number;
      tool_version: string;
      currency: string;
      /** Decimal amount, six places. */
      per_minute: string;
    }>;
  } | null;
}

export interface Account {
  /** Decimal amount, six places. */
  available: string;
  /** Decimal amount, six places. */
  held: string;
  currency: string;
}

export interface Movement {
  number: number;
  /** Unix seconds. */
  at: number;
  kind: "hold" | "settle" | "refund" | "extra_charge" | "credit" | "correction";
  task_id: string | null;
  /** Decimal amount, six places. */
  amount: string;
  /** The change of the available balance. */
  change: string;
  /** Decimal amount, six places. */
  balance_after: string;
  currency: string;
  reason: string;
}

export interface MonthSummary {
  month: string;
  /** The days and months begin at midnight in this time zone. */
  time_zone: string;
  /** False while the month goes on. */
  complete: boolean;
  currency: string;
  /** The available and the held amount together, as the month began. */
  opening_balance: string;
  /** Decimal amount, six places. */
  credits: string;
  /** Decimal amount, six places. */
  corrections: string;
  /** Decimal amount, six places. */
  charged: string;
  /** The opening balance with credits and corrections, without what was charged. */
  closing_balance: string;
  lines: Array<SummaryLine>;
}

export interface SummaryLine {
  model: string;
  key: string;
  /** Tasks that ended. */
  tasks: number;
  /** Those of them that failed. */
  failed: number;
  /** The length of the videos. */
  seconds: number;
  /** Decimal amount, six places. */
  charged: string;
}

export interface UsageReport {
  first_day: string;
  last_day: string;
  /** The days and months begin at midnight in this time zone. */
  time_zone: string;
  currency: string;
  by: Array<"day" | "week" | "month" | "model" | "key" | "kind">;
  data: Array<Usage>;
  total: UsageTotal;
}

export interface Usage {
  day?: string;
  /** The first day of the week, a Monday. */
  week?: string;
  month?: string;
  model?: string;
  /** The id of the key. */
  key?: string;
  kind?: "generation" | "super_resolution";
  /** Tasks that ended. */
  tasks: number;
  /** Those of them that failed. */
  failed: number;
  /** The length of the videos. */
  seconds: number;
  /** Decimal amount, six places. */
  charged: string;
  /** What corrections of tasks gave back. */
  corrected: string;
}

export interface UsageTotal {
  /** Tasks that ended. */
  tasks: number;
  /** Those of them that failed. */
  failed: number;
  /** The length of the videos. */
  seconds: number;
  /** Decimal amount, six places. */
  charged: string;
  /** What corrections of tasks gave back. */
  corrected: string;
}

export interface Webhook {
  id: string;
  object: "webhook";
  url: string;
  events: Array<"succeeded" | "failed" | "balance.low" | "budget.near" | "budget.reached">;
  /** Unix seconds. */
  created_at: number;
}

export interface CreatedWebhook {
  id: string;
  object: "webhook";
  url: string;
  events: Array<"succeeded" | "failed" | "balance.low" | "budget.near" | "budget.reached">;
  /** Unix seconds. */
  created_at: number;
  /** Signs its messages; shown only once. */
  secret: string;
}

export interface WebhookTest {
  /** Unix seconds. */
  at: number;
  /** Null if the receiver did not answer. */
  status: number | null;
  /** Null if nothing was sent. */
  latency_ms: number | null;
  /** Null if the receiver took the message. */
  error: string | null;
}

export interface Callback {
  task_id: string;
  state: "pending" | "delivered" | "exhausted" | "stopped";
  /** The webhook of the account that gets the message; null if the task named an address. */
  webhook_id: string | null;
  /** Unix seconds of the last change. */
  changed_at: number;
  next_at: number | null;
  /** Null before the first. */
  last_attempt: CallbackAttempt | null;
}

export interface Alerts {
  below: string | null;
  data: Array<Alert>;
}

export interface Alert {
  id: string;
  type: "balance.low" | "budget.near" | "budget.reached";
  /** Unix seconds. */
  created_at: number;
  state: "pending" | "delivered" | "exhausted" | "stopped";
  attempts: number;
  /** What the receiver answered last. */
  status: number | null;
  error: string | null;
  data: {
    /** Decimal amount, six places. */
    available: string;
    /** Decimal amount, six places. */
    below: string;
    currency: string;
  } | {
    /** Null: the budget of the account. */
    key_id: string | null;
    period: "day" | "month" | "total";
    /** Decimal amount, six places. */
    limit: string;
    /** Decimal amount, six places. */
    spent: string;
    /** Decimal amount, six places. */
    held: string;
    currency: string;
  };
}

export interface ApiKey {
  id: string;
  object: "api_key";
  name: string;
  last_four: string;
  /** Null: all. */
  models: Array<string> | null;
  /** True if it may make and revoke keys. */
  manages_keys: boolean;
  /** The key that made it; null if the operator did. */
  made_by: string | null;
  /** Unix seconds. */
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
}

export interface CreatedApiKey {
  id: string;
  object: "api_key";
  name: string;
  last_four: string;
  /** Null: all. */
  models: Array<string> | null;
  /** True if it may make and revoke keys. */
  manages_keys: boolean;
  /** The key that made it; null if the operator did. */
  made_by: string | null;
  /** Unix seconds. */
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  /** The key itself; shown only once. */
  key: string;
}

export interface File {
  id: string;
  object: "file";
  /** This link alone gives access to the file. */
  url: string;
  kind: "image" | "video" | "audio";
  /** By the content of the file. */
  content_type: string;
  bytes: number;
  /** 64 hexadecimal digits. */
  sha256: string;
  /** As it was sent. */
  name: string | null;
  /** Seconds of a video, if its file says so. */
  duration: number | null;
  /** Unix seconds. */
  created_at: number;
  /** Unix seconds after which the file is deleted. */
  expires_at: number;
}

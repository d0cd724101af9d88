"""Generated from the OpenAPI document; see test/contract/client-types.test.ts."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

class _VideoRequestNeeded(TypedDict):
    model: str
    prompt: str

class VideoRequest(_VideoRequestNeeded, total=False):
    mode: Optional[str]
    input_type: Optional[Literal["text_to_video", "first_last_frame", "reference"]]
    image: Optional[str]
    images: Optional[List[str]]
    videos: Optional[List[str]]
    audios: Optional[List[str]]
    resolution: Optional[Literal["", "480p", "720p", "1080p", "4k", "360p", "512p", "540p", "768p"]]
    ratio: Optional[Literal["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive", "3:2", "2:3", "9:21"]]
    size: Optional[str]
    duration: Optional[Union[Literal[-1], int, str]]
    seconds: Optional[Union[Literal[-1], int, str]]
    metadata: Optional[Union[VideoMetadata, str]]

class VideoMetadata(TypedDict, total=False):
    generate_audio: Optional[bool]
    watermark: Optional[bool]
    draft: Optional[bool]
    seed: Optional[int]
    return_last_frame: Optional[bool]
    execution_expires_after: Optional[float]
    tools: Optional[Union[List[Dict[str, Any]], Dict[str, Any]]]
    super_resolution_config: Optional[SuperResolutionConfig]
    callback_url: Optional[str]
    safety_identifier: Optional[str]
    input_video_duration: Optional[float]
    labels: Optional[Dict[str, Optional[str]]]

class SuperResolutionConfig(TypedDict, total=False):
    resolution: Optional[Literal["720p", "1080p", "2k", "4k"]]
    resolution_limit: Optional[int]
    scene: Optional[Literal["aigc", "short_series", "ugc", "old_film"]]
    tool_version: Optional[Literal["standard", "professional"]]
    fps: Optional[int]

class _TaskUsageNeeded(TypedDict):
    completion_tokens: float
    total_tokens: float

class TaskUsage(_TaskUsageNeeded, total=False):
    seconds: float

class TaskError(TypedDict):
    message: str
    code: Literal["task_error", "provider_error"]

class _TaskNeeded(TypedDict):
    id: str
    task_id: str
    object: Literal["video.generation.task"]
    status: Literal["pending", "submitted", "running", "succeeded", "failed"]
    message: str
    trace_id: str
    data: List[VideoResult]
    model: str
    created_at: int

class Task(_TaskNeeded, total=False):
    labels: Dict[str, str]
    finished_at: int
    stage: Literal["generation", "super_resolution", "storing"]
    video_url: str
    duration: float
    usage: TaskUsage
    error: TaskError
    seed: float
    billing: Billing
    timings: Timings

class VideoResult(TypedDict, total=False):
    url: str
    url_gone_reason: Literal["deleted", "expired", "removed_by_operator"]
    last_frame_url: str
    last_frame_url_gone_reason: Literal["deleted", "expired", "removed_by_operator"]
    resolution: str
    ratio: str
    width: int
    height: int
    expires_at: int

class _BillingNeeded(TypedDict):
    currency: str
    held: str
    charged: str
    refunded: str
    items: List[BillingItem]

class Billing(_BillingNeeded, total=False):
    usage_missing: Literal[True]

class BillingItem(TypedDict):
    kind: Literal["generation", "super_resolution"]
    quantity: str
    unit: str
    unit_price: str
    amount: str

class _TimingsNeeded(TypedDict):
    queued: float

class Timings(_TimingsNeeded, total=False):
    placed: float
    generated: float
    enhanced: float
    stored: float

class _WebhookRequestNeeded(TypedDict):
    url: str

class WebhookRequest(_WebhookRequestNeeded, total=False):
    events: Optional[List[Literal["succeeded", "failed", "balance.low", "budget.near", "budget.reached"]]]

class AlertRequest(TypedDict):
    below: Optional[str]

class KeyRequest(TypedDict, total=False):
    name: Optional[str]
    models: Optional[List[str]]
    expires_at: Optional[int]

class CreatedTask(TypedDict):
    id: str
    task_id: str
    object: Literal["video.generation.task"]
    status: Literal["pending", "submitted", "running", "succeeded", "failed"]
    message: str

class ErrorBodyError(TypedDict):
    message: str
    type: Literal["invalid_request_error", "authentication_error", "billing_error", "permission_error", "not_found_error", "rate_limit_error", "server_error"]
    param: str
    code: Literal["invalid_json", "missing_required_parameter", "invalid_value", "unsupported_value", "conflicting_parameters", "model_not_found", "malformed_http", "task_id_required", "invalid_api_key", "insufficient_balance", "budget_exceeded", "model_not_allowed", "channel_not_allowed", "account_disabled", "key_management_not_allowed", "task_not_found", "file_not_found", "webhook_not_found", "key_not_found", "route_not_found", "method_not_allowed", "request_timeout", "callback_not_found", "idempotency_key_reused", "task_already_finished", "task_not_finished", "upload_limit_reached", "webhook_limit_reached", "key_limit_reached", "file_removed", "request_removed", "request_too_large", "unsupported_media_type", "range_not_satisfiable", "expectation_failed", "rate_limited", "headers_too_large", "internal_error", "unavailable", "outcome_unknown"]

class ErrorBody(TypedDict):
    error: ErrorBodyError

class _CancelledTaskUsageNeeded(TypedDict):
    completion_tokens: float
    total_tokens: float

class CancelledTaskUsage(_CancelledTaskUsageNeeded, total=False):
    seconds: float

class CancelledTaskError(TypedDict):
    message: str
    code: Literal["task_error", "provider_error"]

class _CancelledTaskNeeded(TypedDict):
    id: str
    task_id: str
    object: Literal["video.generation.task"]
    status: Literal["pending", "submitted", "running", "succeeded", "failed"]
    message: str
    trace_id: str
    data: List[VideoResult]
    model: str
    created_at: int

class CancelledTask(_CancelledTaskNeeded, total=False):
    labels: Dict[str, str]
    finished_at: int
    stage: Literal["generation", "super_resolution", "storing"]
    video_url: str
    duration: float
    usage: CancelledTaskUsage
    error: CancelledTaskError
    seed: float
    billing: Billing
    timings: Timings
    cancel_requested: Literal[True]

class CallbackAttempt(TypedDict):
    attempt: int
    at: int
    status: Optional[int]
    latency_ms: Optional[int]
    error: Optional[str]

class _QuoteNeeded(TypedDict):
    model: str
    input_type: Literal["text_to_video", "first_last_frame", "reference"]
    width: Optional[int]
    height: Optional[int]
    duration: int
    tokens: int
    currency: str
    hold: str
    items: List[BillingItem]
    plain_video: PlainVideo

class Quote(_QuoteNeeded, total=False):
    estimate: str

class PlainVideo(TypedDict):
    resolution: Literal["480p", "720p", "1080p", "4k", "360p", "512p", "540p", "768p"]
    ratio: Literal["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive", "3:2", "2:3", "9:21"]
    duration: int
    currency: str
    price: str
    price_per_second: str

class _ModelDurationsNeeded(TypedDict):
    min: int
    max: int
    auto: bool

class ModelDurations(_ModelDurationsNeeded, total=False):
    values: List[int]

class ModelInputs(TypedDict):
    types: List[Literal["text_to_video", "first_last_frame", "reference"]]
    reference_images_max: int
    videos_max: int
    audios_max: int
    audio_alone: bool
    middle_frames: bool

class ModelFeatures(TypedDict):
    audio: bool
    draft: bool
    last_frame: bool
    draft_last_frame: bool
    tools: List[str]
    tools_text_only: bool
    modes: List[str]
    super_resolution: bool
    prompt_chars_max: int

class ModelDefaults(TypedDict):
    resolution: Literal["480p", "720p", "1080p", "4k", "360p", "512p", "540p", "768p"]
    ratio: Literal["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive", "3:2", "2:3", "9:21"]
    duration: int

class _ModelPricesNeeded(TypedDict):
    currency: str
    per_million_tokens: str

class ModelPrices(_ModelPricesNeeded, total=False):
    resolutions: List[Literal["480p", "720p", "1080p", "4k", "360p", "512p", "540p", "768p"]]
    input_video: bool
    audio: bool

class ModelSuperResolutionPrices(TypedDict):
    resolution: str
    fps_max: int
    tool_version: str
    currency: str
    per_minute: str

class ModelSuperResolution(TypedDict):
    targets: Dict[str, List[str]]
    prices: List[ModelSuperResolutionPrices]

class _ModelNeeded(TypedDict):
    id: str
    resolutions: List[Literal["480p", "720p", "1080p", "4k", "360p", "512p", "540p", "768p"]]
    ratios: List[Literal["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive", "3:2", "2:3", "9:21"]]
    sizes: Dict[str, Dict[str, str]]
    durations: ModelDurations
    inputs: ModelInputs
    features: ModelFeatures
    defaults: ModelDefaults
    prices: List[ModelPrices]
    plain_video: PlainVideo
    super_resolution: Optional[ModelSuperResolution]

class Model(_ModelNeeded, total=False):
    retires: str
    replaced_by: str

class Account(TypedDict):
    available: str
    held: str
    currency: str

class Movement(TypedDict):
    number: int
    at: int
    kind: Literal["hold", "settle", "refund", "extra_charge", "credit", "correction"]
    task_id: Optional[str]
    amount: str
    change: str
    balance_after: str
    currency: str
    reason: str

class MonthSummary(TypedDict):
    month: str
    time_zone: str
    complete: bool
    currency: str
    opening_balance: str
    credits: str
    corrections: str
    charged: str
    closing_balance: str
    lines: List[SummaryLine]

class SummaryLine(TypedDict):
    model: str
    key: str
    tasks: int
    failed: int
    seconds: float
    charged: str

class UsageReport(TypedDict):
    first_day: str
    last_day: str
    time_zone: str
    currency: str
    by: List[Literal["day", "week", "month", "model", "key", "kind"]]
    data: List[Usage]
    total: UsageTotal

class _UsageNeeded(TypedDict):
    tasks: int
    failed: int
    seconds: float
    charged: str
    corrected: str

class Usage(_UsageNeeded, total=False):
    day: str
    week: str
    month: str
    model: str
    key: str
    kind: Literal["generation", "super_resolution"]

class UsageTotal(TypedDict):
    tasks: int
    failed: int
    seconds: float
    charged: str
    corrected: str

class Webhook(TypedDict):
    id: str
    object: Literal["webhook"]
    url: str
    events: List[Literal["succeeded", "failed", "balance.low", "budget.near", "budget.reached"]]
    created_at: int

class CreatedWebhook(TypedDict):
    id: str
    object: Literal["webhook"]
    url: str
    events: List[Literal["succeeded", "failed", "balance.low", "budget.near", "budget.reached"]]
    created_at: int
    secret: str

class WebhookTest(TypedDict):
    at: int
    status: Optional[int]
    latency_ms: Optional[int]
    error: Optional[str]

class Callback(TypedDict):
    task_id: str
    state: Literal["pending", "delivered", "exhausted", "stopped"]
    webhook_id: Optional[str]
    changed_at: int
    next_at: Optional[int]
    last_attempt: Optional[CallbackAttempt]

class Alerts(TypedDict):
    below: Optional[str]
    data: List[Alert]

class AlertData(TypedDict):
    available: str
    below: str
    currency: str

class AlertData2(TypedDict):
    key_id: Optional[str]
    period: Literal["day", "month", "total"]
    limit: str
    spent: str
    held: str
    currency: str

class Alert(TypedDict):
    id: str
    type: Literal["balance.low", "budget.near", "budget.reached"]
    created_at: int
    state: Literal["pending", "delivered", "exhausted", "stopped"]
    attempts: int
    status: Optional[int]
    error: Optional[str]
    data: Union[AlertData, AlertData2]

class ApiKey(TypedDict):
    id: str
    object: Literal["api_key"]
    name: str
    last_four: str
    models: Optional[List[str]]
    manages_keys: bool
    made_by: Optional[str]
    created_at: int
    expires_at: Optional[int]
    revoked_at: Optional[int]

class CreatedApiKey(TypedDict):
    id: str
    object: Literal["api_key"]
    name: str
    last_four: str
    models: Optional[List[str]]
    manages_keys: bool
    made_by: Optional[str]
    created_at: int
    expires_at: Optional[int]
    revoked_at: Optional[int]
    key: str

class File(TypedDict):
    id: str
    object: Literal["file"]
    url: str
    kind: Literal["image", "video", "audio"]
    content_type: str
    bytes: int
    sha256: str
    name: Optional[str]
    duration: Optional[float]
    created_at: int
    expires_at: int

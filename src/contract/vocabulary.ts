// The fixed sets of values in the public API, such as the statuses of a task. Types are derived
// from these constants. This file imports nothing, so that the workflow sandbox can load it.

export const taskStatuses = ['pending', 'submitted', 'running', 'succeeded', 'failed'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

export const stages = ['generation', 'super_resolution', 'storing'] as const;
export type Stage = (typeof stages)[number];

export const callbackStates = ['pending', 'delivered', 'exhausted', 'stopped'] as const;
export type CallbackState = (typeof callbackStates)[number];

export const budgetPeriods = ['day', 'month', 'total'] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

export const inputTypes = ['text_to_video', 'first_last_frame', 'reference'] as const;
export type InputType = (typeof inputTypes)[number];

/** The tiers of the API document. A model of the catalogue may have further ones. */
export const contractResolutions = ['480p', '720p', '1080p', '4k'] as const;
export const resolutions = [...contractResolutions, '360p', '512p', '540p', '768p'] as const;
export type Resolution = (typeof resolutions)[number];

/** The ratios of the API document. A model of the catalogue may have further ones. */
export const contractRatios = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive'] as const;
export const ratios = [...contractRatios, '3:2', '2:3', '9:21'] as const;
export type Ratio = (typeof ratios)[number];
export type FixedRatio = Exclude<Ratio, 'adaptive'>;

/** The lengths of the API document, in seconds. A model without lengths of its own has these. */
export const contractSeconds = { min: 4, max: 15 } as const;
export const contractSeedMax = 4_294_967_295;
/** The largest length that a model of the catalogue may have. */
export const secondsMax = 600;

export const enhancedResolutions = ['720p', '1080p', '2k', '4k'] as const;
export type EnhancedResolution = (typeof enhancedResolutions)[number];

export const scenes = ['aigc', 'short_series', 'ugc', 'old_film'] as const;
export type Scene = (typeof scenes)[number];

export const toolVersions = ['standard', 'professional'] as const;
export type ToolVersion = (typeof toolVersions)[number];

/** The reasons why a result has no link any more. */
export const goneReasons = ['deleted', 'expired', 'removed_by_operator'] as const;
export type GoneReason = (typeof goneReasons)[number];

export const taskErrorCodes = ['task_error', 'provider_error'] as const;

export const billingKinds = ['generation', 'super_resolution'] as const;
export type BillingKind = (typeof billingKinds)[number];

export const movementKinds = [
  'hold',
  'settle',
  'refund',
  'extra_charge',
  'credit',
  'correction',
] as const;
export type MovementKind = (typeof movementKinds)[number];

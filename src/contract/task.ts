// The task object: the reply of GET, the body of a callback, and the stored form of a finished
// task. It is made by domain/task.ts only and used unchanged everywhere.

import type { Labels } from './request';
import type {
  BillingKind,
  GoneReason,
  OutputUploadStatus,
  Stage,
  TaskErrorCode,
  TaskStatus,
} from './vocabulary';

export interface TaskObject {
  readonly id: string;
  readonly task_id: string;
  readonly object: 'video.generation.task';
  readonly status: TaskStatus;
  readonly message: string;
  readonly trace_id: string;
  readonly data: readonly VideoResult[];
  readonly model: string;
  readonly created_at: number;
  readonly labels?: Labels;
  readonly stage?: Stage;
  readonly finished_at?: number;
  readonly video_url?: string;
  readonly duration?: number;
  readonly usage?: TokenUsage;
  readonly error?: TaskError;
  readonly seed?: number;
  readonly billing?: Billing;
  readonly output_upload?: OutputUpload;
}

/** A result that is not kept any more has a reason in place of its link. */
export interface VideoResult {
  readonly url?: string;
  readonly url_gone_reason?: GoneReason;
  readonly last_frame_url?: string;
  readonly last_frame_url_gone_reason?: GoneReason;
  readonly resolution?: string;
  readonly ratio?: string;
  readonly width?: number;
  readonly height?: number;
  readonly expires_at?: number;
}

/** The upload of the video to the caller's `output_upload_url`. */
export interface OutputUpload {
  readonly status: OutputUploadStatus;
  readonly error?: string;
}

export interface TokenUsage {
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

export interface TaskError {
  readonly message: string;
  readonly code: TaskErrorCode;
}

/** Money as decimal strings with six places. */
export interface Billing {
  readonly currency: string;
  readonly held: string;
  readonly charged: string;
  readonly refunded: string;
  readonly items: readonly BillingItem[];
  readonly usage_missing?: true;
}

interface BillingItem {
  readonly kind: BillingKind;
  readonly quantity: string;
  readonly unit: string;
  readonly unit_price: string;
  readonly amount: string;
}

/** The five fields of a create's reply, and no others. */
export type CreatedTask = Pick<TaskObject, 'id' | 'task_id' | 'object' | 'status' | 'message'>;

// The create request after parsing, with defaults. Compatibility fields are already turned into the
// current fields: `image` → `images`, `seconds` → `duration`, a metadata string → an object.

import type {
  EnhancedResolution,
  InputType,
  Ratio,
  Resolution,
  Scene,
  ToolVersion,
} from './vocabulary';

export interface VideoRequest {
  readonly model: string;
  readonly prompt: string;
  readonly mode?: string;
  readonly input_type?: InputType;
  readonly images: readonly string[];
  readonly videos: readonly string[];
  readonly audios: readonly string[];
  readonly resolution?: Resolution;
  readonly ratio?: Ratio;
  readonly size?: string;
  readonly duration?: number;
  readonly metadata: VideoMetadata;
}

export interface VideoMetadata {
  readonly generate_audio?: boolean;
  readonly watermark: boolean;
  readonly draft: boolean;
  readonly seed?: number;
  readonly return_last_frame: boolean;
  readonly execution_expires_after: number;
  readonly tools?: readonly Tool[];
  readonly super_resolution_config?: SuperResolutionConfig;
  readonly callback_url?: string;
  readonly safety_identifier?: string;
  readonly input_video_duration?: number;
  readonly labels?: Labels;
  /** Options that the service does not know. They are passed to the generator unchanged. */
  readonly passThrough: Readonly<Record<string, unknown>>;
}

/** The caller's own labels, by name. */
export type Labels = Readonly<Record<string, string>>;

export interface Tool {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface SuperResolutionConfig {
  readonly resolution?: EnhancedResolution;
  readonly resolution_limit?: number;
  readonly scene?: Scene;
  readonly tool_version: ToolVersion;
  readonly fps?: number;
}

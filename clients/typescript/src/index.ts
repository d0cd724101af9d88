// The client of the video generation service. It needs fetch and WebCrypto, and nothing else.

export type * from './api-types.ts';
export { type VerifyOptions, verifyCallback } from './callbacks.ts';
export {
  type CallOptions,
  type CreateAndWaitOptions,
  type CreateOptions,
  isFinal,
  type ListOptions,
  type UploadOptions,
  VideoClient,
  type WaitOptions,
} from './client.ts';
export { VideoError } from './error.ts';
export type { ClientOptions } from './transport.ts';

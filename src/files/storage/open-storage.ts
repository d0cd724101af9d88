// Opens the storage that the settings choose: a bucket if S3_BUCKET is set, otherwise a folder.

import { directory } from './directory';
import { createS3 } from './s3';
import type { Storage } from './storage';

export interface StorageSettings {
  readonly storageDir: string;
  /** If the bucket is set, the other S3 settings are set too. */
  readonly s3Bucket: string | null;
  readonly s3Endpoint: string | null;
  readonly s3Region: string;
  readonly s3AccessKeyId: string | null;
  readonly s3SecretAccessKey: string | null;
  readonly s3PathStyle: boolean;
}

/** Creates nothing: `prepareStorage` creates the folder when the first process starts. */
export function openStorage(settings: StorageSettings): Storage {
  if (settings.s3Bucket === null) return directory(settings.storageDir);
  const bucket = {
    bucket: settings.s3Bucket,
    endpoint: settings.s3Endpoint ?? '',
    region: settings.s3Region,
    accessKeyId: settings.s3AccessKeyId ?? '',
    secretAccessKey: settings.s3SecretAccessKey ?? '',
    pathStyle: settings.s3PathStyle,
  };
  return createS3(bucket, settings.storageDir);
}

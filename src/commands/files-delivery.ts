// A check of the setting FILES_DELIVERY.

import type { Config } from '../config/config';
import { isReachable } from '../files/file-link.rules';

/**
 * Returns a warning for the log at the start if FILES_DELIVERY=redirect has no effect, or if
 * callers may be unable to reach the storage. Otherwise returns null.
 */
export function whyUnreachable(config: Config): string | null {
  const { filesDelivery, s3Bucket, s3Endpoint, dangerouslyAllowProviderHosts } = config;
  if (filesDelivery !== 'redirect') return null;
  if (s3Bucket === null) {
    return 'FILES_DELIVERY is redirect, but S3_BUCKET is not set: the API sends the bytes of files itself.';
  }
  if (isReachable(s3Endpoint ?? '', dangerouslyAllowProviderHosts)) return null;
  return (
    `FILES_DELIVERY is redirect, so links to files lead to S3_ENDPOINT, but ${s3Endpoint} is no public https ` +
    'address. If callers cannot reach it, set FILES_DELIVERY=proxy.'
  );
}

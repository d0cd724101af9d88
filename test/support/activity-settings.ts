// The settings of the activities in tests.

import type { ActivitySettings } from '../../activities/deps';

export const activitySettings: ActivitySettings = {
  publicUrl: 'http://localhost',
  dangerouslyAllowHosts: [],
  dangerouslyAllowProviderHosts: [],
  callbacksPerHostMax: 10,
  copiesAtOnceMax: 20,
  filesKeptDays: 30,
  tasksKeptDays: 400,
  reportsTimeZone: 'UTC',
};

/** For a worker that does not stop. */
export const stopping = new AbortController().signal;

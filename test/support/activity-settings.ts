// The settings of the activities in tests.

import type { ActivitySettings } from '../../activities/deps';

export const activitySettings: ActivitySettings = {
  publicUrl: 'http://localhost',
  callbackHosts: [],
  providerHosts: [],
  callbacksPerHostMax: 10,
  filesKeptDays: 30,
  tasksKeptDays: 400,
  jobGoneAfterSeconds: 3_600,
  unknownPercentMax: 20,
};

// The one file the worker bundles. The names are recorded in histories; add, never rename.

export { deliverCallback } from './deliver-callback';
export { generateVideo } from './generate-video';
export { reconcile } from './reconcile';
export { watchChannel } from './watch-channel';

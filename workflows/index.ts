// The entry file of the workflow bundle. Histories record these names: names may be added, but
// never changed.

export { deliverCallback } from './deliver-callback';
export { generateVideo } from './generate-video';
export { audit, reconcile, usage, watchChannel } from './loops';

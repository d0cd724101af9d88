// The entry file of the workflow bundle. The names are recorded in histories; add, never rename.

export { deliverCallback } from './deliver-callback';
export { generateVideo } from './generate-video';
export { audit, reconcile, watchChannel } from './loops';
export { storeLater } from './store-later';

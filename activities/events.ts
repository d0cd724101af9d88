// What activities tell the outside about themselves, as calls: counters and log lines are attached where the process is
// put together. Nothing here carries a prompt or a URL.

export interface ActivityEvents {
  upstream(
    channel: string,
    operation: 'create' | 'read' | 'list' | 'cancel',
    outcome: string,
    ms: number,
    code?: string,
  ): void;
  lostJobFound(channel: string, taskId: string, upstreamId: string): void;
  lostJobUnresolved(channel: string, taskId: string, why: string): void;
  unknownStatus(channel: string, word: string): void;
  watchRound(channel: string, open: number, changed: number, ms: number): void;
  cancelGivenUp(taskId: string, kind: string, why: string): void;
  taskClosed(model: string, status: string, seconds: number, usageMissing: boolean): void;
  finding(kind: 'closed' | 'stopped' | 'stuck' | 'unwatched', taskId: string, why: string): void;
  audited(differences: number): void;
}

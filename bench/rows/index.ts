// The table's rows in the order they are measured: what leaves much behind comes last.

import type { Row } from '../row';
import { admissionRow } from './admission';
import { auditRow } from './audit';
import { createRow } from './create';
import { crowdRow } from './crowd';
import { historyRow } from './history';
import { ledgerRow } from './ledger';
import { liveRow } from './live';
import { memoryRow } from './memory';
import { pairsRow } from './pairs';
import { peerRow } from './peer';
import { readRow } from './read';
import { refusedRow } from './refused';
import { startsRow } from './starts';
import { waitingRow } from './waiting';
import { watcherRow } from './watcher';
import { wholeRow } from './whole';

export const rows: readonly Row[] = [
  createRow,
  refusedRow,
  readRow,
  liveRow,
  wholeRow,
  pairsRow,
  admissionRow,
  peerRow,
  historyRow,
  startsRow,
  ledgerRow,
  auditRow,
  memoryRow,
  watcherRow,
  crowdRow,
  waitingRow,
];

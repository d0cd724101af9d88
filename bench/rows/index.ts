// The rows in the order of measurement. Rows that leave much data in the database come late.

import type { Row } from '../row';
import { auditRow } from './audit';
import { awayRow } from './away';
import { clusterRow, shardsRow } from './cluster';
import { createRow } from './create';
import { crowdRow } from './crowd';
import { endsRow } from './ends';
import { fileRows } from './files';
import { floodRow } from './flood';
import { ledgerRow } from './ledger';
import { listsRow } from './lists';
import { liveRow } from './live';
import { pairsRow } from './pairs';
import { readRow } from './read';
import { refusedRow } from './refused';
import { retentionRow } from './retention';
import { shapesRow } from './shapes';
import { waitingRow } from './waiting';
import { watcherRow } from './watcher';
import { wholeRow } from './whole';
import { writesRow } from './writes';

export const rows: readonly Row[] = [
  createRow,
  writesRow,
  refusedRow,
  readRow,
  liveRow,
  shapesRow,
  wholeRow,
  pairsRow,
  ledgerRow,
  auditRow,
  retentionRow,
  listsRow,
  ...fileRows,
  endsRow,
  watcherRow,
  crowdRow,
  awayRow,
  floodRow,
  waitingRow,
  clusterRow,
  shardsRow,
];

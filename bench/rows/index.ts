// The rows in the order of measurement. Rows that leave much data in the database come late.

import type { Row } from '../row';
import { auditRow } from './audit';
import { burstRow } from './burst';
import { createRow } from './create';
import { endsRow } from './ends';
import { listsRow } from './lists';
import { readyRow } from './ready';
import { startsRow } from './starts';
import { taskRow } from './task';
import { waitingRow } from './waiting';

export const rows: readonly Row[] = [
  createRow,
  startsRow,
  taskRow,
  readyRow,
  auditRow,
  listsRow,
  endsRow,
  waitingRow,
  burstRow,
];

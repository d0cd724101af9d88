// The table's rows in the order they are measured: what leaves much behind comes last.

import type { Row } from '../row';
import { auditRow } from './audit';
import { createRow } from './create';
import { ledgerRow } from './ledger';
import { readRow } from './read';
import { refusedRow } from './refused';

export const rows: readonly Row[] = [createRow, refusedRow, readRow, ledgerRow, auditRow];

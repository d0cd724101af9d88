// The table's rows in the order they are measured: what leaves much behind comes last.

import type { Row } from '../row';
import { createRow } from './create';
import { readRow } from './read';
import { refusedRow } from './refused';

export const rows: readonly Row[] = [createRow, refusedRow, readRow];

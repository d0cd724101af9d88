// Thirty kills during creates.

import { testKillsInTurn } from '../chaos/kills-in-turn';

testKillsInTurn({ kills: 30, creates: 24 });

// A larger size of the test that kills one process after another: 30 kills with 24 creates each.

import { testKillsInTurn } from '../chaos/kills-in-turn';

testKillsInTurn({ kills: 30, creates: 24 });

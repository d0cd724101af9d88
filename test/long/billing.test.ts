// Every row of the table at fifty seeds: more than sixteen hundred tasks, each with a plan of its
// own.

import { testDrawnCharges, testDrawnRefunds } from '../activities/drawn-charges';
import { useRealDoors } from '../support/real-doors';

const doors = useRealDoors();

testDrawnCharges(doors, { seeds: 50 });
testDrawnRefunds(doors, { seeds: 50 });

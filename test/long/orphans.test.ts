// Five hundred that ended in each of the three ways; then five hundred that the engine has lost,
// which is more than one sweep looks at.

import { testOrphans } from '../activities/orphans';
import { useRealDoors } from '../support/real-doors';

const doors = useRealDoors();

testOrphans(doors, { terminated: 170, unsettled: 170, lost: 160, minutes: 15 });
testOrphans(doors, { terminated: 0, unsettled: 0, lost: 500, minutes: 15 });

// Tests the order of the roles.

import { includes, operatorRoles } from '../../src/operators/roles.rules';

test.each([
  ['viewer', ['viewer']],
  ['operator', ['viewer', 'operator']],
  ['owner', ['viewer', 'operator', 'owner']],
] as const)('the role %s includes %p', (role, included) => {
  expect(operatorRoles.filter((needed) => includes(role, needed))).toEqual(included);
});

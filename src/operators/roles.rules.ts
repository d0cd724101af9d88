// The roles of operators. Each role may do everything that the roles before it may do. The server
// checks the role of each call; a page only hides what would be refused.

export const operatorRoles = ['viewer', 'operator', 'owner'] as const;
export type OperatorRole = (typeof operatorRoles)[number];

/** True if the role may do what needs the role `needed`. */
export function includes(role: OperatorRole, needed: OperatorRole): boolean {
  return operatorRoles.indexOf(role) >= operatorRoles.indexOf(needed);
}

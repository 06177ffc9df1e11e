import type { User } from '../cluster.ts';

/** The user of a transport or a token that names none (SR-5). */
export const ADMINISTRATOR: User = Object.freeze({
  name: 'system:admin',
  groups: Object.freeze(['system:masters', 'system:authenticated']),
});

/** Scenarios without an operator: what they try is the server, and the controllers that belong to it. */

import type { Scenario } from '../rollouts.ts';
import { collection } from './collection.ts';
import { customResources } from './custom-resources.ts';
import { discovery } from './discovery.ts';
import { disruption } from './disruption.ts';
import { lists } from './lists.ts';
import { statefulSets } from './statefulsets.ts';
import { watches } from './watches.ts';

/** All of them, keyed by a sentence; each starts in an empty namespace. */
export const ofTheServer: Readonly<Record<string, Scenario>> = {
  ...discovery,
  ...statefulSets,
  ...disruption,
  ...collection,
  ...customResources,
  ...lists,
  ...watches,
};

import { otherStories } from './other-stories.ts';
import {
  budgeted,
  limitedClient,
  mirroredBesideAnother,
  mirroredRollout,
  reference,
  type Scenario,
  slowDeletions,
  threeZones,
  twoGroups,
} from './scenario.ts';

/** The stories of `npm run do sweep`; {@link reference} is the one of `npm test`. */
export const scenarios: readonly Scenario[] = [
  reference,
  threeZones,
  slowDeletions,
  limitedClient,
  twoGroups,
  budgeted,
  mirroredRollout,
  mirroredBesideAnother,
  ...otherStories(),
];

import { type Millis, minutes } from './units.ts';

/** What is said in other words is reported again after this time at the earliest. */
export const changedAfter: Millis = minutes(1);
/** What lasts is reported again after this time, although nothing of it changed: a late reader finds it, too. */
export const unchangedAfter: Millis = minutes(10);

import type { StatefulSetView } from '../view.ts';

/** Returns a clause that says who wrote the update strategy of a set; empty where the set does not say. */
export function strategyWriterText({ writers }: Pick<StatefulSetView, 'writers'>): string {
  return writers?.strategy === undefined ? '' : `, which "${writers.strategy}" has written`;
}

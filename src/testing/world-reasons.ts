import type { ReasonPredicate } from './reasons.ts';

/**
 * The reasons of the operator's catalogue that the judge does not know by itself, as predicates over the truth
 * (LIVE-2). Those about the operator's own view or its requests cannot be refuted from the state of the cluster; a
 * run in which one of them lasts does not end, and LIVE-1 tells.
 */
export const worldReasons: Readonly<Record<string, ReasonPredicate>> = {
  ZoneOrder: (zones) => zones.some(({ outdated }) => outdated.length > 0),
  AwaitingPredecessor: (zones) => zones.some(({ outdated }) => outdated.length > 0),
  AwaitingAnswer: (zones) => zones.some(({ outdated }) => outdated.length > 0),
  ViewNotFresh: () => true,
  RequestRefused: () => true,
};

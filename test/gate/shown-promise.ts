/** What keeps promises by code of its own. */
export const kinds = [
  'rollout-group',
  'replica-coordination',
  'zone-aware-update',
  'phased-rollout',
  'statefulset-rollout',
  'zone-aware-pod-disruption-budget',
  'zone-disruption-budget',
  'admission',
] as const;

/** One of {@link kinds}; `admission` is the webhooks of scale-downs, and what all webhooks have in common. */
export type Kind = (typeof kinds)[number];

/** A test on a real control plane. */
export interface RealTest {
  /** The file that the real lane runs, from the root of the checkout. */
  readonly file: string;
  /** Title of the test, or the key of the table of scenarios that it runs. */
  readonly title: string;
}

/** How one promise is shown. */
export interface ShownPromise {
  /** Planted bugs by kind: names of `test/mutants/<name>.patch`. The gate plants each. */
  readonly bugs: Partial<Readonly<Record<Kind, string>>>;
  /** Why a kind has no planted bug: one true sentence. */
  readonly none: Partial<Readonly<Record<Kind, string>>>;
  /** The tests on a real control plane that would fail without it. */
  readonly real: readonly RealTest[];
}

/** How one of the methods is applied that show promises. */
export interface ShownMethod {
  /** A planted bug that the method catches; undefined where none is planted for it. */
  readonly bug: string | undefined;
  /** The command, or the file of tests, that applies it. */
  readonly by: string;
}

/** A promise that nothing shows for one kind, or on a real control plane. */
export interface OpenCell {
  readonly promise: string;
  readonly kind: Kind | 'real';
  /** What is missing. */
  readonly why: string;
}

/** Gives `reason` for each of the kinds `of`. */
export function because(
  reason: string,
  ...of: readonly Kind[]
): Partial<Readonly<Record<Kind, string>>> {
  return Object.fromEntries(of.map((kind) => [kind, reason]));
}

/** Why a promise means nothing to a kind, where several promises mean nothing to it for the same reason. */
export const reasons = Object.freeze({
  noZones: 'A StatefulsetRollout is about one set, and knows of no zones that exclude one another.',
  noLimit:
    'A scale-down takes its pods for good: they count for the order of zones, and against no limit of pods that are away.',
  anyNumber: 'The webhooks of scale-downs let a set shrink or not, by whatever number of pods.',
  namesNoPod: 'It has sets shrink, and names no pod that is to go.',
  noRevisions: 'Scale-downs and evictions are not about revisions.',
  noBudget:
    'The webhooks of scale-downs give away no part of a budget: claims let one zone of a group go at a time.',
  nobodyAsks: 'Nobody asks it for a pod, and it has no dry run.',
  anyReplica:
    'Every replica answers these reviews, whichever of them leads; claims that are written by compare-and-swap put them in order.',
  noChecks: 'Nobody can ask it for checks between its steps.',
  rollsNothing: 'It rolls nothing out.',
  noReplicas: 'It writes no number of replicas.',
  noWebhook: 'No webhook reviews it.',
  noEvictor: 'It answers no evictions.',
  answersOnly: 'A webhook brings nothing to an end: it answers what others ask.',
});

import { type Millis, type Monotonic, seconds } from '#base/units.ts';
import type { Freshness } from '#kubernetes/freshness.ts';

/** The greatest age of a view that a disruptive request may rest on (reliability.md §2, `A`; D-3). */
export const maxDecisionAge: Millis = seconds(10);

/** What a view of one resource type shows, and since when it is proven to. */
export interface TypeBasis {
  /** Everything up to this revision is in the view; for lists of several sets, one revision a set. */
  readonly view: string | Readonly<Record<string, string>>;
  /** The revision that a request of ours proved to be current at `provenAt` or later. */
  readonly proof: string;
  /** When the proving request was sent. */
  readonly provenAt: Monotonic;
}

/** What a plan rests on: as old as the older of the two (D-3). */
export interface Basis {
  readonly pods: TypeBasis;
  readonly statefulSets: TypeBasis;
}

/** The basis of a view that was read from two caches; undefined while one of them is not proven at all. */
export function basisOfCaches(pods: Freshness, statefulSets: Freshness): Basis | undefined {
  const podBasis = typeBasis(pods);
  const setBasis = typeBasis(statefulSets);
  return podBasis === undefined || setBasis === undefined
    ? undefined
    : { pods: podBasis, statefulSets: setBasis };
}

function typeBasis(freshness: Freshness): TypeBasis | undefined {
  const { proof, seen } = freshness;
  return proof === undefined || seen === undefined
    ? undefined
    : { view: seen, proof: proof.revision, provenAt: proof.sentAt };
}

/** The age of `basis` at `now`: that of its older part. */
export function ageOf(basis: Basis, now: Monotonic): number {
  return now - Math.min(basis.pods.provenAt, basis.statefulSets.provenAt);
}

/** Whether a disruptive request may still be sent on `basis` at `now`. */
export function isFresh(basis: Basis, now: Monotonic): boolean {
  return ageOf(basis, now) <= maxDecisionAge;
}

/** Thrown just before a request is sent when what it rests on has become too old: nothing was sent. */
export class StaleBasisError extends Error {
  override readonly name = 'StaleBasisError';

  constructor(age: number) {
    super(
      `Cannot send a disruptive request as the view that it rests on is ${Math.round(age)} ms old: at most ${maxDecisionAge} ms are allowed`,
    );
  }
}

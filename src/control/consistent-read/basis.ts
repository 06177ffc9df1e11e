import { type Millis, type Monotonic, monotonic, seconds } from '#base/units.ts';
import type { Freshness } from '#kubernetes/informer/freshness.ts';
import type { ProvenBudgets } from '../budget/budget-sight.ts';

/** The greatest age of a view that a disruptive request may rest on (`A` in docs/rules/words.md; D-3). */
export const maxDecisionAge: Millis = seconds(10);

/** Revisions of objects, by name. */
export type Newer = Readonly<Record<string, string>>;

/** What a view of one resource type shows, and since when it is proven to. */
export interface TypeBasis {
  /** Everything up to this revision is in the view; for lists of several sets, one revision a set. */
  readonly view: string | Readonly<Record<string, string>>;
  /** Objects whose newer state in a cache was laid over a list, by name, with the revision of each. */
  readonly newer?: Newer;
  /** The revision that a request of ours proved to be current at `provenAt` or later. */
  readonly proof: string;
  /** When the proving request was sent. */
  readonly provenAt: Monotonic;
}

/** By what a view of sets and pods is proven; undefined where it is not. */
export interface SetProof {
  readonly pods: TypeBasis | undefined;
  readonly statefulSets: TypeBasis | undefined;
}

/** What a plan rests on: as old as the oldest of its types (D-3, D-51). */
export interface Basis {
  readonly pods: TypeBasis;
  readonly statefulSets: TypeBasis;
  readonly budgets: ProvenBudgets;
  /** The term of the Lease in which it is acted on; absent where there is no Lease. */
  readonly term?: string;
}

/** Returns the basis of what `freshness` describes; undefined while that is not proven at all. */
export function typeBasis({ proof, seen }: Freshness): TypeBasis | undefined {
  return proof === undefined || seen === undefined
    ? undefined
    : { view: seen, proof: proof.revision, provenAt: proof.sentAt };
}

/** Returns when the oldest part of `basis` was proven. */
function provenAtOf({ pods, statefulSets, budgets }: Basis): Monotonic {
  const sets = Math.min(pods.provenAt, statefulSets.provenAt);
  return monotonic(budgets.kind === 'proven' ? Math.min(sets, budgets.provenAt) : sets);
}

/** Returns the age of `basis` at `now`, in milliseconds. */
export function ageOf(basis: Basis, now: Monotonic): number {
  return now - provenAtOf(basis);
}

/** Thrown just before a request is sent when what it rests on has become too old: nothing was sent. */
export class StaleBasisError extends Error {
  override readonly name = 'StaleBasisError';

  constructor(age: number) {
    const seen = Number.isFinite(age) ? `${Math.round(age)} ms old` : 'not proven';
    super(
      `Cannot send a disruptive request as the view that it rests on is ${seen}: at most ${maxDecisionAge} ms are allowed`,
    );
  }
}

/** The view that something would rest on could not be read in the time there is: the caller asks again later. */
export class ViewNotReadError extends Error {
  override readonly name = 'ViewNotReadError';

  /** @param view what is not known, such as `the pods of namespace "demo" are` */
  constructor(view: string, patience: Millis) {
    super(`Cannot tell how ${view}: the API server has not answered for ${patience / 1_000} s`);
  }
}

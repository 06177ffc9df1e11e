import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json.ts';
import { type Instant, seconds } from '#base/units.ts';
import type { Call } from '#cluster/event-log.ts';
import type { Asker } from '../history/budget-facts.ts';
import { ledgerPrefix } from '../history/ledger-facts.ts';
import { textAt } from '../objects/json-path.ts';
import { type Group, ingesterGroup, type RawPodOptions } from '../objects/objects.ts';
import type { JudgeOptions } from './chosen-invariants.ts';
import { judge } from './judge.ts';
import { Story } from './story.ts';
import { operatorUser } from './story-operator.ts';

const type = 'zoneawarepoddisruptionbudgets.rollout-operator.grafana.com';
const labels = { app: 'ingester' };

interface StoredClaim {
  readonly by: Asker;
  readonly at: Instant;
  readonly term: string;
}

interface StoredReservation {
  readonly uid: string;
  readonly pod: string;
  readonly claims: readonly StoredClaim[];
}

/** How a ledger is written. */
export interface LedgerWrite {
  /** @default rollout */
  readonly by?: Asker;
  /** @default `1` */
  readonly term?: string;
  /** @default the operator */
  readonly user?: string;
  /** What is said of the call besides. */
  readonly call?: Partial<Call>;
}

/** Returns a group in which the sets and the pods have the label `app: ingester`; all outdated. */
function labelled(): Group {
  const { sets, pods } = ingesterGroup({ currentRevision: 'prev-hash' });
  const withLabel = (object: JsonObject): JsonObject => {
    const metadata = object['metadata'] as JsonObject;
    const own = metadata['labels'] as JsonObject;
    return { ...object, metadata: { ...metadata, labels: { ...own, ...labels } } };
  };
  return { sets: sets.map(withLabel), pods: pods.map(withLabel) };
}

/** A story with a budget `zpdb` over all of the group, and its ledger. */
export class BudgetStory extends Story {
  readonly #given = new Map<string, StoredReservation>();

  constructor() {
    super(labelled());
  }

  override create(name: string, options: RawPodOptions = {}): this {
    return super.create(name, { labels, ...options });
  }

  /** Has a user make or change a budget. */
  budget(spec: JsonObject, name = 'zpdb'): this {
    const metadata = { name, namespace: 'test', uid: `${name}-uid` };
    return this.put(
      type,
      { metadata, spec: { selector: { matchLabels: labels }, ...spec } },
      'user',
    );
  }

  /** Has a user delete a budget. */
  budgetGone(name: string): this {
    return this.drop(type, name, 'user');
  }

  /** Gives `pods`, as they are now, away in the ledger; all in one write. */
  gives(pods: readonly string[], write: LedgerWrite = {}): this {
    for (const pod of pods) {
      const uid = uidOf(this.pod(pod));
      const { by = 'rollout', term = '1' } = write;
      const others = this.#given.get(uid)?.claims.filter((each) => each.by !== by) ?? [];
      this.#given.set(uid, { uid, pod, claims: [...others, { by, at: this.now, term }] });
    }
    return this.#write([...this.#given.values()], write);
  }

  /** Takes what was given of `pods` out of the ledger; of all askers where `by` does not say one. */
  takesBack(pods: readonly string[], by?: Asker, write: LedgerWrite = {}): this {
    for (const [uid, given] of this.#given) {
      if (!pods.includes(given.pod)) continue;
      const claims = by === undefined ? [] : given.claims.filter((each) => each.by !== by);
      if (claims.length === 0) this.#given.delete(uid);
      else this.#given.set(uid, { ...given, claims });
    }
    return this.#write([...this.#given.values()], write);
  }

  /** Writes the ledger once more as it is, or with everything in it twice. */
  writesAgain(times: 1 | 2): this {
    const given = [...this.#given.values()];
    return this.#write(times === 1 ? given : [...given, ...given], {});
  }

  /** Has a user delete the ledger. */
  ledgerGone(): this {
    this.#given.clear();
    return this.drop('configmaps', `${ledgerPrefix}zpdb`, 'user');
  }

  #write(given: readonly StoredReservation[], { user = operatorUser, call }: LedgerWrite): this {
    const reservations = given.map(({ claims, ...rest }) => ({
      ...rest,
      // Whatever a ledger says of the set, the name of the pod shows it.
      set: 'another',
      claims: claims.map(({ at, ...claim }) => ({ ...claim, at: new Date(at).toISOString() })),
    }));
    const metadata = { name: `${ledgerPrefix}zpdb`, namespace: 'test' };
    const data = { version: '1', reservations: JSON.stringify(reservations) };
    return this.put('configmaps', { metadata, data }, { user, ...call });
  }
}

/** Returns the story of a budget that is known. */
export function underBudget(spec: JsonObject = {}): BudgetStory {
  return new BudgetStory().budget(spec).wait(seconds(11));
}

/** One history, and the rules that it breaks, in order of their names. */
export interface BudgetCase {
  readonly story: BudgetStory;
  readonly options?: Partial<JudgeOptions>;
  readonly want: readonly string[];
}

/** Asserts that the judge finds in each history what is wanted, and nothing else. */
export function assertJudged({ story, options, want }: BudgetCase): void {
  const ours = (user: string): boolean => user === operatorUser;
  const { statements } = story;
  const judged = judge(story, { ours, statements, ...options });
  assert.deepEqual(
    [...new Set(judged.violations.map(({ id }) => id))].toSorted(),
    want,
    judged.report(),
  );
}

/** Returns zone a loses a pod by what `story` permits, and has it again. */
export function rolled(story: BudgetStory): BudgetStory {
  const pod = 'ingester-zone-a-0';
  return story.gives([pod]).remove(pod).wait(seconds(5)).replaced(pod).wait(seconds(1));
}

function uidOf(pod: JsonObject): string {
  return textAt(pod, 'metadata', 'uid') ?? '';
}

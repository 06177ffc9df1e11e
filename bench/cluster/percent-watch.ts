import type { Call, Commit } from '#cluster/event-log.ts';
import { objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { GroupWatch } from './group-watch.ts';
import type { RolloutSight } from './percent-commands.ts';
import { operatorUser } from './workload.ts';

const rollouts = 'statefulsetrollouts.bedrock.operator.slack.com';

/** An eviction at the API server; times in ms. */
type Span = Pick<Call, 'startedAt' | 'endedAt'>;

/** Watches, at each commit and each answer, how a set is rotated, and what the operator writes of it. */
export class PercentWatch {
  readonly #monotonic: () => number;
  readonly #begun: number;
  readonly #pods: GroupWatch;
  readonly #set: string;
  readonly #evictions: Span[] = [];
  readonly #answers: Record<string, number> = {};
  readonly #phases: [phase: string, at: number][] = [];
  #writes = { ofPasses: 0, ofSlack: 0, lastAt: 0 };
  #batches = 0;
  #batch = '';
  #statusBytes = 0;

  /** @param pods as they are stored, by name */
  constructor(
    monotonic: () => number,
    {
      set,
      image,
      pods,
    }: {
      readonly set: string;
      readonly image: string;
      readonly pods: readonly Pick<Commit, 'name' | 'after'>[];
    },
  ) {
    this.#monotonic = monotonic;
    this.#begun = monotonic();
    this.#set = set;
    this.#pods = new GroupWatch(monotonic);
    this.#pods.add({ name: set, group: set }, pods.length);
    for (const pod of pods) this.#pods.committed({ resource: 'pods', ...pod });
    if (this.#pods.missing > 0) throw new Error(`${this.#pods.missing} pods of ${set} are not up`);
    this.#pods.begin(image, [set]);
  }

  /** Pods that have still to come up on the image. */
  get left(): number {
    return this.#pods.unrolled;
  }

  /** In ms. */
  get age(): number {
    return this.#monotonic() - this.#begun;
  }

  get mostAway(): number {
    return this.#pods.observation().podsDown[this.#set] ?? 0;
  }

  committed(commit: Commit): void {
    this.#pods.committed(commit);
    const { resource, user, after } = commit;
    if (resource !== rollouts || user !== operatorUser || after === undefined) return;
    const status = objectAt(after, 'status');
    this.#statusBytes = Math.max(this.#statusBytes, Buffer.byteLength(JSON.stringify(status)));
    const batch = JSON.stringify(objectsAt(status, 'rollout', 'batch'));
    if (batch !== this.#batch && batch !== '[]') this.#batches += 1;
    this.#batch = batch;
    const phase = textAt(status, 'phase');
    if (this.#phases.at(-1)?.[0] !== phase) this.#phases.push([phase, Math.round(this.age)]);
  }

  called({ user, verb, resource, subresource, startedAt, endedAt, outcome }: Call): void {
    if (user !== operatorUser) return;
    if (resource === 'pods' && subresource === 'eviction') {
      this.#evictions.push({ startedAt, endedAt });
      this.#answers[outcome] = (this.#answers[outcome] ?? 0) + 1;
    }
    if (resource !== rollouts || subresource !== 'status') return;
    this.#writes[verb === 'patch' ? 'ofSlack' : 'ofPasses'] += 1;
    this.#writes.lastAt = this.age;
  }

  seen(): RolloutSight {
    const { ofPasses, ofSlack, lastAt } = this.#writes;
    return {
      evictionsAtOnce: mostAtOnce(this.#evictions),
      evictions: { ...this.#answers },
      statusBytes: this.#statusBytes,
      statusWrites: ofPasses,
      slackWrites: ofSlack,
      writing: lastAt / 1_000,
      batches: this.#batches,
      phases: [...this.#phases],
    };
  }
}

/** One that ends in the ms in which another begins makes room for it; one that ends where it began counts there. */
function mostAtOnce(spans: readonly Span[]): number {
  const ends = spans.map(({ startedAt, endedAt }) => Math.max(endedAt, startedAt + 1));
  const edges = [
    ...spans.map(({ startedAt }) => ({ at: startedAt, step: 1 })),
    ...ends.map((at) => ({ at: at, step: -1 })),
  ].toSorted((one, other) => one.at - other.at || one.step - other.step);
  let now = 0;
  return edges.reduce((most, { step }) => {
    now += step;
    return Math.max(most, now);
  }, 0);
}

import type { JsonObject } from '#base/json.ts';
import { parseGoDuration } from '#base/time/go-duration.ts';
import type { Instant, Millis } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { setFacts } from '../history/facts.ts';
import { numberAt, textAt } from '../objects/json-path.ts';
import { parseRfc3339 } from '../oracles/rfc3339.ts';
import { Findings, type Invariant, type Violation } from './invariant.ts';

/** `spec.replicas` of one object from some time on. */
interface Count {
  readonly at: Instant;
  readonly replicas: number;
}

/** What shows whether replicas were written within the rules (SCAL-1). */
export interface ScalingOptions {
  readonly ours: (user: string) => boolean;
  /** How old the count that a write rests on may be: `A` of docs/rules/words.md. */
  readonly maxDecisionAge: Millis;
  /**
   * When the request of a commit was sent, where that is known: no client recalls what a slow server, or one that gets it
   * from a process that has died since, carries out later. @default when it was carried out
   */
  readonly sentAt?: (callId: number) => Instant | undefined;
}

const LEADER = 'rollout-downscale-leader';
const REFERENCE = 'rollout-mirror-replicas-from-resource';

/**
 * SCAL-1: replicas that we write are those that the set's leader, its reference or its force asked for at most A before
 * we sent them (with a delay: or lie between those and what was); and no zone is scaled down before the minimum time since another.
 */
export class SoundScaling implements Invariant {
  readonly #options: ScalingOptions;
  readonly #findings = new Findings();
  /** The counts of every object that has a count, by namespace and name, whatever its kind. */
  readonly #counts = new Map<string, Count[]>();
  /** The newest state of every StatefulSet, by namespace and name. */
  readonly #sets = new Map<string, JsonObject>();

  constructor(options: ScalingOptions) {
    this.#options = options;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onCommit(commit: Commit): void {
    const isSet = commit.resource === 'statefulsets.apps';
    const { before, after } = commit;
    if (isSet && before !== undefined && after !== undefined && this.#options.ours(commit.user)) {
      this.#judge(commit, before, after);
    }
    const key = `${commit.namespace}/${commit.name}`;
    if (isSet && after !== undefined) this.#sets.set(key, after);
    if (isSet && after === undefined) this.#sets.delete(key);
    this.#note(commit);
  }

  #note({ resource, namespace, name, at, after }: Commit): void {
    const replicas = after === undefined ? undefined : numberAt(after, 'spec', 'replicas');
    if (replicas === undefined) return;
    const key = `${resource.split('.')[0] ?? ''} ${namespace}/${name}`;
    const counts = this.#counts.get(key) ?? [];
    if (counts.at(-1)?.replicas === replicas) return;
    counts.push({ at, replicas });
    this.#counts.set(key, counts);
  }

  #judge(commit: Commit, before: JsonObject, after: JsonObject): void {
    const from = numberAt(before, 'spec', 'replicas') ?? 1;
    const to = numberAt(after, 'spec', 'replicas') ?? 1;
    if (from === to) return;
    const deed = `We scaled ${commit.namespace}/${commit.name} from ${from} to ${to}`;
    const wanted = this.#wanted(commit, before);
    const isDelayed = annotation(before, 'rollout-delayed-downscale') !== undefined;
    const isSound = wanted.some((count) => count === to || (isDelayed && count < to && to < from));
    if (!isSound) {
      const asked = wanted.length === 0 ? 'nothing' : wanted.join(', ');
      this.#findings.add('SCAL-1', commit, `${deed} although what it follows asked for ${asked}`);
    }
    if (to < from) this.#judgeMinimumTime(commit, before, deed);
  }

  /** Returns the counts that the set may have been meant to have in the last A. */
  #wanted(commit: Commit, set: JsonObject): readonly number[] {
    const forced = annotation(set, 'rollout-force-replicas');
    if (forced !== undefined && /^\d+$/.test(forced)) return [Number(forced)];
    const leader = annotation(set, LEADER);
    const plural =
      leader === undefined
        ? `${(annotation(set, `${REFERENCE}-kind`) ?? '').toLowerCase()}s`
        : 'statefulsets';
    const name = leader ?? annotation(set, `${REFERENCE}-name`) ?? '';
    const counts = this.#counts.get(`${plural} ${commit.namespace}/${name}`) ?? [];
    const sentAt = this.#options.sentAt?.(commit.callId) ?? commit.at;
    const since = sentAt - this.#options.maxDecisionAge;
    // The one before the window was still true at its begin.
    const first = counts.findLastIndex(({ at }) => at <= since);
    return counts.slice(Math.max(0, first)).map(({ replicas }) => replicas);
  }

  #judgeMinimumTime(commit: Commit, set: JsonObject, deed: string): void {
    const label = textAt(set, 'metadata', 'labels', 'grafana.com/min-time-between-zones-downscale');
    const text = annotation(set, 'min-time-between-zones-downscale') || label;
    const minimum = text === undefined ? undefined : parseGoDuration(text, 'minimum time');
    const isForced = annotation(set, 'rollout-force-replicas') !== undefined;
    if (minimum?.kind !== 'valid' || isForced) return;
    const last = this.#lastDownscale(commit, set);
    if (last === undefined || commit.at - last.at > minimum.value) return;
    const message = `${deed} ${commit.at - last.at} ms after ${last.name}; ${minimum.value} ms are the minimum`;
    this.#findings.add('SCAL-1', commit, message);
  }

  /** Returns the newest down-scale that any other zone of the group says it had. */
  #lastDownscale(
    commit: Commit,
    set: JsonObject,
  ): { readonly name: string; readonly at: Instant } | undefined {
    const { group } = setFacts(set);
    let latest: { readonly name: string; readonly at: Instant } | undefined;
    for (const other of this.#sets.values()) {
      const { name, namespace, group: its } = setFacts(other);
      if (namespace !== commit.namespace || its !== group || name === commit.name) continue;
      const text = annotation(other, 'last-downscale');
      const at = text === undefined ? undefined : parseRfc3339(text);
      if (at !== undefined && at > (latest?.at ?? Number.NEGATIVE_INFINITY)) latest = { name, at };
    }
    return latest;
  }
}

function annotation(set: JsonObject, key: string): string | undefined {
  return textAt(set, 'metadata', 'annotations', `grafana.com/${key}`);
}

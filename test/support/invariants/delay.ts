import { isJsonObject, type JsonObject, jsonIn } from '#base/json.ts';
import { parsePrometheusDuration } from '#base/time/prometheus-duration.ts';
import { type Instant, instant, type Millis, millis, seconds } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { setFacts } from '../history/facts.ts';
import { numberAt, textAt } from '../objects/json-path.ts';
import type { FleetCall } from '../pods/pod-fleet.ts';
import { Findings, type Invariant, type Violation } from './invariant.ts';

/** What the delay of down-scales is judged by. */
export interface DelayOptions {
  readonly ours: (user: string) => boolean;
  /** All calls that reached pods, in order of arrival. */
  readonly podCalls: readonly FleetCall[];
}

const NAME = 'rollout-mirror-replicas-from-resource-name';
const KIND = 'rollout-mirror-replicas-from-resource-kind';
/** For so long no process can be expected to know that a pod was recreated (`A` of docs/rules/words.md). */
const mostViewAge = seconds(10);

/**
 * The delay rule of SCAL-1: a pod that a write of ours takes away from a mirrored set with a delay has said last, by its
 * own word, that it is prepared for that long, and was not called otherwise since. The word of the pod before it in its slot
 * is not its own.
 */
export class KeptDelay implements Invariant {
  readonly #options: DelayOptions;
  readonly #findings = new Findings();
  /** When the newest pod of each name was made, by namespace and name. */
  readonly #madeAt = new Map<string, Instant>();

  constructor(options: DelayOptions) {
    this.#options = options;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onCommit(commit: Commit): void {
    const { before, after, resource, user } = commit;
    if (resource === 'pods' && before === undefined) this.#madeAt.set(keyOf(commit), commit.at);
    if (resource !== 'statefulsets.apps' || before === undefined || after === undefined) return;
    if (this.#options.ours(user)) this.#judgeSet(commit, before, after);
  }

  #judgeSet(commit: Commit, before: JsonObject, after: JsonObject): void {
    const delay = delayOf(before);
    if (delay === undefined) return;
    const { ordinalsStart, name } = setFacts(before);
    const from = numberAt(before, 'spec', 'replicas') ?? 1;
    const to = numberAt(after, 'spec', 'replicas') ?? 1;
    for (let index = to; index < from; index += 1) {
      this.#judge(commit, `${name}-${ordinalsStart + index}`, delay);
    }
  }

  #judge(commit: Commit, pod: string, delay: Millis): void {
    const { namespace } = commit;
    const last = this.#options.podCalls.findLast(
      (call) => call.pod === pod && call.namespace === namespace && call.at <= commit.at,
    );
    const madeAt = this.#madeAt.get(keyOf({ namespace, name: pod }));
    const deed = `We took pod ${namespace}/${pod}`;
    const since = last === undefined ? undefined : preparedSince(last);
    if (since === undefined || isOfAnother(last, madeAt, commit)) {
      const message = `${deed}, which does not say that it is prepared: it ${wordOf(last, madeAt)}`;
      this.#findings.add('SCAL-1', commit, message);
      return;
    }
    const prepared = commit.at - since;
    if (prepared >= delay) return;
    const message = `${deed} after it was prepared for ${prepared} ms; ${delay} ms are the delay`;
    this.#findings.add('SCAL-1', commit, message);
  }
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

/** Reports whether `last` was a call of another pod than the one made at `madeAt`, long enough ago to be known at `commit`. */
function isOfAnother(
  last: FleetCall | undefined,
  madeAt: Instant | undefined,
  commit: Commit,
): boolean {
  if (last === undefined || madeAt === undefined) return false;
  return last.at < madeAt && commit.at - madeAt > mostViewAge;
}

function wordOf(last: FleetCall | undefined, madeAt: Instant | undefined): string {
  if (last === undefined) return 'was never called';
  const isAnother = madeAt !== undefined && last.at < madeAt;
  return `was last called with ${last.method}${isAnother ? ' before it was made' : ''}`;
}

/** Returns the delay that `set` asks for; undefined where it asks for none. */
function delayOf(set: JsonObject): Millis | undefined {
  const annotation = (key: string): string =>
    textAt(set, 'metadata', 'annotations', `grafana.com/${key}`) ?? '';
  const needed = ['rollout-prepare-delayed-downscale-url', NAME, KIND];
  if (needed.some((key) => annotation(key) === '')) return undefined;
  const delay = parsePrometheusDuration(annotation('rollout-delayed-downscale'), 'delay');
  return delay.kind === 'valid' && delay.value > 0 ? millis(delay.value) : undefined;
}

/** Returns when the pod was prepared by what it answered; undefined where it answered otherwise, or did not say. */
function preparedSince({ method, reply }: FleetCall): number | undefined {
  if (method !== 'POST' || reply.kind !== 'answer') return undefined;
  if (reply.status < 200 || reply.status > 299) return undefined;
  const seconds = timestampIn(reply.body);
  return seconds === undefined || seconds === 0 ? undefined : instant(seconds * 1_000);
}

function timestampIn(body: string): number | undefined {
  const value = jsonIn(body);
  return isJsonObject(value) ? numberAt(value, 'timestamp') : undefined;
}

import { isJsonObject, type JsonObject } from '#base/json.ts';
import { parsePrometheusDuration } from '#base/prometheus-duration.ts';
import { instant, type Millis, millis } from '#base/units.ts';
import type { Commit } from '#embedded-cluster/event-log.ts';
import { setFacts } from '../facts.ts';
import { numberAt, textAt } from '../json-path.ts';
import type { FleetCall } from '../pod-fleet.ts';
import { Findings, type Invariant, type Violation } from './invariant.ts';

/** What the delay of down-scales is judged by. */
export interface DelayOptions {
  readonly ours: (user: string) => boolean;
  /** All calls that reached pods, in order of arrival. */
  readonly podCalls: readonly FleetCall[];
}

const NAME = 'rollout-mirror-replicas-from-resource-name';
const KIND = 'rollout-mirror-replicas-from-resource-kind';

/**
 * The delay rule of SCAL-1: a pod that a write of ours takes away from a mirrored set with a delay has said last, by its
 * own word, that it is prepared for that long, and was not told otherwise since.
 */
export class KeptDelay implements Invariant {
  readonly #options: DelayOptions;
  readonly #findings = new Findings();

  constructor(options: DelayOptions) {
    this.#options = options;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onCommit(commit: Commit): void {
    const { before, after, resource, user } = commit;
    if (resource !== 'statefulsets.apps' || !this.#options.ours(user)) return;
    if (before === undefined || after === undefined) return;
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
    const last = this.#options.podCalls.findLast(
      (call) => call.pod === pod && call.namespace === commit.namespace && call.at <= commit.at,
    );
    const deed = `We took pod ${commit.namespace}/${pod}`;
    const since = last === undefined ? undefined : preparedSince(last);
    if (since === undefined) {
      const word = last === undefined ? 'was never called' : `was last called with ${last.method}`;
      this.#findings.add(
        'SCAL-1',
        commit,
        `${deed}, which does not say that it is prepared: it ${word}`,
      );
      return;
    }
    const prepared = commit.at - since;
    if (prepared >= delay) return;
    const message = `${deed} after it was prepared for ${prepared} ms; ${delay} ms are the delay`;
    this.#findings.add('SCAL-1', commit, message);
  }
}

/** The delay that `set` asks for; undefined where it asks for none. */
function delayOf(set: JsonObject): Millis | undefined {
  const annotation = (key: string): string =>
    textAt(set, 'metadata', 'annotations', `grafana.com/${key}`) ?? '';
  const needed = ['rollout-prepare-delayed-downscale-url', NAME, KIND];
  if (needed.some((key) => annotation(key) === '')) return undefined;
  const delay = parsePrometheusDuration(annotation('rollout-delayed-downscale'), 'delay');
  return delay.kind === 'valid' && delay.value > 0 ? millis(delay.value) : undefined;
}

/** Since when the pod is prepared by what it answered; undefined where it was told otherwise, or did not say. */
function preparedSince({ method, reply }: FleetCall): number | undefined {
  if (method !== 'POST' || reply.kind !== 'answer') return undefined;
  if (reply.status < 200 || reply.status > 299) return undefined;
  const seconds = timestampIn(reply.body);
  return seconds === undefined || seconds === 0 ? undefined : instant(seconds * 1_000);
}

function timestampIn(body: string): number | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isJsonObject(value) ? numberAt(value, 'timestamp') : undefined;
  } catch {
    // What is no JSON says nothing.
    return undefined;
  }
}

import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isNotFound } from '#kubernetes/transport/api-error.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import type { ConvertedPhase } from '../convert/convert-file.ts';
import type { ClusterAccess } from '../drive-ports.ts';
import { applyPhase, keyOf } from './apply-resources.ts';
import { followRollout } from './follow-rollout.ts';
import type { PhaseDriver, PhaseEnd } from './phase-driver.ts';
import { endOf, intentOf, progressLine, rolloutReport } from './rollout-report.ts';

/** Settings of {@link ClusterDriver}. */
export interface ClusterDriverOptions {
  readonly cluster: ClusterAccess;
  readonly clock: Clock;
  readonly phases: readonly ConvertedPhase[];
  /** The percentage that a deploy begins with: what comes later goes on with it. */
  readonly firstPercent: number;
  /** Called with one line whenever phase, percentage or reason change. */
  readonly tell: (line: string) => void;
}

/** Carries phases out by writing to the cluster itself. */
export class ClusterDriver implements PhaseDriver {
  readonly #options: ClusterDriverOptions;
  #told = '';

  constructor(options: ClusterDriverOptions) {
    this.#options = options;
  }

  async carryOut(at: number, signal: AbortSignal): Promise<PhaseEnd> {
    const { phases, cluster, clock, firstPercent } = this.#options;
    const phase = phases[at];
    if (phase === undefined) return { kind: 'lost', why: 'there is no such phase' };
    const [budget, wanted] = phase.resources;
    const isFirst = phase.percent === firstPercent;
    const rollout = isFirst ? wanted : await this.#asPaused(wanted, signal);
    const { client } = cluster;
    const applied = await applyPhase([budget, rollout], { client, call: { signal } });
    const { namespace, name } = keyOf(rollout);
    const judge = (object: KubernetesObject | undefined): PhaseEnd | undefined =>
      this.#judge(object, applied);
    return followRollout({ client, clock, namespace, name, judge }, signal);
  }

  async close(): Promise<void> {
    await this.#options.cluster.close();
  }

  /** Keeps a pause that a user asked for between two phases: only they end it. */
  async #asPaused(wanted: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { client } = this.#options.cluster;
    try {
      const stored = await client.get(resourceTypes.statefulsetRollouts, keyOf(wanted), { signal });
      const { isPauseRequested: pauseRequested } = rolloutReport(stored);
      return { ...wanted, spec: { ...objectAt(wanted, 'spec'), pauseRequested } };
    } catch (error) {
      if (isNotFound(error)) return wanted;
      throw error;
    }
  }

  #judge(object: KubernetesObject | undefined, applied: KubernetesObject): PhaseEnd | undefined {
    if (object?.metadata.uid !== applied.metadata.uid)
      return { kind: 'lost', why: 'the StatefulsetRollout was deleted' };
    const report = rolloutReport(object);
    // What a server reports from its memory may be older than what it has stored.
    if (report.generation < rolloutReport(applied).generation) return undefined;
    if (!isDeepStrictEqual(intentOf(object), intentOf(applied)))
      return { kind: 'lost', why: 'another deploy has taken its place' };
    this.#tell(progressLine(applied.metadata.name, report));
    return endOf(report);
  }

  #tell(line: string): void {
    if (line === this.#told) return;
    this.#told = line;
    this.#options.tell(`${line}\n`);
  }
}

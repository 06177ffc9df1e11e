import type { ResourcePasses } from '#control/resource/resource-reconciler.ts';
import { noteDeletion } from '#control/write/noted-deletions.ts';
import type { EndedDeletion } from '#control/write/pod-deletions.ts';
import { parseObjectKey } from '#kubernetes/object-key.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import type { RolloutView } from './parse-resource.ts';
import { ofPhasedRollouts } from './phased-reasons.ts';
import type { RememberedCheck } from './plan/plan-decision.ts';
import { LostPartitions } from './reconcile/lost-partitions.ts';
import {
  type EndedPhasedPass,
  PhasedPass,
  type PhasedPassEnd,
  type PhasedPassPorts,
} from './reconcile/phased-pass.ts';

/** What reconciling PhasedRollouts goes through; what it remembers is its own. */
export interface PhasedPassesPorts
  extends Omit<PhasedPassPorts, 'memories' | 'deletionEnded' | 'lostPartitions'> {
  readonly queue: Pick<WorkQueue, 'add' | 'addAfter'>;
}

/** The passes over PhasedRollouts, and what is remembered from one to the next. */
export class PhasedPasses implements ResourcePasses<RolloutView, EndedPhasedPass> {
  readonly about = ofPhasedRollouts;
  readonly resources: PhasedPassesPorts['rollouts'];
  readonly #ports: PhasedPassesPorts;
  readonly #passPorts: PhasedPassPorts;
  /** What the last plan of each remembered of its check, by key: errors are stored nowhere else. */
  readonly #memories = new Map<string, RememberedCheck>();
  readonly #lost: LostPartitions;

  constructor(ports: PhasedPassesPorts) {
    this.resources = ports.rollouts;
    this.#ports = ports;
    this.#lost = new LostPartitions(ports.clock);
    this.#passPorts = {
      ...ports,
      memories: this.#memories,
      lostPartitions: this.#lost,
      deletionEnded: (key, ended) => this.#deletionEnded(key, ended),
    };
  }

  async run(key: string, signal: AbortSignal): Promise<PhasedPassEnd> {
    const end = await new PhasedPass(key, this.#passPorts).run(signal);
    if (end.kind === 'gone' || end.plan === undefined) return end;
    const { memory } = end.plan;
    if (memory === undefined) this.#memories.delete(key);
    else this.#memories.set(key, memory);
    return end;
  }

  /** A wait for checks would else be news after each of them. */
  isPassing({ holds, plan, requeue }: EndedPhasedPass): boolean {
    if (holds.length > 0) return false;
    if (plan === undefined || plan.decisions.some(({ kind }) => kind === 'ask')) return true;
    return requeue.kind === 'at' && requeue.at <= this.#ports.clock.now();
  }

  /** Reports whether a partition was sent that may still take effect and has an unknown outcome. */
  hasLostPartition(): boolean {
    return this.#lost.mayTakeEffect();
  }

  forget(key: string): void {
    const { questions, seen, budgets, writePaces } = this.#ports;
    questions.forget(key);
    budgets.wants(key, new Set());
    seen.forget(key);
    writePaces.forget(key);
    this.#memories.delete(key);
  }

  #deletionEnded(key: string, { deletion, end }: EndedDeletion): void {
    noteDeletion(key, end, this.#ports);
    if (end.kind !== 'deleted') return;
    const { events, rollouts } = this.#ports;
    const { namespace, name } = parseObjectKey(key);
    const uid = rollouts.lister.get(namespace, name)?.uid ?? '';
    const { apiVersion, kind } = ofPhasedRollouts;
    const about = { apiVersion, kind, namespace, name, uid };
    events.record({ about, type: 'Normal', ...deletion.because });
  }
}

import type { Clock } from '#base/clock.ts';
import type { Instant } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Stage, StepKind } from './pod-lifecycle.ts';
import { statusPatch } from './pod-status.ts';
import type { KubeletPod } from './views.ts';

/** Who writes for a node. */
export interface WritingHost {
  /** Returns the connection of a node's kubelet. */
  clientOf(node: string): Client;
  hostIP(node: string): string;
}

/** A pod as far as its status reports it. */
export interface WrittenPod {
  pod: KubeletPod;
  node: string;
  stage: Stage;
  restarts: number;
  podIP: string;
  startedAt: Instant | undefined;
}

type StatusStep = Exclude<StepKind, 'bind'>;

/** Writes what a kubelet writes: the status of a pod at each step, and its removal (KU-3). */
export class PodWriter {
  readonly #clock: Clock;
  readonly #host: WritingHost;
  #addresses = 0;

  constructor(clock: Clock, host: WritingHost) {
    this.#clock = clock;
    this.#host = host;
  }

  /** Writes the status of the step `kind`, and keeps in `written` what later ones say again. @throws {ApiError} */
  async writeStatus(
    written: WrittenPod,
    kind: StatusStep,
    hasStartupProbe: boolean,
  ): Promise<void> {
    const { pod, stage, node } = written;
    if (written.podIP === '') written.podIP = this.#address();
    const restarts = kind === 'restart' ? written.restarts + 1 : written.restarts;
    const now = this.#clock.now();
    const document = statusPatch(kind, {
      pod,
      stage,
      restarts,
      podIP: written.podIP,
      hostIP: this.#host.hostIP(node),
      now,
      startedAt: written.startedAt,
      isStarting: hasStartupProbe && (kind === 'start' || kind === 'restart'),
    });
    const body = { kind: 'strategic', document } as const;
    const client = this.#host.clientOf(node);
    await client.patch(resourceTypes.pods, pod, { body, subresource: 'status' });
    written.restarts = restarts;
    if (kind === 'start' || kind === 'restart') written.startedAt = now;
  }

  /** Removes the pod from the API. @throws {ApiError} */
  async remove({ pod, node }: WrittenPod): Promise<void> {
    await this.#host.clientOf(node).delete(resourceTypes.pods, pod, {
      preconditions: { uid: pod.uid },
      gracePeriodSeconds: 0,
    });
  }

  #address(): string {
    this.#addresses += 1;
    const at = (shift: number): number => Math.floor(this.#addresses / 2 ** shift) % 256;
    return `10.${at(16)}.${at(8)}.${at(0)}`;
  }
}

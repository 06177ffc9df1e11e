import { millis, monotonic, seconds } from '#base/units.ts';
import { maxDecisionAge } from '#control/consistent-read/basis.ts';
import { isProven } from '#control/plan/set-proof.ts';
import { namedScope, namedSet } from '#control/resource/resource-moment.ts';
import type { SetName } from '#control/watch/owners-of-sets.ts';
import { parseObjectKey } from '#kubernetes/object-key.ts';
import type { RolloutView } from '../parse-resource.ts';
import { type RolloutMomentPorts, specOf } from './rollout-moment.ts';

/** A request may wait before it leaves: what it rests on is read again so long before it is too old. */
const margin = millis(maxDecisionAge / 2);
/** How old a view is, is looked at no more often. */
const lookedAfter = seconds(1);

type ReadPorts = Pick<RolloutMomentPorts, 'reads'>;

/** Reads the set, if there is one, and its pods consistently. @throws what that throws */
export async function readTarget(
  { namespace, name }: SetName,
  { reads }: ReadPorts,
  signal: AbortSignal,
): Promise<void> {
  const wish = { pods: true, statefulSets: true };
  await reads.read(namedScope(namespace, name), { wish, cached: [] }, signal);
}

/**
 * Keeps the view proven that the requests of one pass rest on: the resource, as a user may have paused it since, and the set
 * with its pods. A batch may take longer than a view may be old.
 */
export class ViewRenewal {
  readonly #key: string;
  readonly #ports: RolloutMomentPorts;
  #renewing: Promise<void> | undefined;
  #nextLook = monotonic(0);

  constructor(key: string, ports: RolloutMomentPorts) {
    this.#key = key;
    this.#ports = ports;
  }

  /** Reads the resource where that has to be. @throws UnshownChangeError where its watch lags, and what the request fails with */
  async resource(signal: AbortSignal): Promise<void> {
    const { namespace, name } = parseObjectKey(this.#key);
    const rollout = this.#ports.rollouts.lister.get(namespace, name);
    if (rollout !== undefined) await this.#resource(rollout, signal);
  }

  /** Reads all that has to be; who asks meanwhile waits for that. @throws what {@link resource} throws, and the reads */
  async all(signal: AbortSignal): Promise<void> {
    if (this.#renewing === undefined && this.#ports.clock.monotonic() < this.#nextLook) return;
    this.#renewing ??= this.#all(signal).finally(() => {
      this.#renewing = undefined;
    });
    await this.#renewing;
  }

  async #all(signal: AbortSignal): Promise<void> {
    const { clock, rollouts } = this.#ports;
    const now = clock.monotonic();
    const { namespace, name } = parseObjectKey(this.#key);
    const rollout = rollouts.lister.get(namespace, name);
    if (rollout === undefined) return;
    const { sets, proof } = namedSet(namespace, specOf(rollout)?.set.name, this.#ports);
    const [found] = sets;
    const whole = { ...proof, budgets: { kind: 'not-permitted' } } as const;
    const isOld = found !== undefined && !isProven(whole, monotonic(now + margin));
    await Promise.all([
      this.#resource(rollout, signal),
      ...(isOld ? [readTarget(found.set, this.#ports, signal)] : []),
    ]);
    this.#nextLook = monotonic(now + lookedAfter);
  }

  async #resource(rollout: RolloutView, signal: AbortSignal): Promise<void> {
    const { clock, proofs } = this.#ports;
    const soon = monotonic(clock.monotonic() + margin);
    if (!proofs.isProven(rollout, soon)) await proofs.read(rollout, signal);
  }
}

import type { Clock } from '#base/clock.ts';
import type { Client } from '#kubernetes/client.ts';
import { CallbackAttempts, type CallbackPorts } from '#statefulset-rollout/callback-attempts.ts';

/** Whom StatefulsetRollouts talk to besides the API server; whoever made it ends it. */
export interface RolloutOutside {
  /** Name of the cluster; may be empty. */
  readonly cluster: string;
  readonly callback: Pick<CallbackPorts, 'sender' | 'signingKey' | 'mostAttempts' | 'random'>;
}

/** What only a term knows. */
interface OutsideTerm {
  readonly client: Client;
  readonly clock: Clock;
  readonly leads: () => boolean;
}

/** Returns what tells receivers how rollouts ended, for one term. */
export function callbacksOf(
  { cluster, callback }: RolloutOutside,
  term: OutsideTerm,
): CallbackAttempts {
  return new CallbackAttempts({ ...term, ...callback, cluster });
}

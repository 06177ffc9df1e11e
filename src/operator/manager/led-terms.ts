import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { seconds } from '#base/units.ts';
import type { Config } from '#config/config.ts';
import { announcedClient } from '#control/write/announced-client.ts';
import { boundedClient } from '#kubernetes/bounded-client.ts';
import type { Client } from '#kubernetes/client.ts';
import {
  type LeaderElection,
  type Leading,
  LeaseLostError,
} from '#kubernetes/leader-election/leader-election.ts';
import { ALL_NAMESPACES } from '#kubernetes/leader-election/lease-record.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { decoratedClient } from './client.ts';
import { electionOf, runElection } from './election.ts';

/** What a term of reconciling is given. */
export interface LedTerm {
  readonly client: Client;
  readonly election: LeaderElection;
  readonly leading: Leading;
}

/** Reconciles for one term, until `signal` aborts. @returns whether all that was sent is answered */
export type ReconcileTerm = (term: LedTerm, signal: AbortSignal) => Promise<boolean>;

/** What leading takes. */
export interface LedOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  /** The authorised way to the API server, without any decoration. */
  readonly transport: Transport;
  /** Names this process; new at every start. */
  readonly identity: string;
  /** The only namespace that is served. @default all of them */
  readonly scope?: string;
}

/** Longest time that a call of a pass takes once the limiter let it go (D-53). */
const longestAnswer = seconds(30);

/**
 * Has `reconcile` run whenever this process leads, until `signal` aborts.
 *
 * @throws {LeaseLostError} when it led with a Lease, and may not any more; what a term throws
 */
export async function runLedTerms(
  options: LedOptions,
  reconcile: ReconcileTerm,
  signal: AbortSignal,
): Promise<void> {
  const client = boundedClient(decoratedClient(options), longestAnswer);
  const leaseClient = decoratedClient(options, false);
  const { scope = ALL_NAMESPACES } = options;
  const settings = { ...options, scope, offBy: 'the absence of --leader-elect' };
  const election = electionOf(settings, leaseClient);
  const closed = new AbortController();
  const electing = runElection(election, settings, { client: leaseClient, signal: closed.signal });
  const { clock, config } = options;
  const horizon = config.rollout.predecessorHorizon;
  const announcing = announcedClient(client, { election, clock, horizon });
  try {
    const term = (leading: Leading, working: AbortSignal): Promise<boolean> =>
      reconcile({ client: announcing, election, leading }, working);
    await lead(election, term, signal);
  } finally {
    closed.abort();
    await electing;
  }
}

/**
 * Has `reconcile` run whenever this process leads, until `signal` aborts. A process that led without a Lease, as its Role did
 * not permit one, begins again when it can have one after all.
 *
 * @throws {LeaseLostError} when it led with a Lease, and may not any more; what a term throws
 */
export async function lead(
  election: LeaderElection,
  reconcile: (leading: Leading, working: AbortSignal) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const leading = await election.leading(signal).catch(() => undefined);
    if (leading === undefined) return;
    const working = AbortSignal.any([signal, leading.signal]);
    const isClean = await reconcile(leading, working);
    const { state } = election;
    if (signal.aborted) return election.end({ isClean });
    if (state.kind === 'lost') {
      await election.end({ isClean });
      throw new LeaseLostError(state.because);
    }
  }
}

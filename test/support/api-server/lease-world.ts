/** Processes that run for one Lease in virtual time; each may be slow, paused, and given false answers to its requests. */
import { millis, seconds } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import type { LeaderElection, LeaderState } from '#kubernetes/leader-election/leader-election.ts';
import { createLeaderElection } from '#kubernetes/leader-election/lease-election.ts';
import { FakeClock } from '../clocks/fake-clock.ts';
import { PausableClock } from '../clocks/pausable-clock.ts';
import { KeptLog } from '../telemetry/kept-log.ts';
import { LeaseServer, type RequestFate } from './lease-server.ts';

/** One process. */
export interface Candidate {
  readonly id: string;
  readonly election: LeaderElection;
  readonly clock: PausableClock;
  readonly client: Client;
  readonly log: KeptLog;
  /** All states since the start, oldest first. */
  readonly states: LeaderState[];
  /** Ends with the election's `run`. */
  readonly done: Promise<void>;
  /** Ends the process as a crash does: what it sent arrives. */
  readonly kill: AbortController;
}

/** What differs from the usual candidate. */
export interface CandidateOptions {
  /** What happens to each of its requests, in order; after the last, nothing unusual does. */
  readonly fates?: readonly RequestFate[];
  /** How far its wall clock is ahead, in milliseconds. */
  readonly wallAhead?: number;
}

/** A server, its clock, and who runs for its Lease. */
export class LeaseWorld {
  /** Starts at 2026-01-01T00:00:00Z by the wall. */
  readonly clock = new FakeClock(1_767_225_600_000);
  readonly server = new LeaseServer(this.clock);
  readonly candidates: Candidate[] = [];
  readonly #start = 1_767_225_600_000;

  /** Returns the milliseconds since the world began. */
  get elapsed(): number {
    return this.clock.monotonic() - this.#start;
  }

  /** Starts a process that runs for the Lease. */
  start(id: string, { fates = [], wallAhead = 0 }: CandidateOptions = {}): Candidate {
    const clock = new PausableClock(this.clock, wallAhead);
    let asked = 0;
    const client = this.server.client(id, clock, () => {
      asked += 1;
      return fates[asked - 1] ?? {};
    });
    const log = new KeptLog({ keepsInfo: true });
    const election = createLeaderElection({
      client,
      clock,
      log,
      id,
      namespace: 'x',
      name: 'rollout-operator',
      scope: 'x',
      leaseDuration: seconds(15),
      renewDeadline: seconds(10),
      retryPeriod: seconds(2),
      predecessorHorizon: seconds(120),
    });
    const states: LeaderState[] = [];
    election.onChange((state) => states.push(state));
    const kill = new AbortController();
    const done = election.run(kill.signal);
    const candidate = { id, election, clock, client, log, states, done, kill };
    this.candidates.push(candidate);
    return candidate;
  }

  /** Lets `span` milliseconds pass, event by event, and calls `check` after each. */
  async run(span: number, check: () => void = () => this.checkOneHolder()): Promise<void> {
    const end = this.clock.monotonic() + span;
    await this.clock.settle();
    check();
    for (let rest = span; rest > 0; rest = end - this.clock.monotonic()) {
      const next = this.clock.pending()[0] ?? millis(rest);
      await this.clock.advance(Math.min(next, rest));
      check();
    }
  }

  /** Returns who holds the Lease now by its own account, paused or not. */
  holders(): readonly string[] {
    const now = this.clock.monotonic();
    return this.candidates.filter(({ election }) => election.isHeld(now)).map(({ id }) => id);
  }

  /** Throws when two hold the Lease at once. hold the Lease at once */
  checkOneHolder(): void {
    const holders = this.holders();
    if (holders.length > 1) {
      throw new Error(
        `${holders.join(' and ')} hold the Lease at once, ${this.elapsed} ms after the start`,
      );
    }
  }

  /** Returns `verb at` of each request of `id`, in milliseconds since the world began. */
  requestsOf(id: string): readonly string[] {
    return this.server.requests
      .filter(({ by }) => by === id)
      .map(({ verb, sentAt }) => `${verb} ${sentAt - this.#start}`);
  }
}

import type { Timer } from '#base/clock.ts';
import { type Monotonic, millis, seconds } from '#base/units.ts';
import { type Announcement, Announcements, notNamed } from './announcements.ts';
import { ElectionLog } from './election-log.ts';
import {
  type EndOptions,
  type LeaderElection,
  type LeaderState,
  type Leading,
} from './leader-election.ts';
import { LeaderStates } from './leader-states.ts';
import { giveUp, isWaitOver, lostTerm, patienceAfterLoss } from './lease-end.ts';
import type { LeasePlace } from './lease-place.ts';
import { termText } from './lease-record.ts';
import { type LeaseAnswer, LeaseRequests } from './lease-requests.ts';
import { lookAt } from './lease-sighting.ts';
import {
  type ElectionMemory,
  type ElectionSettings,
  isHeldAt,
  type Leadership,
  type LeaseRequest,
  learn,
  newMemory,
  planLease,
  predecessorWithout,
} from './plan-lease.ts';
import type { Predecessor } from './plan-predecessor.ts';
import { RoleDenial } from './role-denial.ts';

/** What {@link createLeaderElection} needs. */
export interface LeaderElectionOptions extends ElectionSettings, LeasePlace {
  /** Best one whose rate limiter the disruptive requests do not share: behind a queue the Lease would be lost. */
  readonly client: LeasePlace['client'];
  /** Called after each round with the verb that the Role denies; undefined: none. */
  readonly onRound?: (denied: string | undefined) => void;
}

/** A round reads, writes, and where the write met a conflict, reads and writes once more at most. */
const requestsOfRound = 4;
/** No call of this program takes longer. */
const longestRequest = seconds(30);

/** Returns an election on a Lease of coordination.k8s.io/v1, as client-go's; `id` must be new at every start. */
export function createLeaderElection(options: LeaderElectionOptions): LeaderElection {
  return new LeaseElection(options);
}

class LeaseElection implements LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #requests: LeaseRequests;
  readonly #states = new LeaderStates();
  readonly #log: ElectionLog;
  #memory: ElectionMemory;
  #ending = new AbortController();
  #watchdog: Timer | undefined;
  readonly #announcements: Announcements;
  /** Ends the pause before the next round. */
  #wake = new AbortController();
  /** What was lost, for as long as nothing was gained since. */
  #lost: Leadership | undefined;
  #round: Promise<void> = Promise.resolve();
  readonly #denial: RoleDenial;

  constructor(options: LeaderElectionOptions) {
    const { client, clock, log, namespace, name, id, leaseDuration, scope } = options;
    this.#options = options;
    this.#denial = new RoleDenial(options);
    const holding = { id, leaseDuration, scope };
    this.#requests = new LeaseRequests({ client, clock, namespace, name, holding });
    this.#log = new ElectionLog(log.with({ lease: `${namespace}/${name}` }), clock);
    this.#memory = newMemory(clock.monotonic());
    // Where the last request failed, the next round is soon enough.
    const renew = (): void => void (this.#memory.isCurrent && this.#wake.abort());
    const muted = (because: string): void => this.#log.muted(because);
    const horizon = options.predecessorHorizon;
    this.#announcements = new Announcements({ horizon, renew, muted });
  }

  get state(): LeaderState {
    return this.#states.state;
  }

  get #isLed(): boolean {
    return this.#memory.leadership !== undefined;
  }

  onChange(listener: (state: LeaderState) => void): () => void {
    return this.#states.onChange(listener);
  }

  leading(signal: AbortSignal): Promise<Leading> {
    return this.#states.leading(signal);
  }

  isHeld(now: Monotonic): boolean {
    return isHeldAt(this.#memory, now);
  }

  leads(now: Monotonic): boolean {
    return this.state.kind === 'unavailable' ? this.#denial.vouches(now) : this.isHeld(now);
  }

  async announce(request: string, signal: AbortSignal): Promise<Announcement> {
    if (this.state.kind === 'unavailable') return notNamed;
    return this.#announcements.announce(request, signal);
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.state.kind === 'lost') this.#states.follow('the Lease was lost');
    const { clock } = this.#options;
    while (this.#isRunning(signal)) {
      const startedAt = clock.monotonic();
      this.#round = this.#runRound(signal);
      await this.#round;
      if (this.#isRunning(signal)) await this.#pause(startedAt, signal);
    }
    if (signal.aborted && !this.#ending.signal.aborted) this.#stop(false);
  }

  async end({ isClean }: EndOptions): Promise<void> {
    this.#ending.abort();
    await this.#round;
    const { leadership } = this.#memory;
    // Ours to give up, and not ours to act on from here on.
    this.#states.stopWork('it was asked to end');
    this.#memory = { ...this.#memory, leadership: undefined };
    const ending = leadership ?? lostTerm(this.#lost, this.#options.clock.monotonic());
    const mayClaim = isClean && ending !== undefined && isWaitOver(ending, this.#options);
    this.#stop(mayClaim && (await this.#giveUp(ending)));
  }

  #isRunning(signal: AbortSignal): boolean {
    const { kind } = this.state;
    return !signal.aborted && !this.#ending.signal.aborted && kind !== 'lost' && kind !== 'ended';
  }

  async #pause(startedAt: Monotonic, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const rest = millis(startedAt + this.#denial.pause - clock.monotonic());
    if (this.#announcements.isWanted && this.#memory.isCurrent) return;
    this.#wake = new AbortController();
    const wake = AbortSignal.any([signal, this.#ending.signal, this.#wake.signal]);
    // An abort only wakes it: the loop looks why.
    await clock
      .sleep(rest, { signal: wake, owner: 'lease', background: true })
      .catch(() => undefined);
  }

  async #runRound(signal: AbortSignal): Promise<void> {
    if (!this.#isLed) this.#memory = { ...this.#memory, isCurrent: false };
    for (let sent = 0; sent < requestsOfRound; sent += 1) {
      if (this.#ending.signal.aborted) return;
      const askedAt = this.#options.clock.monotonic();
      const step = planLease(this.#memory, this.#options, askedAt);
      if (step.kind === 'lost') return this.#lose(step.because);
      if (step.kind === 'wait') return this.#follow(step.because);
      const answer = await this.#send(step, signal);
      this.#denial.see(answer.kind === 'forbidden' && !this.#isLed, askedAt);
      if (signal.aborted || !this.#takeIn(step, answer)) return;
    }
  }

  /** Learns from `answer`. @returns whether the round goes on */
  #takeIn(step: LeaseRequest, answer: LeaseAnswer): boolean {
    const at = this.#options.clock.monotonic();
    switch (answer.kind) {
      case 'record': {
        const { record, sentAt } = answer;
        if (step.kind === 'read') {
          const { clock, predecessorHorizon: horizon } = this.#options;
          this.#learn({ kind: 'read', ...lookAt(record, { at, now: clock.now(), horizon }) });
          return true;
        }
        const predecessor = predecessorOfStep(step);
        this.#learn({ kind: 'written', record, predecessor, sentAt, at });
        this.#announcements.stored(record.underWay, at);
        this.#gain();
        return false;
      }
      case 'absent':
        this.#learn({ kind: 'read', record: undefined, at });
        return true;
      case 'conflict':
        this.#learn({ kind: 'unsure' });
        return true;
      default:
        this.#learn({ kind: 'unsure' });
        if (answer.kind === 'failed') this.#announcements.failed(answer.error, at);
        this.#fail(answer);
        return false;
    }
  }

  async #send(step: LeaseRequest, signal: AbortSignal): Promise<LeaseAnswer> {
    const { clock, renewDeadline } = this.#options;
    if ('attempt' in step) this.#memory = { ...this.#memory, attempt: step.attempt };
    const notAfter = this.#memory.leadership?.heldUntil;
    // Below the deadline, so that one silent connection does not cost the Lease.
    const rest = notAfter === undefined ? renewDeadline : notAfter - clock.monotonic();
    const timeout = millis(Math.max(1, Math.min(renewDeadline / 2, rest, longestRequest)));
    const predecessor = step.kind === 'read' ? undefined : predecessorOfStep(step);
    const underWay = predecessor && this.#announcements.writing(predecessor, clock.monotonic());
    return this.#requests.send(step, { signal, timeout, notAfter, underWay });
  }

  #learn(news: Parameters<typeof learn>[2]): void {
    this.#memory = learn(this.#memory, this.#options, news);
  }

  #gain(): void {
    const { clock } = this.#options;
    const { leadership } = this.#memory;
    if (leadership === undefined || this.#ending.signal.aborted) return;
    this.#lost = undefined;
    this.#watch(leadership);
    const term = termText(leadership.term);
    const isNew = this.state.kind !== 'leading';
    if (isNew) this.#announcements.led(clock.monotonic());
    if (!isHeldAt(this.#memory, clock.monotonic())) return;
    this.#recovered();
    if (isNew) this.#log.leading(term, leadership.predecessor);
    this.#states.lead(term, leadership.predecessor);
  }

  #watch({ heldUntil }: Leadership): void {
    const { clock } = this.#options;
    this.#watchdog?.cancel();
    const check = (): void => {
      const { leadership } = this.#memory;
      const step = planLease(this.#memory, this.#options, clock.monotonic());
      if (step.kind === 'lost') this.#lose(step.because);
      // Timers may fire a little early.
      else if (leadership !== undefined) this.#watch(leadership);
    };
    const rest = millis(Math.max(1, heldUntil - clock.monotonic()));
    this.#watchdog = clock.timer(rest, check, { owner: 'lease', background: true });
  }

  #lose(because: string): void {
    if (!this.#isLed) return;
    this.#watchdog?.cancel();
    this.#lost = this.#memory.leadership;
    this.#announcements.lost();
    this.#memory = { ...this.#memory, leadership: undefined, isCurrent: false };
    this.#log.lost(because);
    this.#states.lose(`The Lease was lost: ${because}`);
  }

  #follow(because: string): void {
    this.#recovered();
    if (this.#states.follow(because)) this.#log.following(because);
  }

  #recovered(): void {
    this.#log.recovered();
    this.#options.onRound?.(undefined);
  }

  #fail(answer: LeaseAnswer & { kind: 'forbidden' | 'failed' }): void {
    if (answer.kind === 'forbidden' && !this.#isLed) return this.#doWithout(answer);
    this.#log.failed(answer.error);
    if (this.#isLed || !this.#mayFollow()) return;
    this.#states.follow(`it cannot be reached: ${answer.error.message}`);
  }

  /** A leader without a Lease cannot know whether another has the Lease by now, but for a while after each denial. */
  #mayFollow(): boolean {
    const { kind } = this.state;
    const now = this.#options.clock.monotonic();
    return kind === 'candidate' || (kind === 'unavailable' && !this.#denial.vouches(now));
  }

  #doWithout({ verb, error }: LeaseAnswer & { kind: 'forbidden' }): void {
    const { clock } = this.#options;
    const predecessor = predecessorWithout(this.#memory, this.#options, clock.monotonic());
    this.#memory = { ...this.#memory, hasLedWithout: true };
    this.#options.onRound?.(verb);
    const because = `The Role does not permit ${verb} on the Lease`;
    if (this.#states.leadWithout(because, predecessor)) this.#log.denied(verb, error);
  }

  #giveUp(leadership: Leadership): Promise<boolean> {
    const { sighting, isCurrent } = this.#memory;
    const last = isCurrent && sighting.kind === 'present' ? sighting.record : undefined;
    const requests = this.#requests;
    const tries = this.#lost === undefined ? 4 : patienceAfterLoss / this.#options.retryPeriod;
    return giveUp({ ...this.#options, requests, tries }, leadership, last);
  }

  #stop(isClean: boolean): void {
    this.#watchdog?.cancel();
    this.#memory = { ...this.#memory, leadership: undefined };
    this.#states.end(isClean);
  }
}

function predecessorOfStep(step: Exclude<LeaseRequest, { kind: 'read' }>): Predecessor {
  return step.kind === 'renew' ? step.predecessor : step.attempt.predecessor;
}

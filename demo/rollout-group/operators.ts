import { randomUUID } from 'node:crypto';
import type { Because } from '#base/because.ts';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import type { Commit } from '#cluster/event-log.ts';
import { textAt } from '#cluster/json/read-json.ts';
import type { Plan } from '#control/decision/decision.ts';
import { ENDED_TERM } from '#kubernetes/leader-election/lease-record.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { runDemoOperator } from './demo-operator.ts';
import type { Scene } from './scene.ts';
import { SeverableTransport } from './severable-transport.ts';

/** Ports of {@link Operators}. */
export interface OperatorsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly scene: Scene;
  readonly kubeconfig: string;
  /** A new connection to the API server, as the operator's user. */
  readonly connect: () => Transport;
  /** Called with the plan of every pass of an operator that lives. */
  readonly onPlan: (plan: Plan) => void;
  /** Called when an operator has filled its caches. */
  readonly onReady: () => void;
}

/** One operator, as a process of its own would be. */
export interface DemoOperator {
  readonly name: string;
  /** Whether its caches are filled. */
  readonly isReady: boolean;
  /** Why it kept back what it would have done, if a predecessor was the reason; the newest word. */
  readonly awaited: Because | undefined;
  /** Where it serves its webhooks; never, if the scene has no flag for it. */
  readonly webhookPort: Promise<number>;
  /** Stops it as SIGTERM does. Resolves when it has ended. */
  stop(): Promise<void>;
  /** Ends it as SIGKILL does: nothing that it would send is sent any more, without notice to others. */
  kill(): void;
}

/** The operators of a stage, and which of them leads as the Lease has it. */
export class Operators {
  readonly #options: OperatorsOptions;
  readonly #all: Operator[] = [];
  readonly #failure = Promise.withResolvers<never>();
  /** Identities with a clean end in the Lease. */
  readonly #endedWell = new Set<string>();
  #holder = '';

  constructor(options: OperatorsOptions) {
    this.#options = options;
    // Those that wait for something hear of it, and no others.
    this.#failure.promise.catch(() => undefined);
  }

  /** Rejects as soon as an operator ends that was not stopped. */
  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  /** Returns those that were neither stopped nor killed, in the order of their starts. */
  get alive(): readonly DemoOperator[] {
    return this.#all.filter((operator) => operator.isWanted);
  }

  /** Returns how many were started so far. */
  get count(): number {
    return this.#all.length;
  }

  /** Returns who holds the Lease as it is stored, dead or alive; undefined while no process does. */
  get leader(): DemoOperator | undefined {
    return this.#all.find(({ identity }) => identity === this.#holder);
  }

  /** Reports whether the Lease said that the term of `operator` ended with all its requests answered. */
  hasEndedWell(operator: DemoOperator): boolean {
    return this.#all.some((each) => each === operator && this.#endedWell.has(each.identity));
  }

  start(name: string): DemoOperator {
    const operator = new Operator(name, this.#options, (error) => this.#failure.reject(error));
    this.#all.push(operator);
    return operator;
  }

  /** Takes in one commit. */
  observe({ resource, after }: Commit): void {
    if (resource !== 'leases.coordination.k8s.io') return;
    this.#holder = textAt(after, 'spec', 'holderIdentity');
    const [, , identity] = textAt(after, 'metadata', 'annotations', ENDED_TERM).split('/');
    if (identity !== undefined) this.#endedWell.add(identity);
  }

  /** Stops all that live, and waits until they have ended. */
  async close(): Promise<void> {
    await Promise.all(this.#all.map((operator) => operator.stop()));
  }
}

class Operator implements DemoOperator {
  readonly name: string;
  readonly identity: string;
  readonly #ending = new AbortController();
  readonly #transport: SeverableTransport;
  readonly #webhookPort = Promise.withResolvers<number>();
  readonly #ended: Promise<void>;
  #isReady = false;
  #isKilled = false;
  #awaited: Because | undefined;

  constructor(name: string, options: OperatorsOptions, onFailure: (error: Error) => void) {
    const { clock, log, scene, kubeconfig, connect } = options;
    this.name = name;
    this.identity = `${name}-${randomUUID()}`;
    this.#transport = new SeverableTransport(connect());
    const running = runDemoOperator(
      {
        clock,
        log: log.with({ operator: name }),
        scene,
        kubeconfig,
        identity: this.identity,
        transport: this.#transport,
        onListening: (port) => this.#webhookPort.resolve(port),
        onReady: () => {
          this.#isReady = true;
          options.onReady();
        },
        onPlan: (plan) => this.#planned(plan, options),
      },
      this.#ending.signal,
    );
    this.webhookPort.catch(() => undefined);
    this.#ended = running.then(
      () => this.#end(undefined, onFailure),
      (error: unknown) => this.#end(errorOf(error), onFailure),
    );
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  get isWanted(): boolean {
    return !this.#ending.signal.aborted;
  }

  get awaited(): Because | undefined {
    return this.#awaited;
  }

  get webhookPort(): Promise<number> {
    return this.#webhookPort.promise;
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#ended;
  }

  kill(): void {
    this.#isKilled = true;
    this.#transport.sever();
    // What is left of it only cleans up after itself.
    this.#ending.abort();
  }

  #planned(plan: Plan, { onPlan }: OperatorsOptions): void {
    if (this.#isKilled) return;
    for (const { kind, because } of plan.decisions) {
      if (kind === 'hold' && because.reason === 'AwaitingPredecessor') this.#awaited = because;
    }
    onPlan(plan);
  }

  #end(error: Error | undefined, onFailure: (error: Error) => void): void {
    const why = error ?? new Error(`the ${this.name} has ended`);
    this.#webhookPort.reject(why);
    const isExpected = this.#isKilled || (error === undefined && !this.isWanted);
    if (!isExpected) onFailure(why);
  }
}

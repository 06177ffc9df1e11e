/** One namespace of a real cluster, in which a scenario runs. */
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { type Instant, type Millis, millis, seconds } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import type { Kubelet } from '#cluster/kubelet/start-kubelet.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Method, Transport } from '#kubernetes/transport/transport.ts';
import type { Judgement } from '#support/judge/judge.ts';
import { PodFleet } from '#support/pods/pod-fleet.ts';
import { ask } from '../scenarios/ask.ts';
import type { Answer, Change, Feature, OperatorHandle } from '../scenarios/env.ts';
import { images, isComplete, setBody, setName } from '../scenarios/group.ts';
import { removedBy } from './audit/ascription.ts';
import { type AuditEntry, readAudit } from './audit/audit.ts';
import type { CommitLog, StoredCommit } from './audit/commit-log.ts';
import type { ControlPlane, OwnControlPlane } from './control-plane/control-plane.ts';
import type { OperatorAccount, RoleName } from './control-plane/operator-account.ts';
import { judgeNamespace } from './judge-namespace.ts';
import type { LateWrite } from './late-proxy.ts';
import { OperatorRuns, type RealOperator } from './operator-runs.ts';
import type { RealEnv, RealEnvOptions } from './real-env.ts';
import { startReviewing } from './reviewed-evictions.ts';

/** What an environment is made of. */
export interface Parts {
  readonly plane: ControlPlane;
  /** The same plane where it is ours. */
  readonly own: OwnControlPlane | undefined;
  readonly recorded: CommitLog;
  readonly kubelet: Kubelet;
  readonly namespace: string;
  readonly account: OperatorAccount;
  /** Of the version of the server: 36 in 1.36. */
  readonly minor: number;
}

/** What may still be written once a scenario is over. */
const settling = seconds(1);

const features: ReadonlySet<Feature> = new Set(['roles', 'cel', 'apply']);
const ownFeatures: ReadonlySet<Feature> = new Set([...features, 'history', 'disturbance']);

/** A namespace of the real cluster as {@link RealEnv} has it. */
export class NamespaceEnv implements RealEnv {
  readonly cluster = 'real';
  readonly zones: readonly string[];
  readonly replicas: number;
  readonly maxUnavailable: number;
  readonly role: RoleName;
  readonly pods: PodFleet;
  readonly #parts: Parts;
  readonly #operators: OperatorRuns;
  readonly #wakers = new Set<() => void>();
  #transport: Transport | undefined;

  constructor(parts: Parts, options: RealEnvOptions) {
    this.#parts = parts;
    this.zones = options.zones ?? ['a', 'b', 'c'];
    this.replicas = options.replicas ?? 3;
    this.maxUnavailable = options.maxUnavailable ?? 2;
    this.role = options.role ?? 'ours';
    this.pods = new PodFleet(parts.plane.clock);
    const onLine = (): void => {
      for (const wake of this.#wakers) wake();
    };
    this.#operators = new OperatorRuns({
      ...parts,
      pods: this.pods,
      onLine,
      latenessSeed: options.latenessSeed,
      onWrite: options.onWrite,
      program: options.program,
    });
  }

  get namespace(): string {
    return this.#parts.namespace;
  }

  get user(): string {
    return this.#parts.account.user;
  }

  get log(): readonly JsonObject[] {
    return this.#operators.log;
  }

  get lateWrites(): readonly LateWrite[] {
    return this.#operators.lateWrites;
  }

  async untilNothingIsLate(): Promise<void> {
    await this.#operators.settled();
  }

  get admin(): Client {
    return this.#parts.plane.admin;
  }

  get kubelet(): Kubelet {
    return this.#parts.kubelet;
  }

  get #clock(): Clock {
    return this.#parts.plane.clock;
  }

  async begin(): Promise<void> {
    const { namespace } = this;
    await this.until('the namespace has its account', () =>
      this.names('serviceaccounts').includes('default'),
    );
    for (const zone of this.zones) {
      const body = setBody(this, zone);
      await this.admin.create(resourceTypes.statefulSets, { namespace }, { body });
    }
    await this.until('the group is complete', () => isComplete(this, images.old), seconds(300));
  }

  supports(feature: Feature): boolean {
    const { own, minor } = this.#parts;
    if (feature === 'zoneLabels') return minor >= 35;
    return (own === undefined ? features : ownFeatures).has(feature);
  }

  stored(resource: string, name: string): JsonObject | undefined {
    return this.#parts.recorded.stored(resource, this.namespace, name);
  }

  names(resource: string): readonly string[] {
    return this.#parts.recorded.names(resource, this.namespace);
  }

  history(): readonly Change[] {
    return this.#commits();
  }

  onCommit(listener: (change: Change) => void): () => void {
    return this.#parts.recorded.onCommit((commit) => {
      if (commit.namespace === this.namespace) listener(commit);
    });
  }

  ask(
    method: Method,
    path: string,
    ...rest: readonly [body?: JsonValue, headers?: Readonly<Record<string, string>>]
  ): Promise<Answer> {
    this.#transport ??= this.#parts.plane.connectAsAdmin();
    return ask(this.#transport, { method, path, rest });
  }

  async untilAnswered(path: string, status: number): Promise<void> {
    const deadline = this.#clock.monotonic() + seconds(30);
    while ((await this.ask('GET', path)).status !== status) {
      if (this.#clock.monotonic() > deadline) {
        throw new Error(`Waited in vain until GET ${path} is answered with ${status}`);
      }
      await this.#clock.sleep(millis(50));
    }
  }

  run<T>(work: Promise<T>): Promise<T> {
    return work;
  }

  until(what: string, holds: () => boolean, limit: Millis = seconds(120)): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        stop();
        deadline.cancel();
        this.#wakers.delete(ask);
        settle();
      };
      const ask = (): void => {
        try {
          if (holds()) end(resolve);
        } catch (error) {
          end(() => reject(errorOf(error)));
        }
      };
      const stop = this.onCommit(ask);
      this.#wakers.add(ask);
      const deadline = this.#clock.timer(limit, () => {
        const tail = this.log.slice(-15).map((line) => JSON.stringify(line));
        const message = `Waited ${limit / 1000} s in vain until ${what}; the operator's last lines:`;
        end(() => reject(new Error([message, ...tail].join('\n'))));
      });
      ask();
    });
  }

  async pass(span: Millis): Promise<void> {
    await this.#clock.sleep(span);
  }

  async forgetEvents(): Promise<void> {
    const { own } = this.#parts;
    await own?.compactEtcd();
    await own?.restartApiServer('SIGKILL');
  }

  startOperator(): Promise<OperatorHandle> {
    return this.startOperatorWith([]);
  }

  startReviewingOperator(): Promise<OperatorHandle> {
    const [zone = ''] = this.zones;
    return startReviewing(this, `${setName(zone)}-0`);
  }

  async startOperatorWith(
    flags: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<RealOperator> {
    const { handle, isReady } = await this.#operators.start(flags, env);
    await this.until('the operator is ready', isReady);
    return handle;
  }

  async removedByOperator(): Promise<ReadonlySet<string>> {
    return removedBy(this.user, this.#commits(), await this.audit());
  }

  async judge(quiet?: Millis): Promise<Judgement> {
    const quietFrom = quiet === undefined ? undefined : await this.#rest(quiet);
    const entries = await this.audit();
    return judgeNamespace({
      namespace: this.namespace,
      user: this.user,
      commits: this.#commits(),
      entries,
      operators: this.#operators,
      podCalls: this.pods.calls,
      groupOf: (set) =>
        textAt(this.stored('statefulsets.apps', set), 'metadata', 'labels', 'rollout-group'),
      quietFrom,
      end: this.#clock.now(),
    });
  }

  /** Lets what is under way settle, and then `span` pass. @returns when that began */
  async #rest(span: Millis): Promise<Instant> {
    await this.#clock.sleep(settling);
    const from = this.#clock.now();
    await this.#clock.sleep(span);
    return from;
  }

  async audit(): Promise<readonly AuditEntry[]> {
    const { own, account, namespace } = this.#parts;
    if (own === undefined) throw new Error('An existing cluster shows no audit log');
    const entries = await readAudit(own.auditPath);
    return entries.filter(
      ({ user, objectRef }) => user.username === account.user || objectRef?.namespace === namespace,
    );
  }

  async close(): Promise<void> {
    this.#parts.kubelet.behaviours.clear();
    await this.#operators.close();
  }

  #commits(): readonly StoredCommit[] {
    return this.#parts.recorded.commits.filter(({ namespace }) => namespace === this.namespace);
  }
}

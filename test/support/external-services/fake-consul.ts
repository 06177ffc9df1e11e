import type { Clock } from '#base/clock.ts';
import { valid } from '#base/parsed.ts';
import { type Monotonic, seconds } from '#base/units.ts';
import type { Consul, ConsulAnswer, ConsulAsking, ConsulQuestion } from '#check/consul/consul.ts';
import type { ServiceInstance } from '#check/consul/parse-consul.ts';
import type { OwnToken } from '#check/credentials/consul-tokens.ts';
import { type CallFate, never } from './call-fate.ts';

/** Consul in virtual time: what a test says, and blocking questions. */
export class FakeConsul {
  readonly questions: ConsulQuestion[] = [];
  /** Asked of each call before it leaves what becomes of it. */
  intercept: () => CallFate = () => undefined;
  readonly #clock: Clock;
  readonly #services = new Map<string, Map<string, ServiceInstance>>();
  readonly #waiting = new Set<() => void>();
  /** When each watch asked last. */
  readonly #askedAt = new WeakMap<AbortSignal, Monotonic>();
  /** Indexes that were answered. */
  readonly #told = new Set<bigint>([0n]);
  #trouble: Extract<ConsulAnswer, { kind: 'trouble' }> | undefined;
  #index = 10n;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns it as the operator opens it. */
  get opened(): { readonly consul: Consul; readonly ownToken: OwnToken } {
    const consul: Consul = {
      ask: (question, asking) => this.#ask(question, asking),
      close: () => Promise.resolve(),
    };
    return { consul, ownToken: () => Promise.resolve(valid(undefined)) };
  }

  /** Returns how many questions wait for a change. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Registers an instance of a pod, or changes how it is. */
  register(service: string, pod: string, changes: Partial<ServiceInstance> = {}): void {
    const instances = this.#services.get(service) ?? new Map<string, ServiceInstance>();
    this.#services.set(service, instances);
    instances.set(pod, {
      id: `${pod}-${service}`,
      podName: pod,
      namespace: undefined,
      address: '',
      nodeAddress: '',
      isPassing: true,
      ...changes,
    });
    this.#changed();
  }

  /** Takes all instances of a service away. */
  vanish(service: string): void {
    this.#services.delete(service);
    this.#changed();
  }

  /** Answers nothing but that, until it is undefined again. */
  fail(trouble: Extract<ConsulAnswer, { kind: 'trouble' }> | undefined): void {
    this.#trouble = trouble;
    this.#changed();
  }

  #changed(): void {
    this.#index += 1n;
    for (const wake of this.#waiting) wake();
  }

  async #ask(question: ConsulQuestion, asking: ConsulAsking): Promise<ConsulAnswer> {
    const { index, signal } = asking;
    const fate = this.intercept();
    if (fate === 'not-sent') return never();
    this.questions.push(question);
    this.#judge(question, asking);
    if (fate === 'not-answered') return never();
    if (this.#trouble === undefined && index >= this.#index) await this.#change(signal);
    if (this.#trouble !== undefined) return this.#trouble;
    const instances = [...(this.#services.get(question.service)?.values() ?? [])];
    this.#told.add(this.#index);
    return { kind: 'instances', instances, index: this.#index };
  }

  /** As it is documented: a watch asks once a second at most, and after an index that it was given. @throws where it does not */
  #judge({ service }: ConsulQuestion, { index, signal }: ConsulAsking): void {
    const now = this.#clock.monotonic();
    const before = this.#askedAt.get(signal);
    this.#askedAt.set(signal, now);
    if (service === '' || /[/?#\s]/.test(service)) throw new Error(`No service: ${service}`);
    if (!this.#told.has(index)) throw new Error(`Nobody told the index ${index}`);
    if (before !== undefined && now - before < seconds(1))
      throw new Error(`Two questions about ${service} within ${now - before} ms`);
  }

  #change(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const options = { owner: 'fake consul', background: true };
    const timer = this.#clock.timer(seconds(55), resolve, options);
    signal.addEventListener('abort', () => resolve(), { once: true });
    this.#waiting.add(resolve);
    return promise.finally(() => {
      timer.cancel();
      this.#waiting.delete(resolve);
    });
  }
}

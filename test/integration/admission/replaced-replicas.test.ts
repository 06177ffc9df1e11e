/** Reviews while replicas of the operator are replaced, through what stands for a Service (LOAD-4). */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { millis } from '#base/units.ts';
import { reviewDocument } from '#support/admission/admission-requests.ts';
import { WebhookClient } from '#support/admission/webhook-client.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { type ServingOperator, WebhookStage } from '../stages/webhook-stage.ts';

const clock = systemClock();
const body = JSON.stringify(reviewDocument());

/** Chooses among the replicas that were ready when it last asked, each tenth of a second. */
class Service {
  readonly failures: string[] = [];
  reviews = 0;
  readonly #replicas = new Set<ServingOperator>();
  #ready: readonly ServingOperator[] = [];
  #isOver = false;
  readonly #running: Promise<unknown>;
  readonly #bundle: () => Promise<string>;
  #looked = Promise.withResolvers<void>();

  constructor(replicas: readonly ServingOperator[], bundle: () => Promise<string>) {
    this.#bundle = bundle;
    for (const replica of replicas) this.#replicas.add(replica);
    this.#running = Promise.all([this.#look(), this.#send(), this.#send()]);
  }

  add(replica: ServingOperator): void {
    this.#replicas.add(replica);
  }

  /** Resolves when it has asked all replicas again from now on. */
  async looked(): Promise<void> {
    await this.#looked.promise;
    await this.#looked.promise;
  }

  isReady(replica: ServingOperator): boolean {
    return this.#ready.includes(replica);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #look(): Promise<void> {
    while (!this.#isOver) {
      const asked = [...this.#replicas].map(async (replica) => {
        const answer = await fetch(`${replica.plain}/ready`).catch(() => undefined);
        return answer?.status === 200 ? [replica] : [];
      });
      this.#ready = (await Promise.all(asked)).flat();
      const looked = this.#looked;
      this.#looked = Promise.withResolvers<void>();
      looked.resolve();
      await clock.sleep(millis(100));
    }
  }

  async #send(): Promise<void> {
    for (let turn = 0; !this.#isOver; turn += 1) {
      const replica = this.#ready[turn % Math.max(1, this.#ready.length)];
      if (replica === undefined) await this.looked();
      else await this.#review(replica);
    }
  }

  async #review({ port }: ServingOperator): Promise<void> {
    // As the API server does: with the bundle that the configuration has now.
    const ca = await this.#bundle();
    const client = new WebhookClient(port, ca, { servername: 'rollout-operator.test.svc' });
    await client.post('/admission/no-downscale', body).then(
      ({ status, text }) => {
        this.reviews += 1;
        if (status !== 200 || !text.includes('"allowed":true')) this.failures.push(text);
      },
      (error: unknown) => this.failures.push(String(error)),
    );
    await client.close();
  }
}

describe('a Service over two replicas', () => {
  let stage: WebhookStage;

  before(async () => {
    stage = await WebhookStage.open();
  });

  after(async () => {
    await stage.close();
  });

  test('fails no review while each replica is stopped in good order and replaced, and after one was killed only until that is noticed (LOAD-4)', async (context) => {
    const replicas = await Promise.all([stage.operator(), stage.operator()]);
    await stage.configure(replicas[0].port);
    const service = new Service(replicas, () => stage.bundle());
    context.after(() => service.end());
    await service.looked();
    for (const replica of replicas) {
      const before = service.reviews;
      replica.process.kill('SIGTERM');
      assert.equal(await replica.process.exitCode(), 0);
      assert.ok(service.reviews > before, 'no review while a replica ended');
      const next = await stage.operator();
      service.add(next);
      while (!service.isReady(next)) await service.looked();
    }
    assert.deepEqual(service.failures, []);

    const killed = await stage.operator();
    service.add(killed);
    while (!service.isReady(killed)) await service.looked();
    killed.process.kill('SIGKILL');
    await killed.process.exitCode();
    while (service.isReady(killed)) await service.looked();
    await service.looked();
    const { reviews, failures } = service;
    const failed = failures.length;
    await service.looked();
    await service.looked();
    assert.ok(service.reviews > reviews, 'no review after a replica was killed');
    assert.equal(service.failures.length, failed, failures.join('\n'));
  });
});

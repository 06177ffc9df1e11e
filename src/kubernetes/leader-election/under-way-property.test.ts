import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { millis } from '#base/units.ts';
import type { RequestFate } from '#support/api-server/lease-server.ts';
import { type Candidate, LeaseWorld } from '#support/api-server/lease-world.ts';

/** A request that was sent by a process, and may be under way. */
interface Sent {
  readonly by: string;
  readonly name: string;
}

/** Processes that send requests while they lead, each of them named in the Lease first. */
class Senders {
  readonly world = new LeaseWorld();
  readonly #open = new Set<Sent>();
  /** Terms that began while a request of another process was under way, and how much of that their predecessor said. */
  readonly seen = { named: 0, unsaid: 0 };
  readonly faults: string[] = [];
  #count = 0;

  start(id: string, fates: readonly RequestFate[], spans: readonly number[]): Candidate {
    // A Lease says nothing in the first two minutes of an installation.
    const calm = Array.from({ length: 65 }, () => ({}));
    const candidate = this.world.start(id, { fates: [...calm, ...fates] });
    candidate.election.onChange((state) => {
      if (state.kind !== 'leading') return;
      this.#check(id, state.predecessor);
      void this.#send(candidate, state.signal, spans);
    });
    return candidate;
  }

  #check(id: string, predecessor: object): void {
    const others = [...this.#open].filter(({ by }) => by !== id).map(({ name }) => name);
    if (others.length === 0) return;
    const { kind, requests } = { kind: '', requests: undefined, ...predecessor } as {
      readonly kind: string;
      readonly requests: readonly string[] | undefined;
    };
    if (kind !== 'unclean') this.faults.push(`${id} takes its predecessor for ${kind}`);
    if (requests === undefined) this.seen.unsaid += 1;
    else this.seen.named += 1;
    const unnamed = others.filter((name) => requests !== undefined && !requests.includes(name));
    if (unnamed.length > 0)
      this.faults.push(`${id} leads, and does not know of ${unnamed.join(' and ')}`);
  }

  /** Sends one request after the other until the term ends; each is under way for one of `spans`. */
  async #send(
    { id, election, clock }: Candidate,
    signal: AbortSignal,
    spans: readonly number[],
  ): Promise<void> {
    for (let at = 0; !signal.aborted; at += 1) {
      const span = spans[at % spans.length] ?? 0;
      await clock.sleep(millis(700), { signal, owner: 'sender' }).catch(() => undefined);
      const request = { by: id, name: `Pod/x/${id}-${this.#count}/uid` };
      this.#count += 1;
      const announcement = await election.announce(request.name, signal).catch(() => undefined);
      if (announcement === undefined || !election.leads(clock.monotonic())) continue;
      this.#open.add(request);
      void this.world.clock.sleep(millis(span), { owner: 'request' }).then(() => {
        this.#open.delete(request);
        announcement.end();
      });
    }
  }
}

describe('whoever takes a Lease over knows of every request that may be under way', () => {
  const latency = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 4_000 }), fc.constant(20_000));
  const pause = fc.option(fc.constantFrom(2_100, 9_990, 14_990, 22_500), { freq: 8, nil: 0 });
  const fate: fc.Arbitrary<RequestFate> = fc.record({
    transit: latency,
    back: latency,
    pauseBefore: pause,
    pauseAfter: pause,
    outcome: fc.constantFrom(
      'ok',
      'ok',
      'unapplied-409',
      'unapplied-500',
      'applied-500',
      'answer-lost',
    ),
  });
  const fates = fc.array(fate, { maxLength: 15 });
  const killedAt = fc.integer({ min: 128_000, max: 170_000 });
  const spans = fc.array(fc.constantFrom(1, 5_000, 40_000, 40_000), { minLength: 1, maxLength: 5 });

  test('whatever delays, pauses, conflicts and lost answers there are [found S-6]', async () => {
    const seen = { named: 0, unsaid: 0 };
    await fc.assert(
      fc.asyncProperty(fc.tuple(fates, fates), spans, killedAt, async (unusual, lengths, after) => {
        const [first, second] = unusual;
        const senders = new Senders();
        const { world } = senders;
        const killed = senders.start('a', first, lengths);
        await world.run(1_000);
        senders.start('b', second, lengths);
        await world.run(after);
        killed.kill.abort();
        for (let round = 0; round < 15; round += 1) {
          await world.run(10_000);
          for (const { election, kill } of world.candidates) {
            if (!kill.signal.aborted && election.state.kind === 'lost')
              void election.run(kill.signal);
          }
        }
        assert.deepEqual(senders.faults, []);
        seen.named += senders.seen.named;
        seen.unsaid += senders.seen.unsaid;
      }),
      { numRuns: 20, seed: 6 },
    );
    // Else the property says nothing.
    assert.ok(seen.named > 0, JSON.stringify(seen));
  });
});

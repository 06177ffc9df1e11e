import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createCluster, type EmbeddedCluster } from '#embedded-cluster/create-cluster.ts';
import type { Transport } from '#kubernetes/transport.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { acceptedDifferences } from '../differential/accepted-differences.ts';
import { admission } from '../differential/admission.ts';
import { compare, type Difference } from '../differential/compare.ts';
import { everyResource } from '../differential/every-resource.ts';
import { protocol } from '../differential/protocol.ts';
import { type Conversation, hold } from '../differential/talk.ts';
import { WebhookServer } from '../differential/webhook-server.ts';
import { findBinaries } from '../real-cluster/binaries.ts';
import { type ControlPlane, startControlPlane } from '../real-cluster/control-plane.ts';

describe('one conversation, two servers', () => {
  let hooks: WebhookServer;
  const conversations: Readonly<Record<string, Conversation>> = {
    ...protocol,
    ...everyResource,
    ...admission(() => hooks),
  };
  let plane: ControlPlane;
  let cluster: EmbeddedCluster;
  let real: Transport;
  let embedded: Transport;
  let count = 0;
  const uses = new Map(acceptedDifferences.map(({ id }) => [id, 0]));

  before(async () => {
    const say = (line: string): void => void process.stderr.write(`${line}\n`);
    const binaries = await findBinaries({ env: process.env, say });
    hooks = await WebhookServer.start();
    plane = await startControlPlane(binaries, { hasControllers: false });
    cluster = await createCluster({ clock: systemClock(), seed: 1 });
    real = plane.connect(plane.adminToken);
    embedded = cluster.transport();
  });

  after(async () => {
    for (const { id, rule, reason } of acceptedDifferences) {
      process.stdout.write(`accepted ${id} (${uses.get(id)} places): ${rule} — ${reason}\n`);
    }
    await cluster?.close();
    await plane?.close();
    await hooks?.close();
  });

  function accepted(difference: Difference): boolean {
    const entry = acceptedDifferences.find(({ covers }) => covers(difference));
    if (entry === undefined) return false;
    uses.set(entry.id, (uses.get(entry.id) ?? 0) + 1);
    return true;
  }

  for (const [name, conversation] of Object.entries(conversations)) {
    test(name, { timeout: 60_000 }, async () => {
      count += 1;
      const namespace = `c-${count}`;
      const { clock } = plane;
      const transcripts = {
        real: await hold(conversation, { transport: real, clock, namespace }),
        embedded: await hold(conversation, { transport: embedded, clock, namespace }),
      };
      for (const { steps } of [transcripts.real, transcripts.embedded]) {
        assert.deepEqual(
          steps.filter(({ said }) => said === 'broke off'),
          [],
        );
      }
      const found = compare(name, transcripts).filter((difference) => !accepted(difference));
      const lines = found.map(
        ({ step, path, embedded, real }) =>
          `${step}: ${path}\n    real     ${JSON.stringify(real)}\n    embedded ${JSON.stringify(embedded)}`,
      );
      assert.equal(lines.length, 0, `\n${lines.join('\n')}`);
    });
  }

  test('every accepted difference is still there', () => {
    const unused = [...uses].filter(([, count]) => count === 0).map(([id]) => id);
    assert.deepEqual(unused, []);
  });
});

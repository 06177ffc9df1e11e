import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import { staticCredentials, withCredentials } from '#kubernetes/connect/bearer-token.ts';
import { createHttpTransport } from '#kubernetes/transport/http-transport.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { acceptedDifferences } from '../../differential/accepted-differences.ts';
import { admission } from '../../differential/admission.ts';
import { compare, type Difference } from '../../differential/compare.ts';
import { everyResource } from '../../differential/every-resource.ts';
import { protocol } from '../../differential/protocol.ts';
import { storage } from '../../differential/storage.ts';
import { type Conversation, hold } from '../../differential/talk.ts';
import { WebhookServer } from '../../differential/webhook-server.ts';
import { findBinaries } from '../../real-cluster/control-plane/binaries.ts';
import {
  minorOf,
  type OwnControlPlane,
  startControlPlane,
} from '../../real-cluster/control-plane/control-plane.ts';
import { NO_QUIET_SERVER } from '../../real-cluster/skip-reasons.ts';

/** As clients reach it: over a socket, with TLS. */
async function overHttps(cluster: EmbeddedCluster): Promise<Transport> {
  const listener = await cluster.listen({ isTls: true });
  const file = parse(listener.kubeconfig()) as {
    readonly users: readonly [{ readonly user: { readonly token: string } }];
  };
  const tls = (): { ca: string } => ({ ca: listener.ca ?? '' });
  return withCredentials(
    createHttpTransport({ server: new URL(listener.url), clock: systemClock(), tls }),
    staticCredentials(`Bearer ${file.users[0].user.token}`),
  );
}

const skip = (process.env['TEST_KUBECONFIG'] ?? '') !== '' && NO_QUIET_SERVER;

describe('one conversation, two servers', { skip }, () => {
  let hooks: WebhookServer;
  const conversations: Readonly<Record<string, Conversation>> = {
    ...protocol,
    ...everyResource,
    ...storage,
    ...admission(() => hooks),
  };
  let plane: OwnControlPlane;
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
    real = plane.connectAsAdmin();
    embedded = await overHttps(cluster);
  });

  after(async () => {
    for (const { id, rule, reason } of acceptedDifferences) {
      process.stdout.write(`accepted ${id} (${uses.get(id)} places): ${rule} — ${reason}\n`);
    }
    await embedded?.close();
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

  test('every accepted difference is still there', async () => {
    const minor = await minorOf(plane.admin);
    const unused = acceptedDifferences.filter(
      ({ id, since = 0 }) => uses.get(id) === 0 && since <= minor,
    );
    assert.deepEqual(
      unused.map(({ id }) => id),
      [],
    );
  });
});

/** The real program, with the heap and below the memory limit that the manifests ship. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { textAt } from '#embedded-cluster/controllers/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { reviewDocument } from '#testing/admission-requests.ts';
import { WebhookClient } from '#testing/webhook-client.ts';
import { posting } from './hostile-trust-stage.ts';
import { type ServingOperator, WebhookStage } from './webhook-stage.ts';

const namespace = 'test';
const shipped = { NODE_OPTIONS: '--max-old-space-size=96', MALLOC_ARENA_MAX: '2' };

/** The most memory that a process has had, in MiB; 0 when it is gone. */
function peakOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024);
  } catch {
    return 0;
  }
}

describe('the program under its shipped limits', () => {
  let stage: WebhookStage;
  let operator: ServingOperator;

  before(async () => {
    stage = await WebhookStage.open();
  });
  beforeEach(async () => {
    operator = await stage.operator([], shipped);
  });
  after(() => stage.close());

  async function caOf(): Promise<string> {
    const key = { namespace, name: 'rollout-operator-self-signed-certificate' };
    const secret = await stage.admin.get(resourceTypes.secrets, key);
    return Buffer.from(textAt(secret, 'data', 'ca'), 'base64').toString();
  }

  test('stays below 180 MiB when somebody asks 1,150 times for /metrics in 64 KB', async () => {
    const { port } = new URL(operator.plain);
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => undefined).pause();
    socket.write('GET /metrics HTTP/1.1\r\nHost:x\r\nAccept-Encoding:gzip\r\n\r\n'.repeat(1_150));
    const begun = performance.now();
    await sleep(200);
    const alive = await fetch(`${operator.plain}/live`).then(
      ({ status }) => status,
      (error: unknown) => String(error),
    );
    const took = Math.round(performance.now() - begun);
    await sleep(3_000);
    const peak = peakOf(operator.process.pid);
    socket.destroy();
    assert.ok(peak > 0 && peak < 180, `${peak} MiB; /live answered ${alive} after ${took} ms`);
  });

  test('outlives 200 forged scale-downs of 148 KB while the API server takes 5 s to answer', async () => {
    stage.cluster.faults.add({
      match: { verb: 'get', resource: 'statefulsets' },
      action: { kind: 'delay', delay: seconds(5) },
    });
    const ca = await caOf();
    const servername = 'rollout-operator.test.svc';
    for (let at = 0; at < 25; at += 1) {
      const socket = connectTls({ port: operator.port, host: '127.0.0.1', ca, servername });
      socket.on('error', () => undefined).resume();
      for (let of = 0; of < 8; of += 1) {
        socket.write(posting('/admission/no-downscale?timeout=30s', forged(at * 8 + of)));
        await sleep(2);
      }
    }
    await sleep(6_000);
    const peak = peakOf(operator.process.pid);
    const lines = operator.process.lines.filter((line) => /FATAL|heap/.test(line));
    const client = new WebhookClient(operator.port, ca, { servername });
    const status = await client.post('/admission/no-downscale', JSON.stringify(reviewDocument())).then(
      (answer) => answer.status,
      (error: unknown) => String(error),
    );
    await client.close();
    assert.equal(status, 200, `peak of ${peak} MiB: ${lines.join('; ')}`);
    assert.ok(peak < 180, `${peak} MiB`);
  });
});

function forged(seed: number): string {
  const names = Array.from({ length: 6_800 }, (_, at) =>
    `${seed.toString(36)}.${at.toString(36)}`.slice(0, 6),
  );
  const labels: JsonObject = Object.fromEntries(names.map((each) => [each, '']));
  const name = `a${seed}`;
  const scale = (replicas: number): JsonObject => ({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name, namespace, labels },
    spec: { replicas },
  });
  const kind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  const members = { name, kind, subResource: 'scale', object: scale(1), oldObject: scale(3) };
  return JSON.stringify(reviewDocument(members));
}

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { millis, minutes } from '#base/units.ts';
import { webhookTypes } from '#certificate/webhook-configuration.ts';
import { issueSelfSigned } from '#certificate/x509/issue.ts';
import { freePorts } from '#support/free-ports.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { WebhookStage } from './webhook-stage.ts';

let lane: RealLane;

before(async () => {
  lane = await startRealLane();
});

after(async () => {
  await lane?.close();
});

test('[found R-7] a client that takes the CA of webhooks away each time is named as the API server knows it, and its CA stays next to ours', {
  timeout: 240_000,
}, async () => {
  const env = await lane.env({ role: 'ours', hasWebhooks: true, zones: ['a', 'b'] });
  const [port = 0] = await freePorts(1);
  const stage = new WebhookStage(env, port, '');
  await stage.guard();
  await stage.start();
  await stage.configure();
  const now = lane.plane.clock.now();
  const stranger = { now, expiration: minutes(60), organization: 'Somebody', dnsNames: ['a'] };
  const { cert } = await issueSelfSigned(stranger);
  const value = Buffer.from(cert).toString('base64');
  const name = `no-downscale-${env.namespace}`;
  const operations = [{ op: 'replace', path: '/webhooks/0/clientConfig/caBundle', value }];
  const body = { kind: 'json', operations } as const;
  for (let turn = 0; turn < 3; turn += 1) {
    const write = { body, fieldManager: 'cainjector' };
    await env.admin.patch(webhookTypes.validating, { name }, write);
    while ((await stage.bundle('no-downscale')) === value) await env.pass(millis(200));
  }
  const said = (): unknown =>
    env.log.find(({ msg }) => typeof msg === 'string' && msg.startsWith('another client'))?.[
      'field_managers'
    ];
  await env.until('the client is named', () => said() === 'cainjector');
  await env.admin.patch(webhookTypes.validating, { name }, { body });
  while ((await stage.bundle('no-downscale')) === value) await env.pass(millis(200));
  const both = Buffer.from(await stage.bundle('no-downscale'), 'base64').toString();
  assert.ok(both.includes(cert.trim()), both);
  assert.equal(both.match(/BEGIN CERTIFICATE/g)?.length, 2);
  await stage.noForbidden();
  await env.close();
});

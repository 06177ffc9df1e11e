import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '#kubernetes/client.ts';
import { ScriptedClient } from '#support/api-server/scripted-client.ts';
import { podView } from '#support/objects/views.ts';
import { PodOwners } from './pod-owner.ts';

/** A client that has one pod, whose controller is of `kind`. */
class OnePod extends ScriptedClient {
  reads = 0;
  readonly #kind: string;

  constructor(kind: string) {
    super({ list: () => assert.fail('nothing is listed'), watch: () => undefined });
    this.#kind = kind;
  }

  override get(): ReturnType<Client['get']> {
    this.reads += 1;
    const owner = { apiVersion: 'apps/v1', kind: this.#kind, name: 'owner', uid: 'o' };
    const metadata = {
      name: 'pod',
      namespace: 'test',
      uid: 'p',
      resourceVersion: '1',
      ownerReferences: [owner],
    };
    return Promise.resolve({ apiVersion: 'v1', kind: 'Pod', metadata });
  }
}

const pod = podView({ name: 'pod', uid: 'p', controllerUid: 'o' });

const { signal } = new AbortController();

test('a pod that a ReplicaSet controls is reported to be of no StatefulSet, and is read once', async () => {
  const client = new OnePod('ReplicaSet');
  const owners = new PodOwners();
  for (let at = 0; at < 3; at += 1) {
    assert.equal(
      await owners.problem(pod, client, signal),
      'pod owner is not a StatefulSet - pod has owner owner (ReplicaSet)',
    );
  }
  assert.equal(client.reads, 1);
});

test('a pod that a StatefulSet controls which is not seen yet is asked about anew', async () => {
  const client = new OnePod('StatefulSet');
  const owners = new PodOwners();
  assert.equal(await owners.problem(pod, client, signal), undefined);
  assert.equal(await owners.problem(pod, client, signal), undefined);
  assert.equal(client.reads, 2);
});

test('a pod that nothing controls is reported without a request', async () => {
  const client = new OnePod('none');
  const bare = podView({ name: 'pod', uid: 'p', controllerUid: undefined });
  assert.equal(
    await new PodOwners().problem(bare, client, signal),
    'unable to find a StatefulSet pod owner',
  );
  assert.equal(client.reads, 0);
});

/** What is relied on of Consul, shown with the stand-in, and with a real one where there is a binary. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { millis } from '#base/units.ts';
import { ConsulAgent } from '#support/external-services/consul-agent.ts';
import {
  isConsulMissing,
  NO_CONSUL,
  type RunningConsul,
  startConsul,
} from '#support/external-services/consul-binary.ts';
import { ConsulServer } from '#support/external-services/consul-server.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { type Consul, type ConsulAnswer, type ConsulQuestion, createConsul } from './consul.ts';
import { noIndex } from './consul-index.ts';

const token = '11111111-2222-4333-8444-555555555555';

async function startStandIn(): Promise<RunningConsul> {
  const server = new ConsulServer({ token });
  const port = await server.listen();
  return { base: `http://127.0.0.1:${port}`, stop: () => server.close() };
}

const lanes: Record<string, { start: () => Promise<RunningConsul>; skip: string | false }> = {
  'the stand-in for Consul': { start: startStandIn, skip: false },
  'a real Consul': { start: () => startConsul(token), skip: isConsulMissing ? NO_CONSUL : false },
};

for (const [lane, { start, skip }] of Object.entries(lanes)) {
  describe(lane, { skip }, () => {
    let running: RunningConsul;
    let consul: Consul;
    let agent: ConsulAgent;

    before(async () => {
      running = await start();
      agent = new ConsulAgent(running.base, token);
      const address = new URL(running.base);
      consul = createConsul({ clock: systemClock(), env: {}, address });
    });
    after(async () => {
      await consul?.close();
      await running?.stop();
    });

    async function ask(
      question: ConsulQuestion,
      asking: { readonly index?: bigint; readonly token?: string | undefined } = {},
    ): Promise<ConsulAnswer> {
      const { signal } = new AbortController();
      const usual = { index: noIndex, token, isLeaderAsked: false, signal };
      return consul.ask(question, { ...usual, ...asking });
    }

    async function known(
      service: string,
      index = noIndex,
    ): Promise<Extract<ConsulAnswer, { kind: 'instances' }>> {
      const answer = await ask({ service }, { index });
      assert.ok(
        answer.kind === 'instances',
        JSON.stringify(answer, (_, v) => String(v)),
      );
      return answer;
    }

    /** Registers an instance, and waits until the servers know of it. */
    async function registered(
      service: Parameters<ConsulAgent['register']>[0],
      status?: 'critical',
    ): Promise<void> {
      await agent.register(service, status);
      await eventually(async () =>
        (await known(service.Name)).instances.some(({ id }) => id === service.ID),
      );
    }

    async function passing(service: string): Promise<readonly boolean[]> {
      return (await known(service)).instances.map(({ isPassing }) => isPassing);
    }

    test('knows no instance of a service that is not there, and has an index for it', async () => {
      const { instances, index } = await known('nobody');
      assert.deepEqual(instances, []);
      assert.ok(index > 0n);
    });

    test('tells all that is needed of an instance', async () => {
      const Meta = { 'pod-name': 'web-0', 'k8s-namespace': 'shop' };
      await registered({ ID: 'web-0-told', Name: 'told', Address: '10.1.0.7', Meta });
      const [found] = (await known('told')).instances;
      assert.deepEqual(found, {
        id: 'web-0-told',
        podName: 'web-0',
        namespace: 'shop',
        address: '10.1.0.7',
        nodeAddress: '127.0.0.1',
        isPassing: true,
      });
    });

    test('passes an instance while its check does, and neither warning nor critical', async () => {
      await registered({ ID: 'checked-0', Name: 'checked' }, 'critical');
      assert.deepEqual(await passing('checked'), [false]);
      await agent.setCheck('checked-0', 'warning');
      await eventually(async () => (await passing('checked'))[0] === false);
      await agent.setCheck('checked-0', 'passing');
      await eventually(async () => (await passing('checked'))[0] === true);
    });

    test('passes nothing in maintenance of the service, or of the node', async () => {
      await registered({ ID: 'kept-0', Name: 'kept' });
      await agent.maintainService('kept-0', true);
      await eventually(async () => (await passing('kept'))[0] === false);
      await agent.maintainService('kept-0', false);
      await eventually(async () => (await passing('kept'))[0] === true);
      await agent.maintainNode(true);
      await eventually(async () => (await passing('kept'))[0] === false);
      await agent.maintainNode(false);
      await eventually(async () => (await passing('kept'))[0] === true);
    });

    test('answers a question that waits once something has changed', async () => {
      await registered({ ID: 'waiting-0', Name: 'waiting' });
      const { index } = await known('waiting');
      const next = known('waiting', index);
      await agent.register({ ID: 'waiting-1', Name: 'waiting' });
      assert.equal((await next).instances.length, 2);
    });

    test('knows no instance any more that was deregistered', async () => {
      await registered({ ID: 'leaving-0', Name: 'leaving' });
      assert.deepEqual(await passing('leaving'), [true]);
      await agent.deregister('leaving-0');
      await eventually(async () => (await passing('leaving')).length === 0);
    });

    test('finds a service whose name has signs of a URL in it', async () => {
      assert.deepEqual((await known('a&b=c%2F;d')).instances, []);
    });

    test('says that it does not know a datacenter [T-84]', async () => {
      const answer = await ask({ service: 'told', datacenter: 'nowhere' });
      assert.ok(answer.kind === 'trouble');
      assert.equal(answer.code, 'ConsulUnknownDatacenter');
    });

    test('refuses a token that it does not know, which is reported nowhere [T-84]', async () => {
      const other = '99999999-8888-4777-8666-555555555555';
      const answer = await ask({ service: 'told' }, { token: other });
      assert.ok(answer.kind === 'trouble');
      assert.equal(answer.code, 'ConsulPermissionDenied');
      assert.doesNotMatch(answer.message, /99999999/);
    });

    test('hides a service from a client without a token, which is no answer', async () => {
      await registered({ ID: 'hidden-0', Name: 'hidden' });
      const answer = await ask({ service: 'hidden' }, { token: undefined });
      assert.ok(answer.kind === 'trouble');
      assert.equal(answer.code, 'ConsulPermissionDenied');
    });
  });
}

/** An agent tells the servers shortly afterwards. */
async function eventually(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if (await holds()) return;
    await systemClock().sleep(millis(50));
  }
  assert.fail('it never holds');
}

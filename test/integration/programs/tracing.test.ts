/** Traces of the program as images have it, at a collector. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { prepared } from '#support/admission/admission-requests.ts';
import { PodFleet } from '#support/pods/pod-fleet.ts';
import { PodFleetServer } from '#support/pods/pod-fleet-server.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { bundleInto } from '../../../scripts/build.ts';
import { WebhookStage } from '../stages/webhook-stage.ts';
import { SpanCollector } from './span-collector.ts';

/** Below the checkout: what reads a kubeconfig, which these tests use and images do not, is found from there. */
const cache = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url));

describe('the bundled operator that traces', () => {
  const clock = systemClock();
  const pods = new PodFleetServer(new PodFleet(clock), clock);
  let folder: string;
  let program: string;
  let proxy: string;
  let stage: WebhookStage;

  before(async () => {
    await mkdir(cache, { recursive: true });
    folder = await mkdtemp(join(cache, 'tracing-'));
    await bundleInto(folder);
    program = join(folder, 'rollout-operator.mjs');
    proxy = (await pods.listen()).href;
    stage = await WebhookStage.open();
  });

  after(async () => {
    await stage.close();
    await pods.close();
    await rm(folder, { recursive: true });
  });

  test('tells of passes, of a review, and of whom each asked', async () => {
    const collector = new SpanCollector();
    const env = { ...(await collector.listen()), HTTP_PROXY: proxy };
    const operator = await stage.operator([], env, program);
    await stage.configure(operator.port);
    await stage.set({ name: 'asked', ...prepared });
    await stage.scale('asked', 2);
    const call = await collector.until((spans) =>
      spans.find(({ name }) => name === 'call-pod POST'),
    );
    assert.match(String(call.attributes['server.address']), /^asked-2\./);
    const review = await collector.until((spans) =>
      spans.find(({ spanId }) => spanId === call.parentSpanId),
    );
    assert.equal(review.name, 'review /admission/prepare-downscale');
    assert.equal(review.attributes['object.name'], 'asked');
    assert.equal(review.attributes['response.allowed'], true);
    assert.equal(review.resource['service.name'], 'rollout-operator');
    const asked = collector.spans.find(
      ({ name, parentSpanId }) =>
        parentSpanId === review.spanId && name === 'GET apps/v1/statefulsets object',
    );
    assert.equal(asked?.attributes['http.response.status_code'], 200);
    const line = operator.process.lines.find((each) => each.includes(`trace_id=${review.traceId}`));
    assert.match(line ?? '', /msg="admission review/);
    await stage.set({ name: 'grouped', labels: { 'rollout-group': 'ingester' } });
    const pass = await collector.until((spans) =>
      spans.find(
        ({ name, attributes }) =>
          name === 'reconcile' && attributes['rollout_group'] === 'ingester',
      ),
    );
    assert.equal(pass.attributes['k8s.namespace.name'], 'test');
    assert.ok(Array.isArray(pass.attributes['pass.reasons']));
    operator.process.kill('SIGTERM');
    assert.equal(await operator.process.exitCode(), 0);
    await stage.unconfigure();
    await collector.close();
  });

  test('sends at its end what it had not sent yet', async () => {
    const collector = new SpanCollector();
    // Nothing is sent for an hour, but at the end.
    const late = { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '512', OTEL_BSP_SCHEDULE_DELAY: '3600000' };
    const operator = await stage.operator([], { ...(await collector.listen()), ...late }, program);
    assert.equal(collector.batches, 0);
    operator.process.kill('SIGTERM');
    assert.equal(await operator.process.exitCode(), 0);
    const names = collector.spans.map(({ name }) => name);
    assert.ok(names.includes('GET core/v1/pods collection'), names.join(', '));
    await collector.close();
  });

  test('answers reviews and ends in good order while the collector hangs', async () => {
    const collector = new SpanCollector({ isHanging: true });
    const operator = await stage.operator([], await collector.listen(), program);
    await stage.configure(operator.port);
    await stage.set({ name: 'guarded', labels: { 'grafana.com/no-downscale': 'true' } });
    await assert.rejects(stage.scale('guarded', 1), /denied the request: downscale of/);
    await collector.until((_, batches) => (batches > 0 ? batches : undefined));
    operator.process.kill('SIGTERM');
    assert.equal(await operator.process.exitCode(), 0);
    assert.match(
      operator.process.lines.at(-1) ?? '',
      /level=warn .* msg="spans could not be sent" collector=127\.0\.0\.1:\d+ .*the program ends/,
    );
    await stage.unconfigure();
    await collector.close();
  });

  test('does not start with a variable that cannot be read, and says which', async () => {
    const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' };
    const operator = stage.launch([], variables, program);
    assert.equal(await operator.exitCode(), 1);
    assert.deepEqual(operator.lines, [
      'Cannot set up tracing: OTEL_EXPORTER_OTLP_ENDPOINT must be a URL such as "http://collector:4318": got "collector:4318"',
    ]);
  });

  test('does not start with a certificate that cannot be read, and says which', async () => {
    const variables = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector:4318',
      OTEL_EXPORTER_OTLP_CERTIFICATE: '/no/such/file',
    };
    const operator = stage.launch([], variables, program);
    assert.equal(await operator.exitCode(), 1);
    assert.match(
      operator.lines.join('\n'),
      /^Cannot set up tracing: OTEL_EXPORTER_OTLP_CERTIFICATE must name a PEM file: ENOENT.*\/no\/such\/file/,
    );
  });
});

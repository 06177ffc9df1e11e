import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tracingSetup } from './tracing.ts';

test('[scenario 82] tracingSetup() only warns of a collector that cannot be reached', () => {
  const env = {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://user:secret@127.0.0.1:1',
    OTEL_TRACES_SAMPLER: 'always_off',
  };
  assert.deepEqual(tracingSetup(env), {
    serviceName: 'rollout-operator',
    backend: 'opentelemetry',
    event: {
      level: 'warn',
      message: 'tracing is configured but not built in this version, no traces are sent',
      fields: {
        backend: 'opentelemetry',
        service: 'rollout-operator',
        variables: ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
      },
    },
  });
});

test('tracingSetup() says nothing when no back-end is configured', () => {
  assert.deepEqual(tracingSetup({ PATH: '/bin', OTEL_TRACES_SAMPLER: 'always_on' }), {
    serviceName: 'rollout-operator',
    backend: 'none',
    event: undefined,
  });
});

const backends: Record<string, 'jaeger' | 'opentelemetry'> = {
  JAEGER_AGENT_HOST: 'jaeger',
  JAEGER_ENDPOINT: 'jaeger',
  JAEGER_SAMPLER_MANAGER_HOST_PORT: 'jaeger',
  OTEL_TRACES_EXPORTER: 'opentelemetry',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'opentelemetry',
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'opentelemetry',
};
for (const [variable, backend] of Object.entries(backends)) {
  test(`tracingSetup() takes ${variable} for ${backend} (EN-4)`, () => {
    assert.equal(tracingSetup({ [variable]: 'x' }).backend, backend);
  });

  test(`tracingSetup() takes an empty ${variable} for absent (EN-4)`, () => {
    assert.equal(tracingSetup({ [variable]: '' }).backend, 'none');
  });
}

test('tracingSetup() prefers Jaeger to OpenTelemetry (EN-4)', () => {
  const env = { JAEGER_ENDPOINT: 'x', OTEL_TRACES_EXPORTER: 'otlp' };
  assert.equal(tracingSetup(env).backend, 'jaeger');
});

const names: Record<string, readonly [env: Record<string, string>, name: string]> = {
  'takes OTEL_SERVICE_NAME first': [{ OTEL_SERVICE_NAME: 'o', JAEGER_SERVICE_NAME: 'j' }, 'o'],
  'takes JAEGER_SERVICE_NAME second': [{ OTEL_SERVICE_NAME: '', JAEGER_SERVICE_NAME: 'j' }, 'j'],
  'falls back to the name of the program': [{}, 'rollout-operator'],
};
for (const [fact, [env, name]] of Object.entries(names)) {
  test(`tracingSetup() ${fact} (EN-3)`, () => {
    assert.equal(tracingSetup(env).serviceName, name);
  });
}

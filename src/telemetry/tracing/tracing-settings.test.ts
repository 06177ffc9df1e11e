import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTracing, type TracingSettings } from './tracing-settings.ts';

type Variables = Readonly<Record<string, string>>;

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

function settingsOf(env: Variables): TracingSettings {
  const choice = readTracing({ ...endpoint, ...env });
  assert.equal(choice.kind, 'on');
  return choice.settings;
}

/** The notes as one line each. */
function notesOf(env: Variables): readonly string[] {
  return readTracing(env).notes.map(({ level, message, fields }) => {
    const told = Object.entries(fields).map(([key, value]) => `${key}=${String(value)}`);
    return [`${level}:`, message, ...told].join(' ');
  });
}

const switches: Record<string, readonly [env: Variables, want: 'on' | 'off']> = {
  'OTEL_EXPORTER_OTLP_ENDPOINT (EN-4)': [endpoint, 'on'],
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT (EN-4)': [
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c/' },
    'on',
  ],
  'OTEL_TRACES_EXPORTER=otlp (EN-4)': [{ OTEL_TRACES_EXPORTER: 'otlp' }, 'on'],
  'nothing (EN-4)': [{ PATH: '/bin' }, 'off'],
  'an empty endpoint (EN-4)': [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, 'off'],
  'a sampler alone (EN-4)': [{ OTEL_TRACES_SAMPLER: 'always_on' }, 'off'],
  'OTEL_TRACES_EXPORTER=none beside an endpoint': [
    { ...endpoint, OTEL_TRACES_EXPORTER: 'none' },
    'off',
  ],
  'OTEL_SDK_DISABLED=true beside an endpoint': [{ ...endpoint, OTEL_SDK_DISABLED: 'true' }, 'off'],
  'OTEL_SDK_DISABLED=false beside an endpoint': [{ ...endpoint, OTEL_SDK_DISABLED: 'false' }, 'on'],
  'a collector that cannot be reached [scenario 82]': [
    {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://user:secret@127.0.0.1:1',
      OTEL_TRACES_SAMPLER: 'always_off',
    },
    'on',
  ],
  'JAEGER_AGENT_HOST alone': [{ JAEGER_AGENT_HOST: 'jaeger' }, 'off'],
  'JAEGER_AGENT_HOST beside an endpoint': [{ ...endpoint, JAEGER_AGENT_HOST: 'jaeger' }, 'on'],
  'JAEGER_AGENT_HOST beside an exporter without endpoint': [
    { OTEL_TRACES_EXPORTER: 'otlp', JAEGER_AGENT_HOST: 'jaeger' },
    'off',
  ],
};
for (const [what, [env, want]] of Object.entries(switches)) {
  test(`readTracing() is ${want} by ${what}`, () => {
    assert.equal(readTracing(env).kind, want);
  });
}

const unspoken = "warn: Jaeger's own protocol is not spoken by this program, no traces are sent";
const notes: Record<string, readonly [env: Variables, want: readonly string[]]> = {
  'is silent where nothing is asked for': [{ OTEL_TRACES_SAMPLER: 'always_on' }, []],
  'is silent where all is done as asked': [endpoint, []],
  "says what to set in place of Jaeger's agent": [
    { JAEGER_AGENT_HOST: 'agent', JAEGER_SAMPLER_TYPE: 'const' },
    [
      `${unspoken} variables=JAEGER_AGENT_HOST set_instead=OTEL_EXPORTER_OTLP_ENDPOINT=http://agent:4318`,
    ],
  ],
  "says what to set in place of Jaeger's collector, without its password": [
    { JAEGER_ENDPOINT: 'http://user:secret@jaeger.ns:14268/api/traces' },
    [
      `${unspoken} variables=JAEGER_ENDPOINT set_instead=OTEL_EXPORTER_OTLP_ENDPOINT=http://jaeger.ns:4318`,
    ],
  ],
  'says what to set where Jaeger is named without http, as the peer takes it': [
    { JAEGER_ENDPOINT: 'jaeger:14268' },
    [
      `${unspoken} variables=JAEGER_ENDPOINT set_instead=OTEL_EXPORTER_OTLP_ENDPOINT=http://<collector>:4318`,
    ],
  ],
  'says what to set where only a sampling server is named': [
    { JAEGER_SAMPLER_MANAGER_HOST_PORT: 'http://jaeger:5778/sampling' },
    [
      `${unspoken} variables=JAEGER_SAMPLER_MANAGER_HOST_PORT set_instead=OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318`,
    ],
  ],
  "says that Jaeger's variables are not followed where an endpoint is": [
    { ...endpoint, JAEGER_ENDPOINT: 'http://jaeger:14268/api/traces' },
    [
      "warn: Jaeger's own protocol is not spoken by this program, traces are sent by OTLP variables=JAEGER_ENDPOINT",
    ],
  ],
  'says that gRPC is not spoken, and by which variable': [
    { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    [
      'warn: spans are not sent by gRPC by this program, no traces are sent variable=OTEL_EXPORTER_OTLP_PROTOCOL set_instead=OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, and an endpoint with its port, 4318',
    ],
  ],
  'says that the console is no exporter': [
    { OTEL_TRACES_EXPORTER: 'console' },
    [
      'warn: spans are not written to the console by this program, no traces are sent variable=OTEL_TRACES_EXPORTER set_instead=OTEL_TRACES_EXPORTER=otlp',
    ],
  ],
  'says by what it is switched off': [
    { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' },
    ['info: tracing is switched off variable=OTEL_SDK_DISABLED'],
  ],
  'says that nothing is asked how much to trace': [
    {
      ...endpoint,
      OTEL_TRACES_SAMPLER: 'parentbased_jaeger_remote',
      OTEL_TRACES_SAMPLER_ARG:
        'endpoint=http://jaeger:5778,pollingIntervalMs=5000,initialSamplingRate=0.25',
    },
    [
      'warn: no sampler is asked how much to trace, the share is fixed asked_for=OTEL_TRACES_SAMPLER=parentbased_jaeger_remote share=0.25 set_instead=OTEL_TRACES_SAMPLER=parentbased_traceidratio and OTEL_TRACES_SAMPLER_ARG',
    ],
  ],
  'says which formats of propagation it leaves out': [
    { ...endpoint, OTEL_PROPAGATORS: 'tracecontext, baggage,jaeger' },
    [
      'warn: only the trace context of W3C is passed on, not what else was asked for variable=OTEL_PROPAGATORS not_passed_on=baggage,jaeger set_instead=OTEL_PROPAGATORS=tracecontext',
    ],
  ],
};
for (const [fact, [env, want]] of Object.entries(notes)) {
  test(`readTracing() ${fact}`, () => {
    assert.deepEqual(notesOf(env), want);
  });
}

const traces = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
const urls: Record<string, readonly [env: Variables, want: string]> = {
  'adds the path of traces to the general endpoint': [{}, 'http://collector:4318/v1/traces'],
  'keeps the path of the general endpoint': [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c/otlp/' },
    'https://c/otlp/v1/traces',
  ],
  'takes the endpoint of traces as it is': [{ [traces]: 'http://c:1/x?y=z' }, 'http://c:1/x?y=z'],
  'sends to this machine where only the exporter is named': [
    { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_EXPORTER: 'otlp' },
    'http://localhost:4318/v1/traces',
  ],
  'keeps user and password out of the URL': [{ [traces]: 'http://u:p@c:1/' }, 'http://c:1/'],
};
for (const [fact, [env, want]] of Object.entries(urls)) {
  test(`readTracing() ${fact}`, () => {
    assert.equal(settingsOf(env).otlp.url.href, want);
  });
}

test('readTracing() makes a header of user and password', () => {
  const { headers } = settingsOf({ [traces]: 'http://u:p%40@c:1/' }).otlp;
  assert.deepEqual(headers, { authorization: 'Basic dTpwQA==' });
});

test('readTracing() reads headers with percent-encoded values, those of traces first', () => {
  const { headers } = settingsOf({
    OTEL_EXPORTER_OTLP_HEADERS: 'X-Scope=a%2Cb, authorization = Basic%20x,',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-scope=c',
  }).otlp;
  assert.deepEqual(headers, { 'x-scope': 'c', authorization: 'Basic x' });
});

test('readTracing() reads protocol, timeout, compression and files, those of traces first', () => {
  const { otlp } = settingsOf({
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_TIMEOUT: '1',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '250',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_CERTIFICATE: '/ca.pem',
    OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: '/key.pem',
  });
  assert.deepEqual([otlp.encoding, otlp.timeout, otlp.isCompressed], ['json', 250, true]);
  assert.deepEqual(otlp.files, {
    ca: { variable: 'OTEL_EXPORTER_OTLP_CERTIFICATE', path: '/ca.pem' },
    cert: undefined,
    key: { variable: 'OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY', path: '/key.pem' },
  });
});

test('readTracing() sends protobuf, as the peer does, uncompressed, for 10 s at most', () => {
  const { otlp } = settingsOf({});
  assert.deepEqual([otlp.encoding, otlp.timeout, otlp.isCompressed], ['protobuf', 10_000, false]);
});

const parent = (root: TracingSettings['sampler']['root']) => ({ root, isParentBased: true });
const alone = (root: TracingSettings['sampler']['root']) => ({ root, isParentBased: false });
const [sampler, argument] = ['OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG'] as const;
const jaeger = { JAEGER_ENDPOINT: 'http://jaeger:14268/api/traces' };
const samplers: Record<string, readonly [env: Variables, want: TracingSettings['sampler']]> = {
  nothing: [{}, parent('all')],
  always_on: [{ [sampler]: 'always_on' }, alone('all')],
  always_off: [{ [sampler]: 'always_off' }, alone('none')],
  parentbased_always_off: [{ [sampler]: 'parentbased_always_off' }, parent('none')],
  traceidratio: [{ [sampler]: 'traceidratio', [argument]: '0.5' }, alone(0.5)],
  'traceidratio without argument': [{ [sampler]: 'traceidratio' }, alone('all')],
  parentbased_traceidratio: [
    { [sampler]: 'parentbased_traceidratio', [argument]: '1e-2' },
    parent(0.01),
  ],
  'jaeger_remote without a rate to begin with': [
    { [sampler]: 'jaeger_remote', [argument]: 'endpoint=http://jaeger:5778' },
    alone(0.001),
  ],
  JAEGER_ENDPOINT: [jaeger, alone('all')],
  'JAEGER_SAMPLER_TYPE=const': [{ ...jaeger, JAEGER_SAMPLER_TYPE: 'const' }, alone('none')],
  'JAEGER_SAMPLER_TYPE=const, 1': [
    { ...jaeger, JAEGER_SAMPLER_TYPE: 'const', JAEGER_SAMPLER_PARAM: '1' },
    alone('all'),
  ],
  'JAEGER_SAMPLER_TYPE=probabilistic': [
    { ...jaeger, JAEGER_SAMPLER_TYPE: 'probabilistic', JAEGER_SAMPLER_PARAM: '0.1' },
    alone(0.1),
  ],
  'JAEGER_AGENT_HOST, which the peer asks how much to trace': [
    { JAEGER_AGENT_HOST: 'agent' },
    alone(0.001),
  ],
  'JAEGER_SAMPLER_MANAGER_HOST_PORT with a share to begin with': [
    { JAEGER_SAMPLER_MANAGER_HOST_PORT: 'http://x', JAEGER_SAMPLER_PARAM: '0.2' },
    alone(0.2),
  ],
  'OTEL_TRACES_SAMPLER before those of Jaeger': [
    { ...jaeger, JAEGER_SAMPLER_TYPE: 'const', [sampler]: 'always_on' },
    alone('all'),
  ],
};
for (const [what, [env, want]] of Object.entries(samplers)) {
  test(`readTracing() samples by ${what}`, () => {
    assert.deepEqual(settingsOf(env).sampler, want);
  });
}

const resources: Record<string, readonly [env: Variables, want: Variables]> = {
  'takes OTEL_SERVICE_NAME first (EN-3)': [
    { OTEL_SERVICE_NAME: 'o', JAEGER_SERVICE_NAME: 'j' },
    { 'service.name': 'o' },
  ],
  'takes JAEGER_SERVICE_NAME second (EN-3)': [
    { OTEL_SERVICE_NAME: '', JAEGER_SERVICE_NAME: 'j' },
    { 'service.name': 'j' },
  ],
  'falls back to the name of the program (EN-3)': [{}, { 'service.name': 'rollout-operator' }],
  'keeps its name whatever the resource attributes say (EN-3)': [
    { OTEL_RESOURCE_ATTRIBUTES: 'service.name=x,k8s.pod.name=a%20b' },
    { 'service.name': 'rollout-operator', 'k8s.pod.name': 'a b' },
  ],
  "reads Jaeger's tags, with variables and their defaults": [
    {
      ...jaeger,
      POD: 'p-0',
      JAEGER_TAGS: 'cluster=dev, pod = ${POD:none},zone=${ZONE:a},',
    },
    { cluster: 'dev', pod: 'p-0', zone: 'a', 'service.name': 'rollout-operator' },
  ],
  "leaves Jaeger's tags alone while Jaeger is not asked for": [
    { JAEGER_TAGS: 'cluster=dev' },
    { 'service.name': 'rollout-operator' },
  ],
};
for (const [fact, [env, want]] of Object.entries(resources)) {
  test(`readTracing() ${fact}`, () => {
    assert.deepEqual(settingsOf(env).resource, want);
  });
}

test('readTracing() reads how spans are collected, and how much each may hold', () => {
  const { batch, limits } = settingsOf({
    ...jaeger,
    JAEGER_REPORTER_MAX_QUEUE_SIZE: '7',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: '64',
  });
  assert.equal(batch.scheduledDelayMillis, 100);
  assert.equal(batch.maxQueueSize, 7);
  assert.equal(limits.attributeValueLengthLimit, 64);
  assert.equal(limits.linkCountLimit, undefined);
});

test('readTracing() passes no trace on where OTEL_PROPAGATORS leaves out that of W3C', () => {
  assert.equal(settingsOf({}).isPropagated, true);
  assert.equal(settingsOf({ OTEL_PROPAGATORS: 'none' }).isPropagated, false);
  assert.equal(settingsOf({ OTEL_PROPAGATORS: 'b3' }).isPropagated, false);
});

const problems: Record<string, readonly [env: Variables, want: string]> = {
  'an endpoint that is no URL': [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' },
    'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL such as "http://collector:4318": got "collector"',
  ],
  'an endpoint without http': [
    { [traces]: 'collector:4318' },
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be a URL such as "http://collector:4318": got "collector:4318"',
  ],
  'an endpoint with a password, which is not reported': [
    { [traces]: 'http://user:p@ss@host:port/' },
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be a URL such as "http://collector:4318": got "…@host:port/"',
  ],
  'an unknown exporter': [
    { OTEL_TRACES_EXPORTER: 'jager' },
    'OTEL_TRACES_EXPORTER must be one of otlp, none, console: got "jager"',
  ],
  'an unknown protocol': [
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'http' },
    'OTEL_EXPORTER_OTLP_PROTOCOL must be one of http/protobuf, http/json, grpc: got "http"',
  ],
  'a timeout that is no number': [
    { OTEL_EXPORTER_OTLP_TIMEOUT: '10s' },
    'OTEL_EXPORTER_OTLP_TIMEOUT must be a whole number of at least 1: got "10s"',
  ],
  'an unknown sampler': [
    { [sampler]: 'sometimes' },
    'OTEL_TRACES_SAMPLER must be one of always_on, always_off, traceidratio, jaeger_remote, parentbased_always_on, parentbased_always_off, parentbased_traceidratio, parentbased_jaeger_remote: got "sometimes"',
  ],
  'a share above 1': [
    { [sampler]: 'traceidratio', [argument]: '50' },
    'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1: got "50"',
  ],
  'a remote sampler without server': [
    { [sampler]: 'jaeger_remote' },
    'OTEL_TRACES_SAMPLER_ARG must be such as "endpoint=http://host:5778,initialSamplingRate=0.25": got nothing',
  ],
  'headers that are no pairs, which are not reported': [
    { OTEL_EXPORTER_OTLP_HEADERS: 'a=b,secret' },
    'OTEL_EXPORTER_OTLP_HEADERS must be pairs such as "key=value,other=value", values percent-encoded: got something else as pair 2',
  ],
  'a header whose value has a line break, which is not reported': [
    { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret%0d%0ax' },
    'OTEL_EXPORTER_OTLP_HEADERS must be headers of HTTP that may be chosen: got a value of "authorization" with characters that no header may have',
  ],
  'a header whose value is beyond Latin-1': [
    { OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'Authorization=中' },
    'OTEL_EXPORTER_OTLP_TRACES_HEADERS must be headers of HTTP that may be chosen: got a value of "authorization" with characters that no header may have',
  ],
  'a header whose name is none': [
    { OTEL_EXPORTER_OTLP_HEADERS: 'é=secret' },
    'OTEL_EXPORTER_OTLP_HEADERS must be headers of HTTP that may be chosen: got "é" as a name',
  ],
  'a header that belongs to the connection': [
    { OTEL_EXPORTER_OTLP_HEADERS: 'Transfer-Encoding=chunked' },
    'OTEL_EXPORTER_OTLP_HEADERS must be headers of HTTP that may be chosen: got "transfer-encoding", which this program sets itself',
  ],
  'an endpoint that is none, with a key that is not reported': [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http//collector:4318?api-key=secret' },
    'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL such as "http://collector:4318": got "http//collector:4318?…"',
  ],
  "a parameter of Jaeger's sampler that is no number": [
    { ...jaeger, JAEGER_SAMPLER_PARAM: 'all' },
    'JAEGER_SAMPLER_PARAM must be a number: got "all"',
  ],
  "a sampler that Jaeger's variables do not know": [
    { ...jaeger, JAEGER_SAMPLER_TYPE: 'ratelimiting' },
    'JAEGER_SAMPLER_TYPE must be one of const, probabilistic, remote: got "ratelimiting"',
  ],
  "a tag of Jaeger's without a value": [
    { ...jaeger, JAEGER_TAGS: 'a=b,c' },
    'JAEGER_TAGS must be pairs such as "key=value,other=${NAME:default}": got "c"',
  ],
  "an endpoint of Jaeger's that is no URL": [
    { JAEGER_ENDPOINT: 'jaeger' },
    'JAEGER_ENDPOINT must be a URL such as "http://collector:14268/api/traces": got "jaeger"',
  ],
  'an unknown propagator': [
    { OTEL_PROPAGATORS: 'w3c' },
    'OTEL_PROPAGATORS must be names of tracecontext, none, baggage, jaeger, b3, b3multi, xray, ottrace, between commas: got "w3c"',
  ],
};
for (const [what, [env, want]] of Object.entries(problems)) {
  test(`readTracing() refuses ${what}`, () => {
    assert.throws(() => readTracing({ ...endpoint, ...env }), {
      name: 'TracingVariableError',
      message: `Cannot set up tracing: ${want}`,
    });
  });
}

test('readTracing() reads nothing of OpenTelemetry while nothing is traced', () => {
  const broken = { OTEL_TRACES_SAMPLER: 'x', OTEL_EXPORTER_OTLP_TIMEOUT: 'x', JAEGER_TAGS: 'x' };
  assert.deepEqual(readTracing(broken), { kind: 'off', notes: [] });
});

import type { TracingNote } from './tracing-note.ts';
import {
  type Bounds,
  numberIn,
  refused,
  refusedText,
  type TracingVariables,
} from './tracing-variables.ts';

/** Which traces are recorded. */
export interface SamplerSettings {
  /** Which of the traces that begin here: all, none, or this share of them. */
  readonly root: 'all' | 'none' | number;
  /** Whether a trace that another client began is recorded as it is there. */
  readonly isParentBased: boolean;
}

/** What a sampler came to, and what is to be said of that. */
export interface ReadSampler {
  readonly settings: SamplerSettings;
  readonly note?: TracingNote;
}

/** The share with which Jaeger's remote sampler begins, until it gets another one. */
const remoteShare = 0.001;
const share: Bounds = { least: 0, most: 1 };

/** What the roots of a sampler are, by its name without `parentbased_`. */
const roots = {
  always_on: 'all',
  always_off: 'none',
  traceidratio: 'share',
  jaeger_remote: 'remote',
} as const;
const names = ['always_on', 'always_off', 'traceidratio', 'jaeger_remote'] as const;
const parentBased = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'parentbased_jaeger_remote',
] as const;

const [variable, argument] = ['OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG'] as const;

/** Reads the sampler that `OTEL_TRACES_SAMPLER` names; undefined where it names none. @throws {TracingVariableError} */
export function readSampler(variables: TracingVariables): ReadSampler | undefined {
  const word = variables.word(variable, [...names, ...parentBased]);
  const name = names.find((each) => word?.endsWith(each) === true);
  if (word === undefined || name === undefined) return undefined;
  const isParentBased = word !== name;
  const root = roots[name];
  switch (root) {
    case 'share': {
      const given = shareOf(variables, argument);
      return { settings: { root: given ?? 'all', isParentBased } };
    }
    case 'remote':
      return remote({ root: initialShare(variables), isParentBased }, `${variable}=${word}`);
    default:
      return { settings: { root, isParentBased } };
  }
}

/** Reads what Jaeger's variables say of sampling. @throws {TracingVariableError} */
export function readJaegerSampler(variables: TracingVariables): ReadSampler {
  const parameter = variables.number('JAEGER_SAMPLER_PARAM') ?? 0;
  const [asked, type] = jaegerSampler(variables);
  const isParentBased = false;
  switch (type) {
    case 'all':
      return { settings: { root: 'all', isParentBased } };
    case 'const':
      return { settings: { root: parameter === 0 ? 'none' : 'all', isParentBased } };
    case 'probabilistic':
      return { settings: { root: jaegerShare(variables) ?? 0, isParentBased } };
    default:
      return remote({ root: jaegerShare(variables) ?? remoteShare, isParentBased }, asked);
  }
}

/** Returns by which variable a sampler is asked for, and which: a server that could be asked makes it the remote one. */
function jaegerSampler(
  variables: TracingVariables,
): readonly [asked: string, type: 'all' | 'const' | 'probabilistic' | 'remote'] {
  const name = 'JAEGER_SAMPLER_TYPE';
  const type = variables.word(name, ['const', 'probabilistic', 'remote'] as const);
  if (type !== undefined) return [`${name}=${type}`, type];
  const server = variables.firstOf(
    'JAEGER_SAMPLING_ENDPOINT',
    'JAEGER_SAMPLER_MANAGER_HOST_PORT',
    'JAEGER_AGENT_HOST',
  );
  return server === undefined ? ['', 'all'] : [server.name, 'remote'];
}

function jaegerShare(variables: TracingVariables): number | undefined {
  return shareOf(variables, 'JAEGER_SAMPLER_PARAM');
}

function shareOf(variables: TracingVariables, name: string): number | undefined {
  const text = variables.text(name);
  return text === undefined ? undefined : numberIn(text, name, share);
}

/** Returns the share that an argument such as `endpoint=http://host:5778,initialSamplingRate=0.25` begins with. */
function initialShare(variables: TracingVariables): number {
  const pairs = variables.pairs(argument);
  if (pairs['endpoint'] === undefined) {
    const text = variables.text(argument);
    const wanted = 'such as "endpoint=http://host:5778,initialSamplingRate=0.25"';
    throw text === undefined
      ? refused(argument, wanted, 'nothing')
      : refusedText(argument, wanted, text);
  }
  const initial = pairs['initialSamplingRate'];
  return initial === undefined ? remoteShare : numberIn(initial, argument, share);
}

function remote(settings: SamplerSettings, asked: string): ReadSampler {
  return {
    settings,
    note: {
      level: 'warn',
      message: 'no sampler is asked how much to trace, the share is fixed',
      fields: {
        asked_for: asked,
        share: String(settings.root),
        set_instead: `${variable}=parentbased_traceidratio and ${argument}`,
      },
    },
  };
}

import { quoted } from '#base/text/quoted.ts';
import type { DeployOptions, OutputOptions, PhaseChoice } from './convert-options.ts';
import { type Options, type OptionTable, parseOptions } from './parse-options.ts';

/** What to do, or what to print instead, and the exit code. */
export type ParsedConvert =
  | { readonly kind: 'convert'; readonly deploy: DeployOptions; readonly output: OutputOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'invalid'; readonly sentence: string };

/** What `--help` prints. */
export const convertHelp = `Usage: rollout-operator bedrock convert -f bedrock.yaml --service S --stage T --image NAME=REFERENCE@sha256:… [options]

Writes the PodDisruptionBudget and the StatefulsetRollout of one stage of a service; nothing is sent to any cluster.

  -f, --file FILE          the bedrock.yaml; - for standard input
  --service NAME           one of its services
  --stage NAME             one of the stages of that service
  --cluster NAME           one of the clusters of that stage; without it and with several, --out gets one folder for each
  --image NAME=REFERENCE   which image runs under a name of the file, with its digest; once for each name
  --allow-tags             images need no digest
  --version TEXT           what is deployed, as a label of the pods; another one replaces them
  --git-branch, --git-origin, --git-sha TEXT
                           where it comes from, as annotations
  --bapi-url URL, --stage-id ID
                           who is called back at the end, and by what name
  --dc NAME                datacenter of Consul, in place of the stage's own
  --percent N              one of the phases; without it the first one
  --force                  --percent may be no phase
  --phase-index N          the same by its place, from 0
  --all-phases             all of them, one file each: needs --out
  --rollout-identity TEXT  without it 20 random letters and digits; another one begins the rollout again
  -o, --output FORMAT      yaml (the default) or json
  --out DIR                writes phase-<percent>.<format> there, in place of standard output
  --lenient                unknown keys are warnings, not errors
  --strict                 warnings are errors

Exit codes: 0 done, 1 a file cannot be read or written, 2 the input is wrong, 3 the kind is not supported.
`;

/** Options of all that converts, whichever phases. */
export const deployTable = {
  file: 'value',
  service: 'value',
  stage: 'value',
  cluster: 'value',
  image: 'values',
  'allow-tags': 'flag',
  version: 'value',
  'git-branch': 'value',
  'git-origin': 'value',
  'git-sha': 'value',
  'bapi-url': 'value',
  'stage-id': 'value',
  dc: 'value',
  'rollout-identity': 'value',
  lenient: 'flag',
  strict: 'flag',
  help: 'flag',
} as const satisfies OptionTable;

const phaseTable = {
  percent: 'value',
  force: 'flag',
  'phase-index': 'value',
  'all-phases': 'flag',
} as const satisfies OptionTable;

const outputTable = { output: 'value', out: 'value' } as const satisfies OptionTable;

/** Reads the arguments after `bedrock convert`. */
export function parseConvertOptions(args: readonly string[]): ParsedConvert {
  const parsed = parseOptions(args, { ...deployTable, ...phaseTable, ...outputTable });
  if (parsed.kind === 'invalid') return parsed;
  const { options } = parsed;
  if (options.has('help')) return { kind: 'help' };
  const deploy = deployOptions(options);
  if (typeof deploy === 'string') return invalid(deploy);
  const output = outputOf(options);
  return typeof output === 'string' ? invalid(output) : { kind: 'convert', deploy, output };
}

/** Returns what is to be deployed, or a sentence on the first option that is wrong. */
export function deployOptions(options: Options): DeployOptions | string {
  const problem = optionProblem(options);
  if (problem !== undefined) return problem;
  const images = imagesOf(options.all('image'));
  if (typeof images === 'string') return images;
  const phases = phasesOf(options);
  if (typeof phases === 'string') return phases;
  return {
    file: options.needed('file'),
    service: options.needed('service'),
    stage: options.needed('stage'),
    cluster: options.get('cluster'),
    images,
    version: options.get('version'),
    git: gitOf(options),
    bapi: bapiOf(options),
    dc: options.get('dc'),
    phases,
    identity: options.get('rollout-identity'),
    isLenient: options.has('lenient'),
    isStrict: options.has('strict'),
    isForced: options.has('force'),
    areTagsAllowed: options.has('allow-tags'),
  };
}

function optionProblem(options: Options): string | undefined {
  const missing = ['file', 'service', 'stage'].find((name) => !options.has(name));
  if (missing !== undefined) return `--${missing} is needed`;
  return conflictIn(options) ?? secretIn(options) ?? versionProblem(options);
}

function bapiOf(options: Options): DeployOptions['bapi'] {
  if (!options.has('bapi-url')) return undefined;
  return { bapiUrl: options.needed('bapi-url'), stageId: options.needed('stage-id') };
}

function conflictIn(options: Options): string | undefined {
  const groups = [
    ['lenient', 'strict'],
    ['percent', 'phase-index', 'all-phases'],
  ];
  for (const group of groups) {
    const [one, other] = options.among(group);
    if (other !== undefined) return `--${one} and --${other} exclude each other`;
  }
  const [given, ...both] = options.among(['bapi-url', 'stage-id']);
  if (given === undefined || both.length > 0) return undefined;
  return `--bapi-url and --stage-id need each other: got --${given} alone`;
}

/** Looks for credentials in addresses, which would be stored where every client can read them; they are not shown. */
function secretIn(options: Options): string | undefined {
  const withUser = /^https?:\/\/[^/]*@/i;
  const withPassword = /^[a-z][a-z0-9+.-]*:\/\/[^/@]*:[^/]*@/i;
  // As ssh takes it, without a scheme.
  const bare = /^[^/@:]+:[^/]*@/;
  const found = options.among(['git-origin', 'bapi-url']).find((name) => {
    const value = options.needed(name);
    return [withUser, withPassword, bare].some((pattern) => pattern.test(value));
  });
  if (found === undefined) return undefined;
  return `--${found} must be an address without a user or password: got one, which is not shown here`;
}

function versionProblem(options: Options): string | undefined {
  const version = options.get('version');
  const isLabel = /^[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?$/.test(version ?? 'v');
  if (isLabel || version === undefined) return undefined;
  return `--version must be 1 to 63 letters, digits, "-", "_" and ".", as a label is: got ${quoted(version)}`;
}

function imagesOf(given: readonly string[]): ReadonlyMap<string, string> | string {
  const images = new Map<string, string>();
  for (const each of given) {
    const [, name = '', reference = ''] = /^([^=]+)=(.+)$/s.exec(each) ?? [];
    if (reference === '') return `--image must be <name>=<reference>: got ${quoted(each)}`;
    if (images.has(name))
      return `--image can be given once for each name: got ${quoted(name)} again`;
    images.set(name, reference);
  }
  return images;
}

function phasesOf(options: Options): PhaseChoice | string {
  const percent = options.get('percent');
  const index = options.get('phase-index');
  if (percent !== undefined) {
    const value = wholeNumber(percent);
    if (value <= 100) return { kind: 'percent', percent: value };
    return `--percent must be an integer from 0 to 100: got ${quoted(percent)}`;
  }
  if (index !== undefined) {
    const value = wholeNumber(index);
    if (value < 100) return { kind: 'index', index: value };
    return `--phase-index must be an integer from 0 to 99: got ${quoted(index)}`;
  }
  return options.has('all-phases') ? { kind: 'all' } : { kind: 'first' };
}

/** Returns NaN, which is below and above nothing, for all else. */
function wholeNumber(text: string): number {
  return /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
}

function gitOf(options: Options): DeployOptions['git'] {
  const branch = options.get('git-branch');
  const origin = options.get('git-origin');
  const sha = options.get('git-sha');
  return {
    ...(branch !== undefined && { branch }),
    ...(origin !== undefined && { origin }),
    ...(sha !== undefined && { sha }),
  };
}

function outputOf(options: Options): OutputOptions | string {
  const format = options.get('output') ?? 'yaml';
  const out = options.get('out');
  if (format !== 'yaml' && format !== 'json')
    return `--output must be yaml or json: got ${quoted(format)}`;
  if (options.has('all-phases') && out === undefined)
    return '--all-phases needs --out: the phases have one name, and are applied one after the other';
  return { format, out };
}

function invalid(sentence: string): ParsedConvert {
  return { kind: 'invalid', sentence };
}

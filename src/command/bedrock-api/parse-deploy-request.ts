import { isJsonObject, type JsonObject, type JsonValue, jsonIn } from '#base/json.ts';
import { objectAt, stringAt } from '#statefulset/parse-fields.ts';
import type { DeployOptions } from '../bedrock/options/convert-options.ts';

/** What `POST /v1/deploys` asks for. */
export interface DeployRequest {
  readonly text: string;
  /** With all phases. */
  readonly deploy: DeployOptions;
  /** Undefined: the first phase. */
  readonly from: number | undefined;
  readonly isAutomatic: boolean;
  /** The deploy that this one may take the place of while it runs. */
  readonly replaces: string | undefined;
}

const kinds = {
  bedrockYaml: 'string',
  service: 'string',
  stage: 'string',
  cluster: 'string',
  images: 'texts',
  version: 'string',
  git: 'texts',
  dc: 'string',
  rolloutIdentity: 'string',
  from: 'number',
  autoAdvance: 'boolean',
  replaces: 'string',
  lenient: 'boolean',
  strict: 'boolean',
  allowTags: 'boolean',
} as const;

const needed = ['bedrockYaml', 'service', 'stage'] as const;

/** Reads the body of `POST /v1/deploys`, or says in a sentence what is wrong with it. */
export function parseDeployRequest(body: Uint8Array): DeployRequest | string {
  const request = jsonIn(Buffer.from(body).toString());
  if (!isJsonObject(request)) return 'The body must be a JSON object';
  const problem = problemOf(request);
  if (problem !== undefined) return problem;
  const from = request['from'];
  return {
    text: textOf(request, 'bedrockYaml'),
    deploy: deployOf(request),
    from: typeof from === 'number' ? from : undefined,
    isAutomatic: request['autoAdvance'] === true,
    replaces: stringAt(request, 'replaces'),
  };
}

function problemOf(request: JsonObject): string | undefined {
  const unknown = Object.keys(request).find((name) => !Object.hasOwn(kinds, name));
  if (unknown !== undefined)
    return `${JSON.stringify(unknown.slice(0, 100))} is no member: they are ${Object.keys(kinds).join(', ')}`;
  const missing = needed.find((name) => !Object.hasOwn(request, name));
  if (missing !== undefined) return `${missing} is needed`;
  const wrong = Object.entries(kinds).find(([name, kind]) => !isOf(kind, request[name]));
  if (wrong !== undefined) return `${wrong[0]} must be ${words[wrong[1]]}`;
  const version = textOf(request, 'version');
  const isLabel = /^(?:[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?)?$/.test(version);
  if (!isLabel) return 'version must be 1 to 63 letters, digits, "-", "_" and "."';
  return originProblem(originOf(request));
}

/** Readers of addresses leave out what stands before and between their parts, so that an address with such is none. */
function originProblem(origin: string): string | undefined {
  if (/[\s\p{C}\\]/u.test(origin))
    return 'git.origin must be an address without blanks, backslashes and control characters';
  const { username = '', password = '' } = URL.parse(origin) ?? {};
  const isNamed = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/]*@|[^/@:]+:[^/]*@)/i.test(origin);
  const hasSecret = isNamed || username !== '' || password !== '';
  return hasSecret ? 'git.origin must be an address without a user or password' : undefined;
}

const words = {
  string: 'a text',
  texts: 'an object of texts',
  number: 'a number',
  boolean: 'true or false',
} as const;

function isOf(kind: keyof typeof words, value: JsonValue | undefined): boolean {
  if (value === undefined) return true;
  if (kind !== 'texts') return typeof value === kind;
  return isJsonObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

function deployOf(request: JsonObject): DeployOptions {
  return {
    file: 'bedrockYaml',
    service: textOf(request, 'service'),
    stage: textOf(request, 'stage'),
    cluster: stringAt(request, 'cluster'),
    images: new Map(textsOf(request, 'images')),
    version: stringAt(request, 'version'),
    git: gitOf(request),
    bapi: undefined,
    dc: stringAt(request, 'dc'),
    phases: { kind: 'all' },
    identity: stringAt(request, 'rolloutIdentity'),
    isLenient: request['lenient'] === true,
    isStrict: request['strict'] === true,
    isForced: false,
    areTagsAllowed: request['allowTags'] === true,
  };
}

function gitOf(request: JsonObject): DeployOptions['git'] {
  return Object.fromEntries(
    textsOf(request, 'git').filter(([name]) => ['branch', 'origin', 'sha'].includes(name)),
  );
}

function originOf(request: JsonObject): string {
  return stringAt(objectAt(request, 'git'), 'origin') ?? '';
}

function textOf(request: JsonObject, name: string): string {
  return stringAt(request, name) ?? '';
}

function textsOf(request: JsonObject, name: string): readonly (readonly [string, string])[] {
  return Object.entries(objectAt(request, name)).flatMap(([key, text]) =>
    typeof text === 'string' ? [[key, text] as const] : [],
  );
}

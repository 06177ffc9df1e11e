import { quoted } from '#base/text/quoted.ts';
import { type Millis, millis } from '#base/units.ts';
import { validateHeaderName, validateHeaderValue } from './header-checks.ts';
import { decodedOf, refused, refusedUrl, type TracingVariables } from './tracing-variables.ts';

/** Where spans go by OTLP over HTTP, and how. */
export interface OtlpSettings {
  /** Without user and password: those are in `headers`. */
  readonly url: URL;
  readonly encoding: 'protobuf' | 'json';
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** For one batch, with all that is tried again. */
  readonly timeout: Millis;
  readonly isCompressed: boolean;
  /** Paths of PEM files, by the variables that name them. */
  readonly files: Readonly<Record<'ca' | 'cert' | 'key', TracingFile | undefined>>;
}

/** A file that a variable names. */
export interface TracingFile {
  readonly variable: string;
  readonly path: string;
}

/** The endpoint, or the protocol that is not spoken here. */
export type ReadOtlp =
  | { readonly kind: 'spoken'; readonly settings: OtlpSettings }
  | { readonly kind: 'unspoken'; readonly protocol: string; readonly variable: string };

const protocols = ['http/protobuf', 'http/json', 'grpc'] as const;
const compressions = ['gzip', 'none'] as const;
const defaultTimeout = 10_000;

/** Reads `OTEL_EXPORTER_OTLP_*`, of which those for traces go first. @throws {TracingVariableError} */
export function readOtlp(variables: TracingVariables): ReadOtlp {
  const protocol = chosen(variables, 'PROTOCOL', protocols);
  if (protocol?.word === 'grpc') {
    return { kind: 'unspoken', protocol: 'gRPC', variable: protocol.name };
  }
  const { url, credentials } = endpointOf(variables);
  const timeouts = namesOf('TIMEOUT').map((name) => variables.whole(name, 1));
  const headers = namesOf('HEADERS').map((name) => headersOf(name, variables.pairs(name)));
  const [ofTraces, general] = headers;
  return {
    kind: 'spoken',
    settings: {
      url,
      encoding: protocol?.word === 'http/json' ? 'json' : 'protobuf',
      headers: { ...credentials, ...general, ...ofTraces },
      timeout: millis(timeouts[0] ?? timeouts[1] ?? defaultTimeout),
      isCompressed: chosen(variables, 'COMPRESSION', compressions)?.word === 'gzip',
      files: {
        ca: fileOf(variables, 'CERTIFICATE'),
        cert: fileOf(variables, 'CLIENT_CERTIFICATE'),
        key: fileOf(variables, 'CLIENT_KEY'),
      },
    },
  };
}

/** Returns the variable of traces, and the one of all signals. */
function namesOf(what: string): readonly [string, string] {
  return [`OTEL_EXPORTER_OTLP_TRACES_${what}`, `OTEL_EXPORTER_OTLP_${what}`];
}

function chosen<Word extends string>(
  variables: TracingVariables,
  what: string,
  words: readonly Word[],
): { readonly name: string; readonly word: Word } | undefined {
  for (const name of namesOf(what)) {
    const word = variables.word(name, words);
    if (word !== undefined) return { name, word };
  }
  return undefined;
}

function fileOf(variables: TracingVariables, what: string): TracingFile | undefined {
  const named = variables.firstOf(...namesOf(what));
  return named === undefined ? undefined : { variable: named.name, path: named.text };
}

/** Returns the endpoint of traces as it is, or the general one with the path that traces have there. */
function endpointOf(variables: TracingVariables): {
  readonly url: URL;
  readonly credentials: Readonly<Record<string, string>>;
} {
  const [ofTraces, general] = namesOf('ENDPOINT');
  const standard = { name: general, text: 'http://localhost:4318' };
  const { name, text } = variables.firstOf(ofTraces, general) ?? standard;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw refusedUrl(name, 'http://collector:4318', text);
  if (name === general) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  return { url, credentials: takenFrom(url) };
}

/** Takes user and password out of `url`. @returns the header that says the same */
function takenFrom(url: URL): Readonly<Record<string, string>> {
  const words = [url.username, url.password].map((each) => decodedOf(each) ?? each);
  url.username = '';
  url.password = '';
  const pair = words.join(':');
  if (pair === ':') return {};
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** Those that belong to each message and its connection. */
const ofTheConnection: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/** Returns `pairs` of `variable` with names in lower case; values are not reported. @throws {TracingVariableError} */
function headersOf(
  variable: string,
  pairs: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(pairs).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  for (const [name, value] of entries) {
    const bad = badHeader(name, value);
    if (bad !== undefined) throw refused(variable, 'headers of HTTP that may be chosen', bad);
  }
  return Object.fromEntries(entries);
}

function badHeader(name: string, value: string): string | undefined {
  if (ofTheConnection.has(name)) return `${quoted(name)}, which this program sets itself`;
  try {
    validateHeaderName(name);
  } catch {
    return `${quoted(name)} as a name`;
  }
  try {
    validateHeaderValue(name, value);
  } catch {
    return `a value of ${quoted(name)} with characters that no header may have`;
  }
  return undefined;
}

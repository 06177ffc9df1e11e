import { errorOf } from '#base/error-of.ts';
import { isJsonObject } from '#base/json.ts';
import type { NoAlarms } from './alarm.ts';
import { NoAnswerError } from './aws-http-handler.ts';

/** Why the SDK of AWS threw. */
export interface AwsFailure {
  readonly reason: NoAlarms;
  /** A clause. */
  readonly message: string;
  /** Whether what was asked for is refused, and not who asks. */
  readonly mayBeOfOneName?: true;
}

const throttled: ReadonlySet<string> = new Set([
  'Throttling',
  'ThrottlingException',
  'ThrottledException',
  'RequestThrottled',
  'RequestThrottledException',
  'RequestLimitExceeded',
  'TooManyRequestsException',
  'SlowDown',
  'BandwidthLimitExceeded',
]);

const expired: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'RequestExpired',
]);

const noProvider: ReadonlySet<string> = new Set([
  'CredentialsProviderError',
  'TokenProviderError',
  'ProviderError',
]);

/** Whatever is asked for with such credentials is refused. */
const unknownCaller: ReadonlySet<string> = new Set([
  'UnrecognizedClientException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
  'IncompleteSignature',
  'IncompleteSignatureException',
  'MissingAuthenticationToken',
  'MissingAuthenticationTokenException',
  'RequestTimeTooSkewed',
  'OptInRequired',
]);

const longestShown = 300;

/** Reads what the SDK threw; anything may be. */
export function parseAwsError(thrown: unknown): AwsFailure {
  if (thrown instanceof NoAnswerError) return { reason: thrown.reason, message: shown(thrown) };
  const error = errorOf(thrown);
  const { name } = error;
  const text = shown(error);
  if (noProvider.has(name)) {
    return { reason: 'NoCredentials', message: `there are no credentials: ${text}` };
  }
  if (expired.has(name)) {
    return { reason: 'NoCredentials', message: `the credentials have expired: ${name}: ${text}` };
  }
  const status = statusOf(error);
  if (throttled.has(name) || status === 429) {
    return { reason: 'Throttled', message: `it is asked too often: ${name}: ${text}` };
  }
  return status === undefined ? unsent(text) : answered(status, name, text);
}

function answered(status: number, name: string, text: string): AwsFailure {
  const isUnread = name === 'SyntaxError' || name === 'TypeError';
  if (status < 300) {
    return { reason: 'Unreadable', message: `its answer is not from CloudWatch: ${text}` };
  }
  const what = isUnread || name === 'Unknown' ? '' : `: ${name}: ${text}`;
  const refused = { reason: 'Refused', message: `it answers ${status}${what}` } as const;
  const isOfQuestion = what !== '' && status >= 400 && status < 500 && !unknownCaller.has(name);
  return isOfQuestion ? { ...refused, mayBeOfOneName: true } : refused;
}

function unsent(text: string): AwsFailure {
  const isRegion = /^Region is missing|region="" is not/.test(text);
  const message = isRegion ? 'no region is configured: set AWS_REGION' : text;
  return { reason: 'BadConfiguration', message };
}

function statusOf(error: Error): number | undefined {
  const metadata: unknown = '$metadata' in error ? error.$metadata : undefined;
  if (!isJsonObject(metadata)) return undefined;
  const { httpStatusCode } = metadata;
  return typeof httpStatusCode === 'number' ? httpStatusCode : undefined;
}

/** Returns the first line only: those below repeat what was signed, session tokens too. */
function shown({ message }: Error): string {
  const [line = ''] = message.split('\n', 1);
  return line.length <= longestShown ? line : `${line.slice(0, longestShown)}…`;
}

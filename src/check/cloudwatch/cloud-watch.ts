import type { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { problemText } from '#base/parsed.ts';
import { type Millis, millis, seconds } from '#base/units.ts';
import type { Environment } from '#kubernetes/transport/proxy.ts';
import { withMissingFile } from '#telemetry/missing-file.ts';
import type { Alarm, AlarmSource, AlarmsRead } from './alarm.ts';
import { AwsHttpHandler } from './aws-http-handler.ts';
import type * as AwsSdk from './aws-sdk.ts';
import { parseAlarms } from './parse-alarms.ts';
import { parseAwsError } from './parse-aws-error.ts';

/** Settings of {@link openCloudWatch}. */
export interface CloudWatchOptions {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  /** Where the region and proxies are looked up; what else the SDK needs, it reads in the process itself. */
  readonly env: Environment;
  /** URL to ask in place of that of the region. @default what AWS_ENDPOINT_URL_CLOUDWATCH or AWS_ENDPOINT_URL say, if they do */
  readonly endpoint?: string;
  /** @default those of the standard chain: environment, shared files, web identity, container, instance */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  /** Times that the SDK sends a request which fails in passing. @default 3, or what AWS_MAX_ATTEMPTS or the profile say */
  readonly attempts?: number;
  /** From one request to the last byte of its answer, those for credentials too. @default 8 s */
  readonly timeout?: Millis;
  /** Longest answer that is read, in bytes; one for a few names is read less far. @default 8 MiB */
  readonly longestAnswer?: number;
}

/** The SDK asks an endpoint on the same node several times; after a second of silence it would warn, bypassing our log. */
const metadataTimeout = millis(750);
/** What the SDK hands on to the reader of credentials: shared files may have been renewed since it read them. */
const readAnew = { ignoreCache: true };
/** Most that one answer may have, and what it has at most for 100 names but for twins. */
const pageSize = 100;
/** Twins of 100 names need two. */
const mostPages = 3;

/**
 * Returns CloudWatch of AWS. The SDK is loaded with the first question: an installation without alarms never has it in memory. A
 * request that fails in passing is tried again by the SDK, as that of the peer does.
 */
export function openCloudWatch(options: CloudWatchOptions): AlarmSource {
  return new CloudWatch(options);
}

class CloudWatch implements AlarmSource {
  readonly #options: CloudWatchOptions;
  readonly #handler: AwsHttpHandler;
  #client: CloudWatchClient | undefined;
  /** The one resolution of credentials that is under way. */
  #resolving: Promise<unknown> | undefined;
  #unbind: (() => void) | undefined;

  constructor(options: CloudWatchOptions) {
    this.#options = options;
    const { clock, env, timeout = seconds(8), longestAnswer = 8_388_608 } = options;
    this.#handler = new AwsHttpHandler({ clock, env, timeout, longestAnswer });
  }

  async describe(names: readonly string[], signal: AbortSignal): Promise<AlarmsRead> {
    const given = Promise.withResolvers<AlarmsRead>();
    const giveUp = (): void => {
      this.#handler.giveUpFetches();
      given.resolve(failed('GivenUp', 'the question was given up'));
    };
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    const read = this.#read(names, signal).catch((thrown: unknown): AlarmsRead => {
      const { reason, message, mayBeOfOneName } = parseAwsError(thrown);
      const failure = failed(reason, message);
      return mayBeOfOneName === true ? { ...failure, mayBeOfOneName } : failure;
    });
    // Not all that the SDK does ends with the signal: credentials are fetched without it.
    const first = await Promise.race([read, given.promise]);
    signal.removeEventListener('abort', giveUp);
    // A client keeps what it has, credentials that are no longer taken, too; but another one would start one more helper
    // for credentials in parallel to one that hangs.
    const isDue = first.kind === 'error' && first.mayBeOfOneName !== true;
    if (isDue && this.#resolving === undefined) this.#endClient();
    return first;
  }

  async close(): Promise<void> {
    this.#endClient();
    this.#unbind?.();
    await this.#handler.close();
  }

  async #read(names: readonly string[], abortSignal: AbortSignal): Promise<AlarmsRead> {
    const sdk = await import('./aws-sdk.ts').catch(withMissingFile);
    if (abortSignal.aborted) return failed('GivenUp', 'the question was given up');
    this.#unbind ??= sdk.boundMetadataRequests(this.#options.env, metadataTimeout);
    const client = (this.#client ??= this.#newClient(sdk));
    await this.#resolved(client);
    if (abortSignal.aborted) return failed('GivenUp', 'the question was given up');
    const sending = { abortSignal, longestAnswer: longestFor(names) };
    const alarms: Alarm[] = [];
    let token: string | undefined;
    for (let page = 1; page <= mostPages; page += 1) {
      const command = new sdk.DescribeAlarmsCommand({
        AlarmNames: [...names],
        AlarmTypes: ['CompositeAlarm', 'MetricAlarm'],
        MaxRecords: pageSize,
        ...(token !== undefined && { NextToken: token }),
      });
      const parsed = parseAlarms(await client.send(command, sending));
      if (parsed.kind === 'invalid') {
        const why = problemText(parsed.problem);
        return failed('Unreadable', `its answer is not from CloudWatch: ${why}`);
      }
      const { length } = parsed.value.alarms;
      if (length > pageSize) {
        return failed('Unreadable', `its answer has ${length} alarms on a page of ${pageSize}`);
      }
      alarms.push(...parsed.value.alarms);
      token = parsed.value.next;
      if (token === undefined) {
        return { kind: 'alarms', region: await client.config.region(), alarms };
      }
    }
    return failed('Unreadable', `its answer has more than ${mostPages} pages`);
  }

  /** Waits until there are credentials, or none to be had; a helper for them cannot be aborted. */
  async #resolved({ config }: CloudWatchClient): Promise<void> {
    // A caller that waited for those first gets the reason why there are none, and may have given them up.
    await this.#resolving?.catch(() => undefined);
    this.#resolving ??= config.credentials().finally(() => {
      this.#resolving = undefined;
    });
    await this.#resolving;
  }

  #newClient(sdk: typeof AwsSdk): CloudWatchClient {
    const { env, endpoint, credentials, log, attempts } = this.#options;
    // Of these the SDK knows the first only; an empty one is none.
    const region = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'];
    return new sdk.CloudWatchClient({
      ...readAnew,
      requestHandler: this.#handler,
      logger: loggerOf(log),
      ...(region && { region }),
      ...(endpoint !== undefined && { endpoint }),
      ...(attempts !== undefined && { maxAttempts: attempts }),
      ...(credentials !== undefined && { credentials: { ...credentials } }),
    });
  }

  #endClient(): void {
    this.#client?.destroy();
    this.#client = undefined;
  }
}

/** Returns the longest answer in bytes: several times what CloudWatch lets these alarms have. */
function longestFor({ length }: readonly string[]): number {
  return 262_144 + length * 32_768;
}

type Failure = Extract<AlarmsRead, { kind: 'error' }>;

function failed(reason: Failure['reason'], why: string): Failure {
  return { kind: 'error', reason, message: `Cannot ask CloudWatch: ${why}` };
}

type AwsLog = (...content: readonly unknown[]) => void;

/** Logs warnings of the SDK only: it would log whole requests, and errors are reported with the answer. */
function loggerOf(
  log: Pick<Logger, 'warn'>,
): Readonly<Record<'debug' | 'info' | 'warn' | 'error', AwsLog>> {
  const nothing: AwsLog = () => undefined;
  const warn: AwsLog = (...content) => {
    const text = content.filter((each) => typeof each === 'string').join(' ');
    if (text !== '') log.warn('AWS SDK warns', { warning: text });
  };
  return { debug: nothing, info: nothing, warn, error: nothing };
}

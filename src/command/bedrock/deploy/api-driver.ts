import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { arrayAt, integerAt, objectAt, objectsIn, stringAt } from '#statefulset/parse-fields.ts';
import type { ApiAccess, ApiCall, ApiReply } from '../drive-ports.ts';
import type { DeployOptions } from '../options/convert-options.ts';
import type { PhaseDriver, PhaseEnd } from './phase-driver.ts';
import { plainText } from './rollout-report.ts';

/** What is deployed. */
export interface ApiDeploy {
  /** The text of the `bedrock.yaml`. */
  readonly text: string;
  readonly deploy: DeployOptions;
  /** The percentages of the phases that are carried out, rising. */
  readonly percents: readonly number[];
  /** Whether the API goes from phase to phase by itself. */
  readonly isConfirmed: boolean;
  /** The deploy that runs, and that this one takes the place of. */
  readonly replaces: string | undefined;
}

/** Settings of {@link ApiDriver}. */
export interface ApiDriverOptions {
  readonly api: ApiAccess;
  readonly clock: Clock;
  readonly request: ApiDeploy;
  /** Called with one line whenever phase, percentage or reason change. */
  readonly tell: (line: string) => void;
}

const pollInterval = seconds(2);
/** Polls without a good answer in a row, over which it is given up. */
const mostFailures = 15;

/** Has a deploy API carry the phases out (H-21). */
export class ApiDriver implements PhaseDriver {
  readonly #options: ApiDriverOptions;
  #id = '';
  #told = '';

  constructor(options: ApiDriverOptions) {
    this.#options = options;
  }

  async carryOut(at: number, signal: AbortSignal): Promise<PhaseEnd> {
    const { request } = this.#options;
    if (at === 0) await this.#begin(signal);
    else if (!request.isConfirmed)
      await this.#ask({ method: 'POST', path: `${this.#path}/advance` }, signal);
    return this.#wait(request.percents[at] ?? 0, signal);
  }

  async close(): Promise<void> {
    await this.#options.api.close();
  }

  get #path(): string {
    return `/v1/deploys/${this.#id}`;
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const body = deployBody(this.#options.request);
    const made = await this.#ask({ method: 'POST', path: '/v1/deploys', body }, signal);
    this.#id = encodeURIComponent(stringAt(made, 'id') ?? '');
    this.#options.tell(`deploy ${this.#id}\n`);
  }

  async #wait(percent: number, signal: AbortSignal): Promise<PhaseEnd> {
    const { clock } = this.#options;
    for (let failures = 0; ; ) {
      const reply = await this.#poll(signal);
      failures = reply === undefined ? failures + 1 : 0;
      if (failures > mostFailures) throw new Error('The deploy API does not answer any more');
      if (reply?.status === 404)
        return { kind: 'lost', why: 'another deploy has taken its place, or it was deleted' };
      const end = reply === undefined ? undefined : this.#endIn(reply.body, percent);
      if (end !== undefined) return end;
      await clock.sleep(pollInterval, { signal });
    }
  }

  /** Asks once. @returns undefined where it may answer the next time */
  async #poll(signal: AbortSignal): Promise<ApiReply | undefined> {
    const call = { method: 'GET', path: this.#path } as const;
    try {
      const reply = await this.#options.api.call(call, signal);
      if (reply.status === 200 || reply.status === 404) return reply;
      if (reply.status < 500 && reply.status !== 429) throw new RefusedCallError(call, reply);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RefusedCallError) throw error;
      return undefined;
    }
  }

  #endIn(deploy: JsonObject, percent: number): PhaseEnd | undefined {
    const phases = objectsIn(arrayAt(deploy, 'phases'));
    const phase = phases.find((each) => each['percent'] === percent) ?? {};
    const rollout = objectAt(deploy, 'rollout');
    this.#tell(deploy, rollout);
    const reason = plainText(stringAt(rollout, 'reason') ?? '');
    const state = phase['state'];
    if (state === 'success') return { kind: 'done' };
    return state === 'failure' ? { kind: 'failed', reason } : undefined;
  }

  #tell(deploy: JsonObject, rollout: JsonObject): void {
    const [name, phase, reason] = [
      stringAt(deploy, 'name'),
      stringAt(rollout, 'phase'),
      stringAt(rollout, 'reason'),
    ].map((text) => plainText(text ?? ''));
    const percent = integerAt(rollout, 'percent') ?? 0;
    const deployed = integerAt(rollout, 'percentDeployed') ?? 0;
    const because = reason === '' ? '' : `: ${reason}`;
    const known = phase === '' ? 'not looked at yet by the operator' : phase;
    const line = `${name} ${percent}%: ${known}, ${deployed}% deployed${because}\n`;
    if (line === this.#told) return;
    this.#told = line;
    this.#options.tell(line);
  }

  async #ask(call: ApiCall, signal: AbortSignal): Promise<JsonObject> {
    const reply = await this.#options.api.call(call, signal);
    if (reply.status >= 200 && reply.status <= 299) return reply.body;
    throw new RefusedCallError(call, reply);
  }
}

class RefusedCallError extends Error {
  override readonly name = 'RefusedCallError';

  constructor({ method, path }: ApiCall, { status, body }: ApiReply) {
    const why = plainText(stringAt(body, 'error') ?? 'no reason given');
    super(`The deploy API refused ${method} ${path}: ${why} (${status})`);
  }
}

function deployBody({ text, deploy, percents, isConfirmed, replaces }: ApiDeploy): JsonObject {
  const { service, stage, cluster, images, version, git, dc, identity } = deploy;
  return {
    bedrockYaml: text,
    service,
    stage,
    cluster,
    images: Object.fromEntries(images),
    version,
    git: { ...git },
    dc,
    rolloutIdentity: identity,
    from: percents[0],
    autoAdvance: isConfirmed,
    replaces,
    lenient: deploy.isLenient,
    strict: deploy.isStrict,
    allowTags: deploy.areTagsAllowed,
  };
}

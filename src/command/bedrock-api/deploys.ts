import { randomInt } from 'node:crypto';
import type { JsonObject } from '#base/json.ts';
import { quoted } from '#base/text/quoted.ts';
import { seconds } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { objectKey } from '#kubernetes/object-key.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import { type ConvertedFile, convertFile } from '../bedrock/convert/convert-file.ts';
import { applyPhase, ForeignFieldsError, keyOf } from '../bedrock/deploy/apply-resources.ts';
import { findingLines } from '../bedrock/parse/finding.ts';
import { type ApiAnswer, refusal } from './api-answer.ts';
import {
  type DeployRecord,
  deployLabel,
  formatRecord,
  newRecord,
  recordAnnotation,
  withBegun,
} from './deploy-record.ts';
import type { Decided, DeployStore, StoredDeploy } from './deploy-store.ts';
import { deployView, phaseState } from './deploy-view.ts';
import { type DeployRequest, parseDeployRequest } from './parse-deploy-request.ts';

/** Settings of {@link Deploys}. */
export interface DeploysOptions {
  readonly client: Client;
  readonly store: DeployStore;
  /** Address by which the operator reaches this API, without the path of a stage. */
  readonly publicUrl: string;
  readonly randomIdentity: () => string;
}

/** What can be done with a deploy. */
export type DeployAction = 'pause' | 'resume' | 'retry' | 'advance';

const timeout = seconds(8);
const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Returns 20 lower case letters and digits. */
function randomId(): string {
  return Array.from({ length: 20 }, () => letters.charAt(randomInt(letters.length))).join('');
}

/** Returns the change by which phase `at` begins, or begins again, under a fresh stage id. */
export function begun(
  { object, record }: StoredDeploy,
  at: number,
  more: JsonObject = {},
): Decided<never> {
  const stageId = `${record.id}.${randomId()}`;
  const percent = record.phases[at]?.percent;
  const { bapiUrl } = objectAt(objectAt(object, 'spec'), 'bapi');
  const spec = { percent, bapi: { bapiUrl, stageId }, ...more };
  return { kind: 'change', change: { record: withBegun(record, at, stageId), spec } };
}

/** Makes deploys, reports on them, and does with them what is asked (H-21). */
export class Deploys {
  readonly #options: DeploysOptions;
  /** Rollouts that a deploy is being made of: a second one waits for nothing, and is refused. */
  readonly #making = new Set<string>();

  constructor(options: DeploysOptions) {
    this.#options = options;
  }

  async create(body: Uint8Array): Promise<ApiAnswer> {
    const request = parseDeployRequest(body);
    if (typeof request === 'string') return refusal(400, request);
    const { randomIdentity, publicUrl } = this.#options;
    const id = randomId();
    const stageId = `${id}.${randomId()}`;
    const deploy = { ...request.deploy, bapi: { bapiUrl: publicUrl, stageId } };
    const converted = convertFile(request.text, deploy, randomIdentity());
    if (converted.kind === 'refused')
      return refusal(422, findingLines('bedrockYaml', converted.findings).join('\n'));
    const phases = phasesFrom(converted, request);
    if (typeof phases === 'string') return refusal(422, phases);
    const [first] = phases;
    if (first === undefined) return refusal(422, 'The stage has no phases');
    const percents = phases.map(({ percent }) => percent);
    const record = newRecord(id, percents, { stageId, isAutomatic: request.isAutomatic });
    const [budget, rollout] = first.resources;
    const { client, store } = this.#options;
    const marked = withRecord(rollout, record);
    const place = keyOf(rollout);
    const key = objectKey(place);
    if (!store.isAllowed(place.namespace))
      return refusal(403, `This API does not deploy into namespace "${place.namespace}"`);
    if (this.#making.has(key)) return refusal(409, `Another deploy of "${key}" is being made`);
    this.#making.add(key);
    try {
      const running = runningProblem(await store.at(place), key, request);
      if (running !== undefined) return refusal(409, running);
      const call = { timeout };
      const object = await applyPhase([budget, marked], { client, call, takes: 'own-fields' });
      return { status: 201, body: deployView({ object, record }) };
    } catch (error) {
      if (error instanceof ForeignFieldsError) return refusal(409, error.message);
      throw error;
    } finally {
      this.#making.delete(key);
    }
  }

  async get(id: string): Promise<ApiAnswer> {
    const found = await this.#options.store.find(id);
    return found === undefined ? unknownDeploy : { status: 200, body: deployView(found) };
  }

  async act(id: string, action: DeployAction): Promise<ApiAnswer> {
    const changed = await this.#options.store.change(id, (deploy) => this.#decide(deploy, action));
    if (changed === undefined) return unknownDeploy;
    if (changed.kind === 'none') return changed.answer;
    return { status: 200, body: deployView(changed.deploy) };
  }

  #decide(deploy: StoredDeploy, action: DeployAction): Decided<ApiAnswer> {
    const { record } = deploy;
    switch (action) {
      case 'pause':
      case 'resume': {
        const spec = { pauseRequested: action === 'pause' };
        return { kind: 'change', change: { record, spec } };
      }
      case 'retry':
        return begun(deploy, record.current, {
          rolloutIdentity: this.#options.randomIdentity(),
        });
      default:
        return advanced(deploy);
    }
  }
}

const unknownDeploy = refusal(404, 'There is no such deploy, or another has taken its place');

function advanced(deploy: StoredDeploy): Decided<ApiAnswer> {
  const { current, phases } = deploy.record;
  const { percent } = phases[current] ?? {};
  const state = phaseState(deploy, current);
  if (state !== 'success')
    return {
      kind: 'none',
      answer: refusal(409, `The phase of ${percent}% has not succeeded: ${state}`),
    };
  if (current + 1 >= phases.length)
    return { kind: 'none', answer: refusal(409, `The phase of ${percent}% is the last`) };
  return begun(deploy, current + 1);
}

/** Returns why a deploy may not take the place of `stored`; undefined where that has ended, or is named. */
function runningProblem(
  stored: StoredDeploy | undefined,
  key: string,
  { replaces }: DeployRequest,
): string | undefined {
  if (stored === undefined || !isRunning(stored)) return undefined;
  const { id } = stored.record;
  if (replaces === id) return undefined;
  const named = replaces === undefined ? '' : `, and not ${quoted(replaces)}`;
  return `Deploy "${id}" of "${key}" runs${named}: wait until it has ended, or name it as "replaces"`;
}

function isRunning(deploy: StoredDeploy): boolean {
  const { current, phases, isAutomatic } = deploy.record;
  const state = phaseState(deploy, current);
  return state === 'running' || (state === 'success' && isAutomatic && current + 1 < phases.length);
}

type Converted = Extract<ConvertedFile, { readonly kind: 'converted' }>;

function phasesFrom(
  { phases, stage, clusters }: Converted,
  { from }: DeployRequest,
): Converted['phases'] | string {
  if (clusters.length > 1) return `The stage has ${clusters.length} clusters: name one of them`;
  const begin = from === undefined ? 0 : stage.phases.indexOf(from);
  if (begin < 0) return `from must be one of the phases ${stage.phases.join(', ')}: got ${from}`;
  return phases.slice(begin);
}

function withRecord(rollout: JsonObject, record: DeployRecord): JsonObject {
  const metadata = objectAt(rollout, 'metadata');
  return {
    ...rollout,
    metadata: {
      ...metadata,
      labels: { ...objectAt(metadata, 'labels'), [deployLabel]: record.id },
      annotations: {
        ...objectAt(metadata, 'annotations'),
        [recordAnnotation]: formatRecord(record),
      },
    },
  };
}

import { createHash } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import { type ApiAnswer, type ApiRequest, headerOf, refusal } from './api-answer.ts';
import { headerProblem, signatureProblem } from './callback-signature.ts';
import { deployIdIn, withResult } from './deploy-record.ts';
import type { Decided, DeployStore, StoredDeploy } from './deploy-store.ts';
import { begun } from './deploys.ts';
import { type ParsedCallback, parseCallback } from './parse-callback.ts';

/** Settings of {@link Callbacks}. */
export interface CallbacksOptions {
  readonly store: DeployStore;
  readonly clock: Clock;
  readonly signingKey: Uint8Array;
}

/** Takes callbacks of rollouts that have ended (E), each outcome once, and goes on to the next phase where that is wanted. */
export class Callbacks {
  readonly #options: CallbacksOptions;

  constructor(options: CallbacksOptions) {
    this.#options = options;
  }

  /** Returns the answer to a callback whose headers alone show that it is none; undefined where its body has to be read. */
  refused(request: Pick<ApiRequest, 'headers'>): ApiAnswer | undefined {
    const problem = headerProblem(request, this.#options.clock.now());
    if (problem !== undefined) return refusal(401, problem);
    const key = headerOf(request, 'idempotency-key') ?? '';
    return /^[0-9a-f]{64}$/.test(key)
      ? undefined
      : refusal(400, 'Idempotency-Key must be 64 hexadecimal digits');
  }

  async take(stageId: string, request: ApiRequest): Promise<ApiAnswer> {
    const { signingKey, clock, store } = this.#options;
    const refused = this.refused(request);
    if (refused !== undefined) return refused;
    const problem = signatureProblem(request, { signingKey, now: clock.now() });
    if (problem !== undefined) return refusal(401, problem);
    const key = headerOf(request, 'idempotency-key') ?? '';
    const callback = parseCallback(request.body, stageId);
    if (typeof callback === 'string') return refusal(400, callback);
    const id = deployIdIn(stageId);
    if (id === undefined) return unknownStage;
    // The key is outside of what is signed: a callback that is repeated under another key is known by the body.
    const digest = createHash('sha256').update(request.body).digest('hex');
    const changed = await store.change(id, (deploy) => decided(deploy, callback, { key, digest }));
    if (changed === undefined) return unknownStage;
    return changed.kind === 'none' ? changed.answer : taken(changed.deploy, stageId);
  }
}

function taken({ record }: StoredDeploy, stageId: string): ApiAnswer {
  const present = record.phases[record.current];
  const isNext = present !== undefined && present.stageId !== stageId;
  const body = { state: 'taken', ...(isNext && { advancedTo: present.percent }) };
  return { status: 200, body };
}

const unknownStage = refusal(404, 'No deploy waits for this stage');
const known: ApiAnswer = { status: 200, body: { state: 'already known' } };

interface Marks {
  readonly key: string;
  readonly digest: string;
}

function decided(
  deploy: StoredDeploy,
  callback: ParsedCallback,
  { key, digest }: Marks,
): Decided<ApiAnswer> {
  const { record, object } = deploy;
  const at = record.phases.findIndex(({ stageId }) => stageId === callback.stageId);
  const phase = record.phases[at];
  if (phase === undefined) return { kind: 'none', answer: unknownStage };
  if (phase.seen.includes(key) || phase.seen.includes(digest))
    return { kind: 'none', answer: known };
  if (at !== record.current) return { kind: 'none', answer: unknownStage };
  if (callback.uid !== object.metadata.uid || callback.percent !== phase.percent)
    return { kind: 'none', answer: refusal(422, 'The callback is about something else') };
  const noted = withResult(record, callback.result, [key, digest]);
  const isToGoOn =
    callback.result === 'success' && record.isAutomatic && at + 1 < record.phases.length;
  if (isToGoOn) return begun({ object, record: noted }, at + 1);
  return { kind: 'change', change: { record: noted, spec: {} } };
}

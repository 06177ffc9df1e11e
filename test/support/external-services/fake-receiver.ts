import { isJsonObject, type JsonObject, jsonIn } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import type { CallbackOutcome } from '#notification/callback/callback-answer.ts';
import type { CallbackCall } from '#notification/callback/callback-client.ts';
import { type CallFate, never } from './call-fate.ts';

/** A call that came. */
export interface ReceivedCall extends CallbackCall {
  readonly at: Instant;
  readonly told: JsonObject;
}

/** All that a callback says, in its order (E-4). */
const members =
  'schema stageId result phase reasonCode reason rolloutIdentity attempt percentRequested percentDeployed resource statefulset replicas buildMetadata startedAt finishedAt';

/** The receiver of callbacks in virtual time: answers 200, or as it is set, and notes what no receiver would have asked for. */
export class FakeReceiver {
  readonly calls: ReceivedCall[] = [];
  /** What was wrong with calls; a test that ends with any has failed. */
  readonly problems: string[] = [];
  /** The answers of the next calls, in order; a promise is answered late. */
  readonly answers: (CallbackOutcome | Promise<CallbackOutcome>)[] = [];
  /** Asked of each call before it leaves what becomes of it. */
  intercept: () => CallFate = () => undefined;
  readonly #now: () => Instant;

  constructor(now: () => Instant) {
    this.#now = now;
  }

  async send(call: CallbackCall): Promise<CallbackOutcome> {
    const fate = this.intercept();
    if (fate === 'not-sent') return never();
    const told = jsonIn(call.body);
    const received = { ...call, at: this.#now(), told: isJsonObject(told) ? told : {} };
    this.problems.push(...problemsOf(received, this.calls));
    this.calls.push(received);
    if (fate === 'not-answered') return never();
    return this.answers.shift() ?? answered(200);
  }
}

function problemsOf(call: ReceivedCall, before: readonly ReceivedCall[]): readonly string[] {
  const { url, told, body, idempotencyKey } = call;
  const stage = JSON.stringify(told['stageId']);
  const path = /\/v1\/stages\/([^/]*)\/callback$/.exec(new URL(url).pathname)?.[1];
  const wrong: Readonly<Record<string, boolean>> = {
    [`the body has other members: ${body}`]: Object.keys(told).join(' ') !== members,
    [`no stage id: ${stage}`]: !/^"[\w.:-]{1,128}"$/.test(stage),
    [`another stage than ${stage}: ${url}`]:
      path !== undefined && JSON.stringify(decodeURIComponent(path)) !== stage,
    [`no key: ${idempotencyKey}`]: !/^[\da-f]{64}$/.test(idempotencyKey),
    [`another body under the same key: ${body}`]: before.some((each) => isOther(each, call)),
  };
  return Object.keys(wrong).filter((problem) => wrong[problem]);
}

/** A rollout that begins again just as it was has the key that it had before. */
function isOther(before: ReceivedCall, { idempotencyKey, told, body }: ReceivedCall): boolean {
  const isSame = before.idempotencyKey === idempotencyKey;
  return isSame && before.told['startedAt'] === told['startedAt'] && before.body !== body;
}

/** Returns the answer `status` without words. */
export function answered(status: number): CallbackOutcome {
  return { kind: 'answered', status, excerpt: '' };
}

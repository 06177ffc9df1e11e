/** The eviction webhook of ZoneDisruptionBudgets, by the scenarios of zone-aware controllers, with what is corrected in them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { PodView } from '#statefulset/view.ts';
import { evictionRequest } from '#support/admission/admission-requests.ts';
import { type FakeAnswer, FakeTransport } from '#support/api-server/fake-transport.ts';
import type { BudgetBed } from '#support/budgets/budgeted-zones.ts';
import { type ZonedWeb, zoneBudgetBed } from '#support/budgets/zone-budgets.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { podView, unready } from '#support/objects/views.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { askBudgets } from '#zone-disruption-budget/eviction/ask-budgets.ts';
import type { ZoneBudgetVerdict } from '#zone-disruption-budget/eviction/eviction-verdict.ts';
import { ConcurrencyLimit } from '../review/concurrency-limit.ts';
import { startDeadline } from '../review/deadline.ts';
import type { AdmissionRequest, ReviewDecision } from '../review/review.ts';
import { sharedReads } from '../review/shared-reads.ts';
import { zonePodEviction } from './zone-pod-eviction.ts';

/** The webhook in front of budgets `web`, `second`, … over the set `web`, and of an API server. */
class Bed {
  readonly counted: string[] = [];
  readonly beds: BudgetBed[];
  readonly #pods = new Map<string, PodView>();
  /** Of each budget, whether it is a dry run. */
  dryRuns: readonly boolean[] = [];
  /** Answers in place of the budgets. */
  script: (() => Promise<readonly ZoneBudgetVerdict[]>) | undefined;
  /** What the API server says of a pod. @default as it is cached */
  stored: (() => FakeAnswer) | undefined;
  reads = 10;
  judgements = 10;
  readonly #clock = new FakeClock();
  readonly #transport = new FakeTransport(({ path }) =>
    Promise.resolve(this.stored?.() ?? this.#cached(/[^/?]*(?=\?|$)/.exec(path)?.[0] ?? '')),
  );

  constructor(given: readonly ZonedWeb[]) {
    this.beds = given.map((each) => zoneBudgetBed(each));
    for (const { snapshot } of this.beds)
      for (const { pods } of snapshot.sets ?? []) for (const pod of pods ?? []) this.add(pod);
  }

  add(pod: PodView): void {
    this.#pods.set(pod.name, pod);
  }

  get requests(): number {
    return this.#transport.requests.length;
  }

  reserved(): readonly string[] {
    return this.beds
      .flatMap((bed) => [...bed.ledger.reservations.values()])
      .map(({ slot }) => slot.pod);
  }

  async review(request: AdmissionRequest): Promise<ReviewDecision> {
    const clock = this.#clock;
    const transport = this.#transport;
    const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
    const webhook = zonePodEviction({
      budgets: {
        pod: (_, name) => this.#pods.get(name),
        judgeEviction: (pod, options) => this.#judge(pod, options),
      },
      client: sharedReads(client, clock),
      clock,
      log: silentLogger,
      limits: {
        reads: new ConcurrencyLimit(this.reads),
        judgements: new ConcurrencyLimit(this.judgements),
      },
      count: (status, reason) => this.counted.push(`${status} ${reason}`),
    });
    const deadline = startDeadline(clock, clock.monotonic(), seconds(5));
    try {
      return await webhook.judge(request, { deadline: () => deadline });
    } finally {
      deadline.release();
    }
  }

  #judge(
    pod: PodView,
    { isDryRun, isExempt = false }: { readonly isDryRun: boolean; readonly isExempt?: boolean },
  ): Promise<readonly ZoneBudgetVerdict[]> {
    if (this.script !== undefined) return this.script();
    const asked = this.beds.map((bed, index) => {
      const name = ['web', 'second'][index] ?? '';
      const budget = { ...bed.budget.ref, name };
      const isOwnDryRun = this.dryRuns[index] ?? false;
      return {
        name,
        isDryRun: isOwnDryRun,
        ask: (isTrial: boolean): Promise<ZoneBudgetVerdict> => {
          const request = { pod, asking: { by: 'eviction' }, isDryRun: isTrial, isExempt } as const;
          const [answer] = bed.decide({ requests: [request] }).answers;
          assert.ok(answer !== undefined);
          return Promise.resolve({ ...answer, budget, isDryRun: isOwnDryRun });
        },
      };
    });
    return askBudgets(asked, { isDryRun });
  }

  #cached(name: string): FakeAnswer {
    const pod = this.#pods.get(name);
    if (pod === undefined) return { status: 404, body: { kind: 'Status', code: 404 } };
    const { namespace, uid, phase, isTerminating } = pod;
    const deletionTimestamp = isTerminating ? '2026-01-31T12:00:00Z' : undefined;
    const status = pod.unready === undefined ? 'True' : 'False';
    return {
      body: {
        metadata: {
          name,
          namespace,
          uid,
          resourceVersion: '1',
          ...(deletionTimestamp !== undefined && { deletionTimestamp }),
        },
        status: { phase, conditions: [{ type: 'Ready', status }] },
      },
    };
  }
}

function ofWeb(name: string, rest: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return evictionRequest('', { name, ...rest });
}

const byKubectl = { object: { deleteOptions: { dryRun: '["All"]' } } } as const;
const readyPod: JsonObject = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };

/** What the budget `web` says, for scripts. */
const common = {
  budget: { kind: 'ZoneDisruptionBudget', namespace: 'test', name: 'web', uid: 'zdb' },
  isDryRun: false,
} as const;

interface Case {
  /** Budgets over the set. @default one of max 1 */
  readonly given?: readonly ZonedWeb[];
  readonly dryRuns?: readonly boolean[];
  readonly with?: (bed: Bed) => void;
  /** Pods that were just allowed. */
  readonly after?: readonly string[];
  /** @default web-0, in zone a */
  readonly pod?: string;
  readonly asked?: Partial<AdmissionRequest>;
  /** `allowed`, or code, reason of the cause and message. */
  readonly says: 'allowed' | readonly [code: number, cause: string, message: RegExp];
  readonly counts: string;
  /** Requests to the API server. @default none */
  readonly calls?: number;
  /** Pods that are given away then. @default none */
  readonly reserved?: readonly string[];
}

const exhausted: ZonedWeb = { pods: { 1: { phase: 'Pending' } } };
const inB =
  /^denying pod eviction for web-0: 1 pod not ready in b \(ZoneDisruptionBudget web\): web-1 is not ready; at most 0 may be$/;

const cases: Record<string, Case> = {
  'allows what a budget allows, and records it [zau 67]': {
    says: 'allowed',
    counts: 'allowed DisruptionAllowed',
    calls: 1,
    reserved: ['web-0'],
  },
  'denies while another zone is disturbed, with 429 so that drainers come back [zau 68]': {
    given: [exhausted],
    says: [429, 'BudgetExhausted', inB],
    counts: 'denied DeniedByZdb',
  },
  'denies a second zone after one was let go (W-08) [zau 88]': {
    after: ['web-1'],
    says: [
      429,
      'BudgetExhausted',
      /^denying pod eviction for web-0: 1 pod not ready in b \(ZoneDisruptionBudget web\): web-1 is given to an eviction, until .*; at most 0 may be$/,
    ],
    counts: 'denied DeniedByZdb',
    reserved: ['web-1'],
  },
  'denies with 403 where the budget lets nothing go at all': {
    given: [{ maxUnavailable: 0 }],
    says: [
      403,
      'NothingAllowed',
      /^denying pod eviction for web-0: max unavailable = 0 \(ZoneDisruptionBudget web\)$/,
    ],
    counts: 'denied DeniedByZdb',
  },
  'denies a pod whose zone nobody knows [zau 69, 79]': {
    given: [{ zoneOf: () => undefined }],
    says: [
      429,
      'ZoneUnknown',
      /^denying pod eviction for web-0: the zone of the pod is not known \(ZoneDisruptionBudget web\)$/,
    ],
    counts: 'denied DeniedByZdb',
  },
  'denies while a pod of something else is selected [zau 60]': {
    given: [
      { others: [podView({ name: 'x', labels: { name: 'web' }, controllerUid: 'deployed' })] },
    ],
    with: (bed) => bed.add(podView({ name: 'web-0' })),
    says: [
      429,
      'StatefulSetsUnreadable',
      /^denying pod eviction for web-0: a pod that the budget selects is not controlled by a StatefulSet that this operator sees, so the expected number of pods is unknown \(ZoneDisruptionBudget web\)$/,
    ],
    counts: 'denied DeniedByZdb',
  },
  'allows a Pending pod, whatever the budget says [zau 70]': {
    given: [{ pods: { 0: { phase: 'Pending' }, 1: { phase: 'Pending' } } }],
    says: 'allowed',
    counts: 'allowed canIgnoreZdb',
    reserved: ['web-0'],
    calls: 1,
  },
  'allows a Succeeded pod [zau 70]': {
    given: [{ pods: { 0: { phase: 'Succeeded' } } }],
    says: 'allowed',
    counts: 'allowed canIgnoreZdb',
    calls: 1,
  },
  'allows a Failed pod [zau 70]': {
    given: [{ pods: { 0: { phase: 'Failed' } } }],
    says: 'allowed',
    counts: 'allowed canIgnoreZdb',
    calls: 1,
  },
  'allows a terminating pod [zau 70]': {
    given: [{ pods: { 0: { isTerminating: true } } }],
    says: 'allowed',
    counts: 'allowed canIgnoreZdb',
    calls: 1,
  },
  'allows a pod that is not ready, though another zone is disturbed [zau 71]': {
    given: [
      { pods: { 0: { readySince: undefined, unready: unready() }, 1: { phase: 'Pending' } } },
    ],
    says: 'allowed',
    counts: 'allowed NotReadyPod',
    reserved: ['web-0'],
    calls: 1,
  },
  'denies a pod that was not ready, and is by now, until that is seen': {
    given: [{ pods: { 0: { readySince: undefined, unready: unready() } } }],
    with: (bed) => {
      const metadata = { name: 'web-0', namespace: 'test', uid: 'web-0-uid', resourceVersion: '2' };
      bed.stored = () => ({ body: { metadata, status: readyPod } });
    },
    says: [
      429,
      'PodNotSeen',
      /^denying pod eviction for web-0: the pod, as it is now, has not been seen/,
    ],
    counts: 'denied GetPodError',
    calls: 1,
  },
  'allows a dry run of the Eviction where the budget is exhausted [zau 72]': {
    given: [exhausted],
    asked: byKubectl,
    says: 'allowed',
    counts: 'allowed DryRun',
  },
  'allows a dry run of the Eviction, and records nothing [zau 72]': {
    asked: byKubectl,
    says: 'allowed',
    counts: 'allowed DisruptionAllowed',
  },
  'records nothing for a dry run of the request (W-16) [zau 73]': {
    asked: { isDryRun: true },
    says: 'allowed',
    counts: 'allowed DisruptionAllowed',
  },
  'allows whatever a budget says that is a dry run itself [zau 74]': {
    given: [exhausted],
    dryRuns: [true],
    says: 'allowed',
    counts: 'allowed DryRun',
  },
  'records nothing under a budget that is a dry run itself [zau 74]': {
    dryRuns: [true],
    says: 'allowed',
    counts: 'allowed DisruptionAllowed',
  },
  'allows a pod that no budget selects [zau 75]': {
    given: [],
    with: (bed) => bed.add(podView({ name: 'web-0' })),
    says: 'allowed',
    counts: 'allowed NoZdb',
  },
  'allows again what was let go, and counts nothing twice [zau 76]': {
    after: ['web-0'],
    says: 'allowed',
    counts: 'allowed AlreadyDisrupted',
    calls: 1,
    reserved: ['web-0'],
  },
  'denies a successor that the view of the budget does not have (W-11)': {
    given: [{ pods: { 1: { phase: 'Pending' } } }],
    with: (bed) => bed.add(podView({ name: 'web-0', uid: 'web-0-again' })),
    says: [
      429,
      'PodNotSeen',
      /^denying pod eviction for web-0: the pod is not among those that are seen/,
    ],
    counts: 'denied DeniedByZdb',
  },
  'denies where another pod of the name has come since (W-11)': {
    with: (bed) => {
      const metadata = { name: 'web-0', namespace: 'test', uid: 'again', resourceVersion: '2' };
      bed.stored = () => ({ body: { metadata, status: readyPod } });
    },
    says: [
      429,
      'PodNotSeen',
      /^denying pod eviction for web-0: the pod, as it is now, has not been seen/,
    ],
    counts: 'denied GetPodError',
    calls: 1,
    reserved: ['web-0'],
  },
  'reads nothing more where the Eviction demands the uid that was let go': {
    asked: { object: { deleteOptions: { preconditions: { uid: 'web-0-uid' } } } },
    says: 'allowed',
    counts: 'allowed DisruptionAllowed',
    reserved: ['web-0'],
  },
  'lets the API server say that there is no such pod [zau 80]': {
    pod: 'gone-0',
    says: 'allowed',
    counts: 'allowed GetPodError',
    calls: 1,
  },
  'denies with 429 a pod that cannot be read [zau 80]': {
    pod: 'gone-0',
    with: (bed) => {
      bed.stored = () => ({ status: 403, body: { kind: 'Status', message: 'no', code: 403 } });
    },
    says: [429, 'DependencyFailed', /^denying pod eviction for gone-0: the pod cannot be read: /],
    counts: 'denied GetPodError',
    calls: 1,
  },
  'allows a dry run of a pod that cannot be read [zau 80]': {
    pod: 'gone-0',
    asked: byKubectl,
    with: (bed) => {
      bed.stored = () => ({ status: 403, body: { kind: 'Status', message: 'no', code: 403 } });
    },
    says: 'allowed',
    counts: 'allowed DryRun',
    calls: 1,
  },
  'denies with 400 what is no Eviction [zau 81]': {
    asked: { kind: { group: '', version: 'v1', kind: 'Pod' } },
    says: [
      400,
      'InvalidRequest',
      /^the object is not an Eviction of policy\/v1 or policy\/v1beta1: got v1\/Pod$/,
    ],
    counts: 'denied GetDryRunOptionError',
  },
  'reads an Eviction of policy/v1beta1 [zau 81]': {
    asked: { kind: { group: 'policy', version: 'v1beta1', kind: 'Eviction' } },
    says: 'allowed',
    counts: 'allowed DisruptionAllowed',
    calls: 1,
    reserved: ['web-0'],
  },
  'allows another operation [zau 82]': {
    given: [exhausted],
    asked: { operation: 'UPDATE' },
    says: 'allowed',
    counts: 'allowed NoCreateRequest',
  },
  'allows another subresource [zau 82]': {
    given: [exhausted],
    asked: { subResource: 'binding' },
    says: 'allowed',
    counts: 'allowed NoEvictionRequest',
  },
  'denies where one of two budgets denies, and records under none (W-19) [zau 90]': {
    given: [{ maxUnavailable: 0 }, {}],
    says: [
      403,
      'NothingAllowed',
      /^denying pod eviction for web-0: max unavailable = 0 \(ZoneDisruptionBudget web\)$/,
    ],
    counts: 'denied DeniedByZdb',
  },
  'records under both of two budgets (W-19) [zau 90]': {
    given: [{}, {}],
    says: 'allowed',
    counts: 'allowed DisruptionAllowed',
    calls: 1,
    reserved: ['web-0', 'web-0'],
  },
  'denies with 403 where a budget has to be mended, whatever another says': {
    with: (bed) => {
      bed.script = () =>
        Promise.resolve([
          { ...common, kind: 'unclear', why: 'the ledger is not read yet', until: undefined },
          { ...common, kind: 'unreadable', why: 'spec.maxUnavailable must be an integer' },
        ]);
    },
    says: [
      403,
      'BudgetUnclear',
      /^denying pod eviction for web-0: the budget cannot be read \(ZoneDisruptionBudget web\): spec.maxUnavailable must be an integer$/,
    ],
    counts: 'denied DeniedByZdb',
  },
  'denies for now what cannot be determined [zau 77]': {
    with: (bed) => {
      bed.script = () =>
        Promise.resolve([
          { ...common, kind: 'unclear', why: 'the ledger is not read yet', until: undefined },
        ]);
    },
    says: [
      429,
      'NotDetermined',
      /^denying pod eviction for web-0: the ledger is not read yet \(ZoneDisruptionBudget web\)$/,
    ],
    counts: 'denied DeniedByZdb',
  },
  'denies with 429 where the budgets cannot be asked [zau 91]': {
    with: (bed) => {
      bed.script = () => Promise.reject(new Error('the server is gone'));
    },
    says: [
      429,
      'DependencyFailed',
      /^denying pod eviction for web-0: the budgets cannot be asked: the server is gone$/,
    ],
    counts: 'denied GetZdbError',
  },
  'allows a dry run where the budgets cannot be asked [zau 91]': {
    asked: byKubectl,
    with: (bed) => {
      bed.script = () => Promise.reject(new Error('the server is gone'));
    },
    says: 'allowed',
    counts: 'allowed DryRun',
  },
  'denies with 429 while too many are judged (D-30)': {
    with: (bed) => {
      bed.judgements = 0;
    },
    says: [
      429,
      'Overloaded',
      /^denying pod eviction for web-0: it is not allowed because too many/,
    ],
    counts: 'denied GetZdbError',
  },
  'denies with 429 while too many are read (D-30)': {
    pod: 'gone-0',
    with: (bed) => {
      bed.reads = 0;
    },
    says: [
      429,
      'Overloaded',
      /^denying pod eviction for gone-0: it is not allowed because too many/,
    ],
    counts: 'denied GetZdbError',
  },
};

/** A bed as `one` has it. */
function bedOf(one: Case): Bed {
  const bed = new Bed(one.given ?? [{}]);
  bed.dryRuns = one.dryRuns ?? [];
  for (const name of one.after ?? []) {
    const pod = { name, uid: `${name}-uid`, controllerUid: 'web-uid' };
    for (const each of bed.beds) each.decide({ requests: [{ pod, asking: { by: 'eviction' } }] });
  }
  one.with?.(bed);
  return bed;
}

function assertSays(decision: ReviewDecision, says: Case['says']): void {
  if (says === 'allowed') {
    assert.deepEqual(decision, { isAllowed: true });
    return;
  }
  const [code, cause, message] = says;
  assert.ok(!decision.isAllowed);
  assert.match(decision.message, message);
  const causes = decision.causes?.map(({ reason }) => reason);
  assert.deepEqual([decision.code, causes], [code, [cause]]);
}

for (const [fact, one] of Object.entries(cases)) {
  test(`zonePodEviction() ${fact}`, async () => {
    const bed = bedOf(one);
    assertSays(await bed.review(ofWeb(one.pod ?? 'web-0', one.asked)), one.says);
    assert.deepEqual(bed.counted, [one.counts]);
    assert.deepEqual(bed.reserved(), one.reserved ?? []);
    assert.equal(bed.requests, one.calls ?? 0);
  });
}

test('zonePodEviction() lets two of ten go at once of a zone that may lose two [zau 87]', async () => {
  const bed = new Bed([{ replicas: 30, maxUnavailable: 2 }]);
  const names = Array.from({ length: 10 }, (_, at) => `web-${at * 3}`);
  const decisions = await Promise.all(names.map((name) => bed.review(ofWeb(name))));
  assert.equal(decisions.filter(({ isAllowed }) => isAllowed).length, 2);
  assert.equal(bed.reserved().length, 2);
});

test('zonePodEviction() lets one of two zones go at once (W-08) [zau 88]', async () => {
  const bed = new Bed([{ maxUnavailable: 3 }]);
  const decisions = await Promise.all(['web-0', 'web-1'].map((name) => bed.review(ofWeb(name))));
  assert.deepEqual(
    decisions.map(({ isAllowed }) => isAllowed),
    [true, false],
  );
});

/** The parts of a check together, as a controller puts them together: stored state, questions, answers and waits. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { instant, seconds } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { madeCheck } from '#support/rollouts/check-play.ts';
import type { QuestionKey } from '../answer.ts';
import { type CheckState, stateFor } from '../check-state.ts';
import { OpenQuestions } from '../open-questions.ts';
import { countAnswer, planCheck } from '../plan-check.ts';
import { SeenStates } from '../seen-states.ts';
import { askQueries, type GateQuery, questionId } from './ask-queries.ts';
import type { Prometheus, PrometheusQuestion } from './prometheus.ts';
import type { QueryReading } from './reading.ts';

const queries: readonly GateQuery<PrometheusQuestion>[] = [
  { name: 'errors', candidate: { url: 'http://h', expr: 'errors < 5' }, rule: {} },
];
const data: QueryReading = { kind: 'vector', samples: [{ value: 1, text: '1' }], warnings: [] };
const nothing: QueryReading = { kind: 'no-data', warnings: [] };
const outage: QueryReading = { kind: 'error', reason: 'Refused', message: 'it answers 500' };

/** What is stored, the server that is asked, and the process that looks after both; that may be replaced. */
class Gate {
  readonly clock = new FakeClock(1_700_000_000_000);
  readonly start = this.clock.now();
  /** When the server was asked, in seconds from the start. */
  readonly askedAt: number[] = [];
  revision = 'B';
  stored: CheckState | undefined;
  /** What the server answers, and after how long. */
  readings: QueryReading[] = [];
  latency = seconds(0);
  /** How many of the next writes are refused. */
  refusedWrites = 0;
  openedAt: number | undefined;
  readonly #check = madeCheck();
  #process = this.#newProcess();

  /** Lets a new process go on. */
  restart(): void {
    void this.#process.questions.close();
    this.#process = this.#newProcess();
    this.pass();
  }

  /** One look: counts what was answered, stores it, and does what comes next. */
  pass(): void {
    const { seen, questions } = this.#process;
    const state = stateFor(this.revision, this.stored, this.clock.now());
    const key: QuestionKey = { subject: state.subject, id: questionId(queries) };
    const view = {
      state,
      questionId: key.id,
      now: this.clock.now(),
      steady: this.clock.monotonic(),
      known: seen.see('web', state),
      isAsked: questions.isAsked('web', key),
    };
    const answer = questions.answerFor('web');
    if (answer !== undefined) {
      const counted = countAnswer(this.#check, view, answer);
      if (counted.kind === 'ignored' || this.#store(counted.state)) questions.drop('web');
      this.#soon(counted.kind === 'ignored' || counted.state === this.stored ? 0 : 1_000);
      return;
    }
    if (this.stored !== state && this.#store(state)) {
      this.#soon(0);
      return;
    }
    this.#act(planCheck(this.#check, view), key);
  }

  #act(plan: ReturnType<typeof planCheck>, key: QuestionKey): void {
    if (plan.kind === 'passed') this.openedAt ??= this.#elapsed();
    if (plan.kind === 'wait') this.#soon(plan.remaining);
    if (plan.kind !== 'ask') return;
    this.#process.questions.ask('web', key, (signal, sent) =>
      askQueries(this.#server(), queries, { signal, sent }),
    );
  }

  #server(): Prometheus {
    return {
      read: async (_, { sent }) => {
        sent?.();
        this.askedAt.push(this.#elapsed());
        await this.clock.sleep(this.latency);
        return this.readings.shift() ?? data;
      },
      close: () => Promise.resolve(),
    };
  }

  #store(state: CheckState): boolean {
    if (this.refusedWrites > 0) {
      this.refusedWrites -= 1;
      return false;
    }
    this.stored = state;
    return true;
  }

  #soon(delay: number): void {
    const process = this.#process;
    this.clock.timer(seconds(delay / 1_000), () => {
      if (process === this.#process) this.pass();
    });
  }

  #elapsed(): number {
    return (this.clock.now() - this.start) / 1_000;
  }

  #newProcess(): { readonly seen: SeenStates; readonly questions: OpenQuestions } {
    const onAnswer = (): void => {
      if (process.questions === this.#process.questions) this.pass();
    };
    const process = {
      seen: new SeenStates(this.clock),
      questions: new OpenQuestions({ clock: this.clock, onAnswer }),
    };
    return process;
  }
}

/** Rounds away the millisecond that a wait is longer than it must be. */
function whole(times: readonly (number | undefined)[]): readonly (number | undefined)[] {
  return times.map((each) => (each === undefined ? undefined : Math.floor(each)));
}

describe('a gate', () => {
  test('a gate opens after the delay and one period, no later, when two answers pass', async () => {
    const gate = new Gate();
    gate.pass();
    await gate.clock.advance(seconds(60));
    assert.deepEqual(whole(gate.askedAt), [10, 15]);
    assert.deepEqual(whole([gate.openedAt]), [15]);
  });

  test('a gate stays closed while nothing is found, and opens when something is', async () => {
    const gate = new Gate();
    gate.readings = [data, nothing, data, data];
    gate.pass();
    await gate.clock.advance(seconds(60));
    assert.deepEqual(whole(gate.askedAt), [10, 15, 20, 25]);
    assert.deepEqual(whole([gate.openedAt]), [25]);
    assert.equal(gate.stored?.totalFailures, 1);
  });

  test('a gate goes on after an outage with what it had counted before', async () => {
    const gate = new Gate();
    gate.readings = [data, outage, outage, data];
    gate.pass();
    await gate.clock.advance(seconds(120));
    assert.deepEqual(whole(gate.askedAt), [10, 15, 45, 75]);
    assert.deepEqual(whole([gate.openedAt]), [75]);
  });

  test('a gate counts an answer once whose count could not be stored at first', async () => {
    const gate = new Gate();
    gate.pass();
    await gate.clock.advance(seconds(9));
    gate.refusedWrites = 2;
    await gate.clock.advance(seconds(2));
    assert.equal(gate.stored?.passes, 0);
    await gate.clock.advance(seconds(1.5));
    assert.equal(gate.stored?.passes, 1);
    await gate.clock.advance(seconds(60));
    assert.equal(gate.askedAt.length, 2);
    assert.equal(gate.stored?.passes, 2);
  });

  test('a gate does not count what was asked of the revision before', async () => {
    const gate = new Gate();
    gate.latency = seconds(3);
    gate.pass();
    await gate.clock.advance(seconds(16));
    assert.equal(gate.stored?.passes, 1);
    await gate.clock.advance(seconds(2.5));
    gate.revision = 'C';
    gate.pass();
    const began = gate.clock.now();
    await gate.clock.advance(seconds(9));
    assert.deepEqual([gate.stored?.passes, gate.stored?.began], [0, began]);
    await gate.clock.advance(seconds(60));
    assert.ok(gate.openedAt !== undefined && gate.openedAt > 10 + 3 + (began - gate.start) / 1_000);
  });

  test('a gate goes on in another process: no delay again, no answer twice, none of the former', async () => {
    const gate = new Gate();
    gate.latency = seconds(3);
    gate.pass();
    await gate.clock.advance(seconds(14));
    assert.equal(gate.stored?.passes, 1);
    await gate.clock.advance(seconds(5));
    // The second question is under way, and nothing waits for its answer any more.
    gate.restart();
    await gate.clock.advance(seconds(60));
    assert.deepEqual(whole(gate.askedAt), [10, 18, 19]);
    assert.deepEqual(whole([gate.openedAt]), [22]);
    assert.equal(gate.stored?.passes, 2);
  });

  test('a gate waits no longer than it has watched when the wall clock is set back', async () => {
    const gate = new Gate();
    gate.pass();
    await gate.clock.advance(seconds(3));
    gate.clock.setWallClock(-3_600_000);
    gate.pass();
    await gate.clock.advance(seconds(60));
    assert.equal(gate.stored?.passes, 2);
    assert.equal(gate.stored?.began, instant(gate.start));
  });
});

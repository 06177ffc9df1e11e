import type { Clock, Timer } from '#base/clock.ts';
import { type Millis, millis } from '#base/units.ts';
import { type Fact, factLine } from '../observer/facts.ts';
import type { Stage } from '../rollout-group/stage.ts';
import type { Summary } from '../rollout-group/summary.ts';
import { type ScreenState, screenLines } from './screen.ts';
import { LivePicture } from './terminal.ts';

/** How the demo shows what happens. */
export interface Display {
  fact(fact: Fact): void;
  phase(phase: string, startedAt: Millis | undefined): void;
  /** Shows a group from now on. */
  show(stage: Stage): void;
  /** Shows that a run has ended; the next one begins with a phase. */
  summary(summary: Summary): void;
  /** Shows that a run has failed. */
  failure(sentence: string): void;
  close(): void;
}

/** One line a fact; for a pipe, a file, or a job of a CI system. */
export class LineDisplay implements Display {
  fact(fact: Fact): void {
    process.stdout.write(`${factLine(fact)}\n`);
  }

  phase(phase: string): void {
    process.stdout.write(`${phase}\n`);
  }

  show({ url, kubeconfig }: Stage): void {
    process.stdout.write(`cluster at ${url}, kubeconfig ${kubeconfig}\n`);
  }

  summary({ lines }: Summary): void {
    process.stdout.write(`\n${lines.join('\n')}\n`);
  }

  failure(sentence: string): void {
    process.stderr.write(`${sentence}\n`);
  }

  close(): void {
    // Nothing is held.
  }
}

const frameTime = millis(100);
/** More than any screen shows. */
const keptFacts = 50;

/** A picture that is redrawn at most ten times a second. */
export class PictureDisplay implements Display {
  readonly #clock: Clock;
  readonly #hints: (kubeconfig: string) => readonly string[];
  readonly #picture = new LivePicture(process.stdout, hasColours());
  readonly #facts: Fact[] = [];
  readonly #restore = (): void => this.#picture.close();
  #timer: Timer;
  #stage: Stage | undefined;
  #phase = 'starting a cluster';
  #startedAt: Millis | undefined;
  #summary: readonly string[] = [];
  #isOver = false;

  /** @param hints the lines below the picture, for the path of the kubeconfig */
  constructor(clock: Clock, hints: (kubeconfig: string) => readonly string[]) {
    this.#clock = clock;
    this.#hints = hints;
    this.#timer = this.#tick();
    process.on('exit', this.#restore);
  }

  fact(fact: Fact): void {
    this.#facts.push(fact);
    if (this.#facts.length > keptFacts) this.#facts.shift();
  }

  phase(phase: string, startedAt: Millis | undefined): void {
    this.#phase = phase;
    this.#startedAt = startedAt;
    this.#summary = [];
  }

  show(stage: Stage): void {
    this.#stage = stage;
  }

  summary({ lines }: Summary): void {
    this.#summary = lines;
    this.#draw();
  }

  failure(sentence: string): void {
    this.#summary = [sentence];
    this.#draw();
  }

  /** Leaves the picture, with what the last run came to as its last lines. */
  close(): void {
    this.#timer.cancel();
    this.#isOver = true;
    this.#draw();
    this.#picture.close();
    process.off('exit', this.#restore);
  }

  #tick(): Timer {
    const frame = (): void => {
      this.#draw();
      this.#timer = this.#tick();
    };
    return this.#clock.timer(frameTime, frame, { background: true });
  }

  #draw(): void {
    const stage = this.#stage;
    const state = {
      phase: this.#phase,
      ...stateOf(stage, this.#startedAt),
      summary: this.#summary,
      facts: this.#isOver ? [] : this.#facts,
      hints: stage === undefined || this.#isOver ? [] : this.#hints(stage.kubeconfig),
    };
    this.#picture.draw(screenLines(state, this.#picture.size));
  }
}

/** Returns what `stage` has to show, `startedAt` being when what is simulated began. */
function stateOf(
  stage: Stage | undefined,
  startedAt: Millis | undefined,
): Pick<ScreenState, 'clock' | 'zones' | 'because' | 'next' | 'panel'> {
  if (stage === undefined) return { clock: undefined, zones: [], because: undefined };
  const { scene, observer, narrator, elapsed, physicalLimit } = stage;
  const clock =
    startedAt === undefined
      ? undefined
      : {
          elapsed: millis(elapsed - startedAt),
          limit: scene.isPaced ? physicalLimit : undefined,
        };
  const { zones } = observer;
  return {
    clock,
    zones,
    because: narrator.reason,
    next: scene.next?.(zones),
    panel: scene.panel?.(),
  };
}

/** Reports whether the terminal shows colours and a user did not ask for none (NO_COLOR). */
function hasColours(): boolean {
  const isRefused = (process.env['NO_COLOR'] ?? '') !== '';
  return !isRefused && process.stdout.hasColors();
}

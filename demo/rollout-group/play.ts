import type { Clock } from '#base/clock.ts';
import { type Millis, millis } from '#base/units.ts';
import { nextImage, withTag } from '../cluster/manifest.ts';
import type { Scenario } from '../demo-options.ts';
import { isRolled, isSettled } from '../observer/zone-view.ts';
import { playHandOver } from './hand-over.ts';
import { playHiccup } from './hiccup.ts';
import { patienceFor, type Stage } from './stage.ts';
import { type Summary, summarize } from './summary.ts';

/** Called with what is being played. */
export type OnPhase = (phase: string, startedAt: Millis | undefined) => void;

/** Ports of a {@link Play}. */
export interface PlayOptions {
  readonly clock: Clock;
  readonly stage: Stage;
  readonly speed: number;
  readonly onPhase: OnPhase;
  readonly signal: AbortSignal;
}

/** How long a broken image is left alone, so that one can see the operator hold; at speed 1. */
const brokenFor = 3_000;

/** Plays scenarios on a stage, one at a time; remembers which image is the good one. */
export class Play {
  readonly #options: PlayOptions;
  #image: string;

  constructor(options: PlayOptions) {
    this.#options = options;
    this.#image = options.stage.firstImage;
  }

  /** Waits until the group is installed, and the operator knows. */
  async install(): Promise<void> {
    const { stage } = this.#options;
    await stage.startOperators((what, test) => this.#until(what, test));
    await this.#until('the operator has looked at the group', () => stage.isIdle);
  }

  /** Plays `scenario` to its end. @throws {Error} when it does not come to one */
  async run(scenario: Scenario): Promise<Summary> {
    const { stage, onPhase } = this.#options;
    stage.observer.proof.reset();
    const limit = stage.physicalLimit;
    const brokenImage = scenario === 'broken-image' ? await this.#breakImage() : undefined;
    this.#image = nextImage(this.#image);
    const startedAt = stage.elapsed;
    const what = brokenImage === undefined ? 'rolling out' : 'rolling out the fix';
    onPhase(`${what} ${this.#image}`, startedAt);
    await stage.changeImage(this.#image);
    const until = (why: string, test: () => boolean): Promise<Millis> => this.#until(why, test);
    const hiccup = scenario === 'hiccup' ? await playHiccup(this.#options, until) : undefined;
    const handOver =
      scenario === 'hand-over' ? await playHandOver(this.#options, until) : undefined;
    const rolledAt = await this.#until('the rollout is done', () =>
      stage.observer.areAll(isRolled),
    );
    await this.#until('every status says so', () => stage.observer.areAll(isSettled));
    onPhase(`${this.#image} runs everywhere`, undefined);
    const took = millis(rolledAt - startedAt);
    const { proof } = stage.observer;
    return summarize({ took, limit, proof, brokenImage, hiccup, handOver });
  }

  async #breakImage(): Promise<string> {
    const { stage, clock, speed, onPhase, signal } = this.#options;
    const image = withTag(this.#image, 'broken');
    onPhase(`rolling out ${image}, which cannot be pulled`, stage.elapsed);
    await stage.changeImage(image);
    await this.#until('the broken image shows', () =>
      stage.observer.zones.some(
        ({ cells, limit }) =>
          cells.filter(({ state }) => state === 'broken').length >= Math.min(limit, cells.length),
      ),
    );
    await clock.sleep(millis(brokenFor / speed), { signal });
    return image;
  }

  #until(what: string, test: () => boolean): Promise<Millis> {
    const { stage, signal } = this.#options;
    const patience = patienceFor(stage.physicalLimit);
    return stage.until(what, test, { patience, signal });
  }
}

/**
 * The demo: the real operator rolls sets of an embedded cluster, on a screen or in lines. A play of `demo/` makes things
 * happen; what is shown, and whether promises were kept, is counted from the commits of the cluster alone.
 */
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { createLogger, unbuffered } from '#telemetry/log/line-logger.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { demoNamespace } from './cluster/demo-namespace.ts';
import {
  type DemoOptions,
  type LinesDemoOptions,
  parseDemoArguments,
  type Scenario,
} from './demo-options.ts';
import { type Display, LineDisplay, PictureDisplay } from './display/display.ts';
import { type Key, Keyboard } from './display/keyboard.ts';
import { type Interruption, listenForInterruption } from './interruption.ts';
import { playPhased } from './phased-rollout/phased-demo.ts';
import { keysOf, openShow, type Show, scenarioAfter } from './show.ts';
import { playPercent } from './statefulset-rollout/percent-demo.ts';
import { playExponential } from './zone-aware-update/exponential-demo.ts';

/**
 * Plays a rollout: an embedded cluster, the manifests of `examples/`, the real operator.
 *
 * @param args the arguments after `demo`
 * @returns the exit code: 0 when every promise was kept or a person ended it, 1 when not, 2 for bad arguments,
 *   128 and the signal's number when a signal ended a run that would have ended by itself
 */
export async function demoCommand(args: readonly string[]): Promise<number> {
  const parsed = parseDemoArguments(args);
  if (parsed.kind === 'exit') {
    (parsed.code === 0 ? process.stdout : process.stderr).write(parsed.text);
    return parsed.code;
  }
  const interruption = listenForInterruption();
  try {
    const { options } = parsed;
    return isInLines(options)
      ? await inLines(options, interruption)
      : await new Demo(options, interruption).run();
  } finally {
    interruption.release();
  }
}

function isInLines(options: DemoOptions | LinesDemoOptions): options is LinesDemoOptions {
  return ['phased', 'exponential', 'percent'].includes(options.scenario);
}

/** Plays it in lines: there is one set, and nothing to compare. */
async function inLines(options: LinesDemoOptions, interruption: Interruption): Promise<number> {
  const clock = systemClock();
  const sink = unbuffered((line) => process.stderr.write(line));
  const log = createLogger({ format: 'logfmt', level: 'error', clock, sink });
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  try {
    const ports = { clock, log, say };
    const { signal } = interruption;
    switch (options.scenario) {
      case 'phased':
        return await playPhased(options, ports, signal);
      case 'exponential':
        return await playExponential(options, ports, signal);
      default:
        return await playPercent(options, ports, signal);
    }
  } catch (error) {
    if (interruption.signal.aborted) return interruption.code ?? 1;
    process.stderr.write(`${errorOf(error).message}\n`);
    return 1;
  }
}

/** Log lines that are shown when a run fails. */
const keptLines = 10;

class Demo {
  readonly #options: DemoOptions;
  readonly #interruption: Interruption;
  readonly #clock: Clock = systemClock();
  readonly #warnings: string[] = [];
  readonly #isInteractive: boolean;

  constructor(options: DemoOptions, interruption: Interruption) {
    this.#options = options;
    this.#interruption = interruption;
    this.#isInteractive = !options.isOnce && process.stdout.isTTY && process.stdin.isTTY;
  }

  async run(): Promise<number> {
    const display = this.#display();
    try {
      return await this.#runOn(display);
    } catch (error) {
      if (this.#interruption.signal.aborted) return this.#interruptedCode();
      display.failure(errorOf(error).message);
      for (const line of this.#warnings) process.stderr.write(`${line}\n`);
      return 1;
    } finally {
      display.close();
    }
  }

  async #runOn(display: Display): Promise<number> {
    const { signal } = this.#interruption;
    const folder = exampleOf(this.#options.scenario);
    display.phase(`installing the three zones of examples/${folder}`, undefined);
    const show = await openShow({
      clock: this.#clock,
      log: this.#log(),
      options: this.#options,
      onFact: (fact) => display.fact(fact),
      onPhase: (phase, startedAt) => display.phase(phase, startedAt),
      signal,
    });
    try {
      display.show(show.stage);
      await show.install();
      const code = this.#isInteractive
        ? await this.#interact(show, display)
        : await this.#once(show, display);
      return code;
    } finally {
      await show.close();
    }
  }

  async #once(show: Show, display: Display): Promise<number> {
    const summary = await show.run(this.#options.scenario);
    display.summary(summary);
    return summary.isKept ? 0 : 1;
  }

  /** Plays what the keys ask for, until one asks to quit. */
  async #interact(show: Show, display: Display): Promise<number> {
    const { signal } = this.#interruption;
    let next: ((key: Key) => void) | undefined;
    const keyboard = new Keyboard((key) => {
      if (key === 'quit') this.#interruption.interrupt(0);
      else next?.(key);
    });
    try {
      let scenario: Scenario = this.#options.scenario;
      while (!signal.aborted) {
        await this.#tryOnce(show, display, scenario);
        const key = await new Promise<Key>((resolve) => {
          next = resolve;
          if (signal.aborted) resolve('quit');
          else signal.addEventListener('abort', () => resolve('quit'), { once: true });
        });
        scenario = scenarioAfter(scenario, key);
      }
      return this.#interruptedCode();
    } finally {
      keyboard.close();
    }
  }

  /** Plays once; a run that fails is shown, and a further one may be tried. */
  async #tryOnce(show: Show, display: Display, scenario: Scenario): Promise<void> {
    try {
      display.summary(await show.run(scenario));
    } catch (error) {
      if (!this.#interruption.signal.aborted) display.failure(errorOf(error).message);
    }
  }

  /** Ending an interactive demo is no failure. */
  #interruptedCode(): number {
    return this.#isInteractive ? 0 : (this.#interruption.code ?? 1);
  }

  #display(): Display {
    if (!process.stdout.isTTY) return new LineDisplay();
    const keys = this.#isInteractive ? ['', keysOf(this.#options.scenario)] : [];
    return new PictureDisplay(this.#clock, (kubeconfig) => [
      'The cluster is real enough for kubectl; in a second terminal:',
      ...commandsToTry(kubeconfig).map((command) => `  ${command}`),
      ...keys,
    ]);
  }

  #log(): Logger {
    const sink = (line: string): void => {
      this.#warnings.push(line);
      if (this.#warnings.length > keptLines) this.#warnings.shift();
    };
    return createLogger({
      format: 'logfmt',
      level: 'warn',
      clock: this.#clock,
      sink: unbuffered(sink),
    });
  }
}

/** Returns the folder of `examples/` that `scenario` plays on. */
function exampleOf(scenario: Scenario): string {
  switch (scenario) {
    case 'no-downscale':
      return 'ingester-webhooks';
    case 'delayed-downscale':
      return 'ingester-delayed-downscale';
    case 'drain':
      return 'ingester-disruption-budget';
    default:
      return 'ingester';
  }
}

function commandsToTry(kubeconfig: string): readonly string[] {
  return [
    `export KUBECONFIG=${kubeconfig}`,
    `kubectl -n ${demoNamespace} get pods -w`,
    `kubectl -n ${demoNamespace} delete pod ingester-zone-b-0`,
  ];
}

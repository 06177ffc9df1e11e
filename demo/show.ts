import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { AnsweringPods, type PodCall } from './cluster/answering-pods.ts';
import type { DemoOptions, Scenario } from './demo-options.ts';
import type { Key } from './display/keyboard.ts';
import { DownscalePlay } from './downscale/downscale-play.ts';
import { DownscaleScene, downscaleTimesAt } from './downscale/downscale-scene.ts';
import { WebhookPlay } from './downscale/webhook-play.ts';
import { WebhookScene } from './downscale/webhook-scene.ts';
import { DrainPlay } from './drain/drain-play.ts';
import { DrainScene } from './drain/drain-scene.ts';
import type { Fact } from './observer/facts.ts';
import { type OnPhase, Play } from './rollout-group/play.ts';
import { handOverScene, rolloutScene } from './rollout-group/scene.ts';
import { Stage } from './rollout-group/stage.ts';
import type { Summary } from './rollout-group/summary.ts';

/** Ports of a {@link Show}. */
export interface ShowOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly options: DemoOptions;
  readonly onFact: (fact: Fact) => void;
  readonly onPhase: OnPhase;
  readonly signal: AbortSignal;
}

/** A stage with its scenarios. */
export interface Show {
  readonly stage: Stage;
  /** Waits until the group is installed. */
  install(): Promise<void>;
  /** Plays `scenario`, which is one of those that the stage is made for. */
  run(scenario: Scenario): Promise<Summary>;
  /** Leaves nothing behind. */
  close(): Promise<void>;
}

/** Sets the stage for the scenario of `options`. */
export function openShow(show: ShowOptions): Promise<Show> {
  switch (show.options.scenario) {
    case 'no-downscale':
      return openWebhooks(show);
    case 'delayed-downscale':
      return openDownscale(show);
    case 'drain':
      return openDrain(show);
    default:
      return openRollout(show);
  }
}

/** Returns what is simulated after `key`, in a demo of `scenario`. */
export function scenarioAfter(scenario: Scenario, key: Key): Scenario {
  if (isOfOneKind(scenario)) return scenario;
  return key === 'break' ? 'broken-image' : 'rollout';
}

/** Returns what the keys do in a demo of `scenario`. */
export function keysOf(scenario: Scenario): string {
  if (scenario === 'hand-over' || scenario === 'drain')
    return 'Enter: once more, with the next version    q: quit';
  return isOfOneKind(scenario)
    ? 'Enter: all pods back, and down again    q: quit'
    : 'Enter: roll the next version    b: a broken image    q: quit';
}

/** Reports whether nothing else can be played on its stage. */
function isOfOneKind(scenario: Scenario): boolean {
  return ['delayed-downscale', 'no-downscale', 'hand-over', 'drain'].includes(scenario);
}

async function openRollout({ options, ...ports }: ShowOptions): Promise<Show> {
  const { speed } = options;
  const scene = options.scenario === 'hand-over' ? handOverScene(options) : rolloutScene(options);
  const stage = await Stage.open({ ...ports, scene, speed });
  const play = new Play({ ...ports, stage, speed });
  return {
    stage,
    install: () => play.install(),
    run: (scenario) => play.run(scenario),
    close: () => stage.close(),
  };
}

async function openDrain({ options, ...ports }: ShowOptions): Promise<Show> {
  const scene = new DrainScene(options);
  const stage = await Stage.open({ ...ports, scene, speed: options.speed });
  const play = new DrainPlay({ ...ports, stage, scene });
  return {
    stage,
    install: () => play.install(),
    run: () => play.run(),
    close: () => stage.close(),
  };
}

async function openDownscale({ options, ...ports }: ShowOptions): Promise<Show> {
  const { speed } = options;
  return openAnswered(ports.clock, async (pods, proxy) => {
    const times = downscaleTimesAt(speed);
    const scene = new DownscaleScene({ proxy, times, pods: options.pods });
    const stage = await Stage.open({ ...ports, scene, speed });
    return { stage, play: new DownscalePlay({ ...ports, stage, scene, pods }) };
  });
}

async function openWebhooks({ options, ...ports }: ShowOptions): Promise<Show> {
  const { speed } = options;
  return openAnswered(ports.clock, async (pods, proxy) => {
    const scene = new WebhookScene({ proxy, speed, pods: options.pods });
    const stage = await Stage.open({ ...ports, scene, speed });
    return { stage, play: new WebhookPlay({ ...ports, stage, scene, pods }) };
  });
}

/** What is simulated where pods answer calls. */
interface AnsweredPlay {
  called(call: PodCall): void;
  install(): Promise<void>;
  run(): Promise<Summary>;
}

async function openAnswered(
  clock: Clock,
  open: (
    pods: AnsweringPods,
    proxy: string,
  ) => Promise<{ readonly stage: Stage; readonly play: AnsweredPlay }>,
): Promise<Show> {
  let told: AnsweredPlay | undefined;
  const pods = new AnsweringPods({ clock, onCall: (call) => told?.called(call) });
  try {
    const { stage, play } = await open(pods, await pods.listen());
    told = play;
    return {
      stage,
      install: () => play.install(),
      run: () => play.run(),
      close: async () => {
        await stage.close();
        await pods.close();
      },
    };
  } catch (error) {
    await pods.close();
    throw error;
  }
}

/** The tools for `bedrock.yaml` against the embedded cluster with the operator running, in virtual time. */

import { numberAt, textAt } from '#cluster/json/read-json.ts';
import type { DrivePorts } from '#command/bedrock/drive-ports.ts';
import { bedrockCommand } from '#command/bedrock.ts';
import { nothingToDrive } from '#support/external-services/drive-ports.ts';
import { PercentStage } from '../statefulset-rollout/percent-stage.ts';

/** `kv-dev` in the namespace `demo`: two pods, in phases of 1, 50 and 100 percent. */
export const bedrockFile = `images:
  kv: {dockerfile: Dockerfile}
services:
  kv:
    kind: StatefulSet
    disruption_policy: {max_unavailable: 50%}
    containers: [{image: kv}]
    stages:
      dev:
        namespace: demo
        strategy: OnDelete
        orchestration: {phases: [1, 50, 100]}
        replicas: 2
`;

/** What came of a command. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const rollouts = 'statefulsetrollouts.bedrock.operator.slack.com';

/** See the head of the file. */
export class BedrockStage {
  readonly stage: PercentStage;
  /** What is written to standard output until now, of all commands. */
  out = '';

  private constructor(stage: PercentStage) {
    this.stage = stage;
  }

  static async open(): Promise<BedrockStage> {
    const stage = await PercentStage.open(2);
    stage.start();
    return new BedrockStage(stage);
  }

  /** Runs a command of `bedrock` while time passes. */
  async run(args: readonly string[], changed: Partial<DrivePorts> = {}): Promise<Ran> {
    const { client, clock } = this.stage.env;
    const said = { out: '', err: '' };
    const work = bedrockCommand(args, {
      ...nothingToDrive(),
      clock,
      openCluster: () =>
        Promise.resolve({ client, namespace: 'demo', close: () => Promise.resolve() }),
      readInput: () => Promise.resolve(bedrockFile),
      writeFiles: () => Promise.reject(new Error('nothing is written')),
      randomIdentity: () => 'k3Jd82hsQmZpL0aXw9Ty',
      out: (text) => {
        said.out += text;
        this.out += text;
      },
      err: (text) => void (said.err += text),
      ...changed,
    });
    const code = await this.stage.finish(work);
    return { code, ...said };
  }

  /** `bedrock run` of `kv-dev` with the image `kv:<tag>`. */
  deploy(tag: string, more: readonly string[] = [], changed?: Partial<DrivePorts>): Promise<Ran> {
    const usual = ['run', '-f', 'f', '--service', 'kv', '--stage', 'dev', '--allow-tags'];
    return this.run([...usual, '--image', `kv=kv:${tag}`, ...more], changed);
  }

  /** Percentages that the resource has had, each with the number of pods on it when its rollout had ended. */
  targets(): readonly (readonly [percent: number, target: number])[] {
    const { commits } = this.stage.env.cluster.eventLog;
    const ended = commits.flatMap(({ resource, after }) => {
      const isEnded = textAt(after, 'status', 'phase') === 'RolloutDone';
      const isSeen =
        numberAt(after, 'status', 'observedGeneration') ===
        numberAt(after, 'metadata', 'generation');
      if (resource !== rollouts || !isEnded || !isSeen) return [];
      const percent = numberAt(after, 'spec', 'percent') ?? -1;
      return [[percent, numberAt(after, 'status', 'rollout', 'targetReplicas') ?? -1] as const];
    });
    return ended.filter(([percent], index) => ended[index - 1]?.[0] !== percent);
  }

  /** All percentages that were ever asked for, in order, each once in a row. */
  percents(): readonly number[] {
    const { commits } = this.stage.env.cluster.eventLog;
    const all = commits
      .filter(({ resource }) => resource === rollouts)
      .map(({ after }) => numberAt(after, 'spec', 'percent') ?? -1);
    return all.filter((percent, index) => percent !== all[index - 1]);
  }

  /** Images of the pods of `kv-dev`, by ordinal. */
  images(): readonly string[] {
    return ['kv-dev-0', 'kv-dev-1'].map((pod) => this.stage.env.imageOf(pod));
  }
}

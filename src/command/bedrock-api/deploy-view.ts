import type { JsonObject } from '#base/json.ts';
import { endOf, rolloutReport } from '../bedrock/deploy/rollout-report.ts';
import type { StoredDeploy } from './deploy-store.ts';

/** Where a phase stands. */
export type PhaseState = 'waiting' | 'running' | 'success' | 'failure';

/** Returns where phase `at` stands: what a callback said, else what the status says. */
export function phaseState({ object, record }: StoredDeploy, at: number): PhaseState {
  const phase = record.phases[at];
  if (phase?.stageId === undefined) return 'waiting';
  if (phase.result !== undefined) return phase.result;
  // A client that went on had seen the end.
  if (at < record.current) return 'success';
  const end = endOf(rolloutReport(object));
  if (end === undefined) return 'running';
  return end.kind === 'done' ? 'success' : 'failure';
}

/** Returns what is answered about a deploy. */
export function deployView(deploy: StoredDeploy): JsonObject {
  const { object, record } = deploy;
  const { name, namespace = 'default' } = object.metadata;
  const report = rolloutReport(object);
  return {
    id: record.id,
    namespace,
    name,
    autoAdvance: record.isAutomatic,
    pauseRequested: report.isPauseRequested,
    current: record.current,
    phases: record.phases.map(({ percent, stageId, result }, at) => ({
      percent,
      ...(stageId !== undefined && { stageId }),
      state: phaseState(deploy, at),
      calledBack: result !== undefined,
    })),
    rollout: {
      phase: report.phase,
      percent: report.percent,
      percentDeployed: report.percentDeployed,
      reason: report.reason,
      generation: report.generation,
      observedGeneration: report.observedGeneration,
    },
  };
}

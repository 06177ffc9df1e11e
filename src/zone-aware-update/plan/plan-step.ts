import { problemText } from '#base/parsed.ts';
import { podsText } from '#base/text/pods-text.ts';
import { podRef, setRef } from '#control/decision/refs.ts';
import type { PodView } from '#statefulset/view.ts';
import { capOf, limitOf } from '../spec/step-limit.ts';
import { mergedCounts, type UpdateStatus } from '../status.ts';
import type { UpdateDecision } from './plan-decision.ts';
import { acts, held, type Outcome, type Pass, refreshed, stepOf } from './plan-outcome.ts';

/** Pods of one zone that a step may take. */
export interface Candidates {
  readonly zone: string;
  /** The highest ordinal first. */
  readonly pods: readonly PodView[];
  /** Old pods of every zone, before the step. */
  readonly counts: ReadonlyMap<string, number>;
  /** Whether they cannot become ready by themselves, so that their replacement costs nothing. */
  readonly areStuck: boolean;
}

/** Returns the next step: as many of `candidates` as it may take, in order. */
export function planStep(pass: Pass, candidates: Candidates): Outcome {
  const { maxUnavailable, exponentialFactor } = pass.spec;
  if (maxUnavailable.kind === 'invalid') {
    return held('InvalidSpec', problemText(maxUnavailable.problem));
  }
  if (exponentialFactor.kind === 'invalid') {
    return held('InvalidSpec', problemText(exponentialFactor.problem));
  }
  const step = stepOf(pass);
  const cap = capOf(maxUnavailable.value, pass.target.set.status.replicas);
  const limit = limitOf(exponentialFactor.value, step, cap);
  if (limit < 1) return stepOfNoPod(step, cap);
  return planDeletions(pass, { ...candidates, pods: candidates.pods.slice(0, limit) }, step);
}

/** Holds a step of no pod: to do nothing, and to count that as a step, would go on for ever (W-02). */
function stepOfNoPod(step: number, cap: number): Outcome {
  const message =
    cap < 1
      ? `spec.maxUnavailable lets no pod go at once: it comes to ${cap}`
      : `spec.exponentialFactor lets no pod go in step ${step + 1}`;
  return held('StepOfNoPod', message);
}

function planDeletions(pass: Pass, candidates: Candidates, step: number): Outcome {
  const { snapshot, spec } = pass;
  const { zone, pods } = candidates;
  const counted = (deleted: number): UpdateStatus =>
    refreshed(pass, {
      updateStep: step + 1,
      deletedReplicas: deleted,
      isPaused: false,
      oldReplicas: mergedCounts(snapshot.resource.status.oldReplicas, candidates.counts),
    });
  if (spec.isDryRun) {
    const names = pods.map(({ name }) => name).join(', ');
    const message = `Dry run, nothing is deleted; otherwise the first step would take ${names} of zone ${zone}`;
    return { ...held('DryRun', message), statusAfter: () => counted(pods.length) };
  }
  const [hold] = snapshot.holds;
  if (hold !== undefined) return held(hold.because.reason, hold.because.message, hold.until);
  const granted = pods.filter(({ uid }) => !snapshot.refusals.has(uid));
  const [refusal] = pods.flatMap(({ uid }) => snapshot.refusals.get(uid) ?? []);
  if (granted.length === 0 && refusal !== undefined) {
    return held(refusal.because.reason, refusal.because.message, refusal.until);
  }
  const reason = candidates.areStuck ? 'StuckPodReplaced' : 'PodOutdated';
  const message = `Step ${step + 1} takes ${podsText(granted.length)} of zone ${zone}`;
  const decisions = granted.map((pod) => deletion(pass, pod, { ...candidates, message }));
  const { status } = snapshot.resource;
  return acts(decisions, { reason, message }, (deleted) =>
    deleted > 0 ? counted(deleted) : status,
  );
}

function deletion(
  { target: { set } }: Pass,
  pod: PodView,
  { pods, areStuck, message }: Candidates & { readonly message: string },
): UpdateDecision {
  const { updateRevision } = set.status;
  const why = `${pod.name} runs ${pod.revision ?? 'no revision'} instead of ${updateRevision}`;
  const trouble = areStuck ? ` and is stuck (${pod.trouble ?? 'not ready for too long'})` : '';
  return {
    kind: 'delete-pod',
    set: setRef(set),
    pod: podRef(pod),
    costs: areStuck ? 'nothing' : 'a-slot',
    maxUnavailable: pods.length,
    because: {
      reason: areStuck ? 'StuckPodReplaced' : 'PodOutdated',
      message: `${why}${trouble}: ${message}`,
    },
  };
}

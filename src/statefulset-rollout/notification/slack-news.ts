import { createHash } from 'node:crypto';
import type { WantedThread } from '#notification/outbox-wants.ts';
import type { PodNews, RolloutNews } from '#notification/slack-message/rollout-news.ts';
import { summaryContent } from '#notification/slack-message/slack-message.ts';
import { pageContents } from '#notification/slack-message/slack-pages.ts';
import { readStoredThread } from '#notification/stored-thread.ts';
import { isReady } from '#statefulset/availability.ts';
import { integerAt, objectAt, stringAt } from '#statefulset/parse-fields.ts';
import type { SlackTarget, StatefulsetRolloutSpec } from '../api.ts';
import { parallelismOf } from '../plan/plan-budget.ts';
import type { Place } from '../plan/plan-places.ts';
import { isLeaked } from '../plan/plan-places.ts';
import { isTerminal, type RolloutProgress } from '../progress.ts';
import type { RolloutSnapshot } from '../snapshot.ts';
import type { ShownStatus, StatusParts } from '../status/status-view.ts';

/** What messages are made of. */
export interface NewsParts extends StatusParts, ShownStatus {
  /** Name of the cluster; may be empty. */
  readonly cluster: string;
}

/** Returns what Slack is to show of a rollout; undefined where nothing is to be reported, or nothing has begun. */
export function wantedThread(parts: NewsParts): WantedThread | undefined {
  const { rollout, plan, places } = parts;
  const { progress } = plan;
  const spec = rollout.spec.kind === 'valid' ? rollout.spec.value : undefined;
  const slack = spec?.slack;
  const phase = spec && shownPhase(progress, spec);
  if (spec === undefined || slack === undefined || phase === undefined) return undefined;
  return {
    uid: rollout.uid,
    key: messageKey(progress, spec),
    account: accountOf(rollout.namespace, slack),
    channel: slack.channel,
    level: slack.level,
    phase,
    isAlarm: isAlarm(progress),
    summary: summaryContent(newsOf(parts, { spec, phase })),
    pages: slack.level === 'debug' ? pageContents(spec.set.name, podNews(places, parts)) : [],
    stored: readStoredThread(objectAt(rollout.writtenStatus, 'slackMessage')),
  };
}

/** Returns the phase to show: where no receiver is called back, the pass that sees to that is nothing to be reported. */
function shownPhase(
  { phase, outcome }: RolloutProgress,
  { callback }: StatefulsetRolloutSpec,
): RolloutProgress['phase'] {
  if (phase !== 'CallingBack' || callback !== undefined || outcome === undefined) return phase;
  return outcome.result === 'Done' ? 'RolloutDone' : 'RolloutFailed';
}

/**
 * Returns the key of one message for all percentages of one version (C-4): a retry by another identity, and another version,
 * have their own.
 */
export function messageKey(
  { templateHash }: RolloutProgress,
  spec: StatefulsetRolloutSpec,
): string {
  return createHash('sha256').update(`${templateHash}|${spec.identity}`).digest('hex').slice(0, 16);
}

/** Returns what names the token of a resource; empty for that of the operator. */
function accountOf(namespace: string, { token }: SlackTarget): string {
  return token === undefined ? '' : `${namespace}/${token.name}/${token.key}`;
}

/** Reports whether it has failed, or is deleted half way. */
function isAlarm({ phase, outcome, key }: RolloutProgress): boolean {
  if (outcome?.result === 'Failed') return true;
  return phase === 'Deleting' && outcome === undefined && key !== '';
}

interface Seen {
  readonly spec: StatefulsetRolloutSpec;
  readonly phase: RolloutNews['phase'];
}

function newsOf(
  { cluster, rollout, snapshot, plan, now, places, status }: NewsParts,
  { spec, phase }: Seen,
): RolloutNews {
  const build = objectAt(status, 'buildMetadata');
  const text = (name: string): string => stringAt(build, name) ?? '';
  const target = places.filter(({ isTarget }) => isTarget);
  return {
    cluster,
    namespace: rollout.namespace,
    set: spec.set.name,
    version: text('version'),
    branch: text('branch'),
    commit: text('commitSha'),
    percent: spec.percent,
    replicas: places.length,
    updated: target.filter(({ isHealthy }) => isHealthy).length,
    target: target.length,
    ready: integerAt(status, 'readyReplicas') ?? 0,
    sdReady: integerAt(status, 'readyReplicasRotor'),
    parallel: parallelIn(snapshot, spec),
    phase,
    reason: stringAt(status, 'reason') ?? '',
    failing: isTerminal(phase) && phase === 'RolloutDone' ? [] : failingIn(places),
    leakedReplicas: places.filter(isLeaked).length,
    identity: spec.identity,
    stageId: spec.callback?.stageId ?? '',
    startedAt: plan.progress.startedAt,
    updatedAt: now,
  };
}

function parallelIn(
  { target, budgets }: RolloutSnapshot,
  spec: StatefulsetRolloutSpec,
): number | undefined {
  if (target === undefined) return undefined;
  const found = parallelismOf(budgets, target.set.spec.replicas, spec.parallelWithoutBudget);
  return 'most' in found ? found.most : undefined;
}

function failingIn(places: readonly Place[]): RolloutNews['failing'] {
  return places.flatMap(({ name, pod, stuckBy }) => {
    const message = pod?.trouble ?? stuckBy;
    return message === undefined ? [] : [{ name, message }];
  });
}

function podNews(
  places: readonly Place[],
  { snapshot: { discovery } }: NewsParts,
): readonly PodNews[] {
  return places.filter(({ isTarget }) => isTarget).map((place) => podOf(place, discovery));
}

function podOf(place: Place, discovery: RolloutSnapshot['discovery']): PodNews {
  const { name, slot, pod, isStale, isRotated } = place;
  const passing = discovery.kind === 'known' ? discovery.passing : undefined;
  const common = { name, ordinal: slot.ordinal, isRotated, isLeaked: isLeaked(place) };
  if (pod === undefined) {
    const isDiscovered = passing === undefined ? undefined : false;
    return { ...common, version: '', isUpdated: false, isReady: false, isDiscovered, message: '' };
  }
  return {
    ...common,
    version: pod.labels['app.kubernetes.io/version'] ?? pod.revision ?? '',
    isUpdated: !isStale,
    isReady: isReady(pod),
    isDiscovered: passing?.has(pod.uid),
    message: pod.trouble ?? '',
  };
}

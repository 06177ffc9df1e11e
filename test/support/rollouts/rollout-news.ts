import { instant } from '#base/units.ts';
import type { PodNews, RolloutNews } from '#notification/slack-message/rollout-news.ts';

/** 2026-11-25 12:00:00 UTC. */
const noon = Date.UTC(2026, 10, 25, 12);

/** Returns what is said of a rollout of 1,000 pods to a half of them, with what a test is about. */
export function rolloutNews(about: Partial<RolloutNews> = {}): RolloutNews {
  return {
    cluster: 'prod-eu-1',
    namespace: 'search',
    set: 'web',
    version: 'v1.custom-1700000000',
    branch: 'main',
    commit: '3f9c2a7d1e4b5a6978c0d1e2f3a4b5c6d7e8f901',
    percent: 50,
    replicas: 1_000,
    updated: 320,
    target: 500,
    ready: 968,
    sdReady: 966,
    parallel: 32,
    phase: 'WaitingForReady',
    reason: 'AwaitingPods: waiting for web-679, web-678 and 30 more to be ready; 148 pods to go',
    failing: [],
    leakedReplicas: 0,
    identity: 'deploy-4711',
    stageId: 'stage-eu-50',
    startedAt: instant(noon),
    updatedAt: instant(noon + 1_234_000),
    ...about,
  };
}

/** Returns what is said of the pod `web-<ordinal>`, an old one that is ready, with what a test is about. */
export function podNews(ordinal: number, about: Partial<PodNews> = {}): PodNews {
  return {
    name: `web-${ordinal}`,
    ordinal,
    version: 'v1.custom-1699999999',
    isUpdated: false,
    isReady: true,
    isDiscovered: true,
    isRotated: false,
    isLeaked: false,
    message: '',
    ...about,
  };
}

/** Returns what is said of a pod that the rollout has reached, and that is well. */
export function donePod(ordinal: number, about: Partial<PodNews> = {}): PodNews {
  const version = 'v1.custom-1700000000';
  return podNews(ordinal, { version, isUpdated: true, isRotated: true, ...about });
}

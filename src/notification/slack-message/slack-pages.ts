import { type PodState, podStateOf, podStates, stateLookOf } from './pod-state.ts';
import type { PodNews } from './rollout-news.ts';
import { contentOf, messageOf, type SlackContent, section } from './slack-blocks.ts';
import { code, fitted } from './slack-text.ts';

/** Pods that one message reports, as published. */
const podsOfPage = 50;
const podsOfSection = 10;
const longestLine = 200;
/** More than a name of a StatefulSet's pod can have. */
const longestName = 80;
const longestVersion = 66;

/**
 * Returns the pages of a target, 50 pods each. A pod is shown by its ordinal alone, the highest first: it never moves to
 * another page, neither while it goes nor when the target grows.
 *
 * @param set name of the set
 * @param pods of the target, in any order
 */
export function pageContents(set: string, pods: readonly PodNews[]): readonly SlackContent[] {
  const ordered = pods.toSorted((a, b) => b.ordinal - a.ordinal);
  const count = Math.ceil(ordered.length / podsOfPage);
  return Array.from({ length: count }, (_, index) => pageContent(set, ordered, index));
}

function pageContent(set: string, ordered: readonly PodNews[], index: number): SlackContent {
  const first = index * podsOfPage;
  const pods = ordered.slice(first, first + podsOfPage);
  const last = first + pods.length;
  const count = Math.ceil(ordered.length / podsOfPage);
  const title = `Pods ${first + 1}–${last} of ${ordered.length}, page ${index + 1}/${count}`;
  const states = pods.map(podStateOf);
  const lines = pods.map(podLine);
  const starts = Array.from({ length: Math.ceil(pods.length / podsOfSection) }, (_, at) => at);
  const sections = starts.map((at) =>
    section(lines.slice(at * podsOfSection, (at + 1) * podsOfSection)),
  );
  const text = `${fitted(set, 100)}: ${title}, ${states.filter((each) => each === 'done').length} ready`;
  return contentOf(messageOf(text, [section([`*${title}*`, countsOf(states)]), ...sections]));
}

function countsOf(states: readonly PodState[]): string {
  const counts = podStates.flatMap((state) => {
    const count = states.filter((each) => each === state).length;
    const { symbol, words } = stateLookOf(state);
    return count === 0 ? [] : [`${symbol} ${count} ${words}`];
  });
  return counts.join('  ·  ');
}

function podLine(pod: PodNews): string {
  const { symbol, words } = stateLookOf(podStateOf(pod));
  const version = pod.version === '' ? '' : `  ${fitted(pod.version, longestVersion)}`;
  const start = `${symbol} ${code(shortName(pod), longestName)}${version}  ${words}`;
  if (pod.message === '' || pod.isReady) return start;
  const left = longestLine - start.length - 2;
  return left < 10 ? start : `${start}: ${fitted(pod.message, left)}`;
}

/** Cuts a long name in the middle, and keeps its ordinal. */
function shortName({ name, ordinal }: PodNews): string {
  if (name.length <= longestName - 2) return name;
  const end = `…-${ordinal}`;
  return `${name.slice(0, longestName / 2 - end.length)}${end}`;
}

import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import type { Instant } from '#base/units.ts';
import { lookOf } from './phase-look.ts';
import type { FailingPod, RolloutNews } from './rollout-news.ts';
import {
  contentOf,
  context,
  fieldsSection,
  header,
  messageOf,
  type SlackBlock,
  type SlackContent,
  type SlackMessage,
  section,
  slackLimits,
} from './slack-blocks.ts';
import { code, fitted, moreText } from './slack-text.ts';

/** Pods that are named where more fail. */
const mostFailing = 5;
/** Units of one value among the fields: more than any name of Kubernetes has. */
const longestValue = 300;
const longestReason = 2_000;
const longestLine = 200;
const barWidth = 20;

/** Returns the message about the state of a rollout; it fits whatever the cluster says. */
export function summaryContent(news: RolloutNews): SlackContent {
  const text = noticeOf(news);
  const body = bodyOf(news);
  const times = timesOf(news);
  const message = messageOf(text, [...body, contextOf(news, [...times, updatedOf(news)])]);
  return contentOf(message, messageOf(text, [...body, contextOf(news, times)]));
}

/** Returns the summary of a rollout that another one follows: as it was, with a line at its end that says so. */
export function supersededContent({ text, blocks }: SlackMessage): SlackContent {
  const line = context(['⏭️ *Superseded* by a newer rollout']);
  return contentOf(
    messageOf(fitted(`Superseded: ${unescaped(text)}`, longestNotice), [...blocks, line]),
  );
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function bodyOf(news: RolloutNews): readonly SlackBlock[] {
  return [
    header(titleOf(news)),
    fieldsSection(fieldsOf(news)),
    section(progressOf(news)),
    ...failingOf(news.failing),
    ...leakOf(news.leakedReplicas),
  ];
}

/** Returns the title. The version gives way to a long name: both are in full among the fields and in the notice. */
function titleOf({ phase, phaseWord, set, version }: RolloutNews): string {
  const { symbol, word } = lookOf(phase);
  const start = `${symbol} ${fitted(phaseWord ?? word, 40)}`;
  const name = fitted(set, 60);
  const left = slackLimits.header - start.length - name.length - 6;
  return version === '' ? `${start} · ${name}` : `${start} · ${name} · ${fitted(version, left)}`;
}

const longestNotice = 400;

function noticeOf(news: RolloutNews): string {
  const { cluster, namespace, set, version, phase, phaseWord, updated, target, percent } = news;
  const { word } = lookOf(phase);
  const release = version === '' ? '' : ` ${fitted(version, 60)}`;
  const progress = `${updated} of ${podsOf(target)} (${percent} %)`;
  const where = `${fitted(cluster, 60)}/${fitted(namespace, 60)}`;
  return `${fitted(phaseWord ?? word, 40)}: ${fitted(set, 60)}${release}, ${progress}, ${where}`;
}

function fieldsOf(news: RolloutNews): readonly string[] {
  const { percent, replicas, updated, target, ready, sdReady, parallel } = news;
  return [
    field('Cluster', news.cluster),
    field('Namespace', news.namespace),
    field('Version', news.version),
    field('Branch', news.branch),
    field('Commit', shortCommit(news.commit)),
    field('Percent', `${percent} % of ${podsOf(replicas)}`),
    field('Updated', `${updated} of ${target}`),
    field('Ready', `${ready} of ${replicas}`),
    ...(sdReady === undefined ? [] : [field('In service discovery', `${sdReady} of ${replicas}`)]),
    ...(parallel === undefined ? [] : [field('In parallel', `up to ${parallel}`)]),
  ];
}

function field(name: string, value: string): string {
  return `*${name}*\n${fitted(value, longestValue) || '–'}`;
}

/** Cuts a full hash of Git; anything else is what a user chose to write. */
function shortCommit(commit: string): string {
  return /^[\da-f]{40,64}$/.test(commit) ? commit.slice(0, 12) : commit;
}

function progressOf({ updated, target, reason }: RolloutNews): readonly string[] {
  const share = target <= 0 ? 1 : Math.min(1, Math.max(0, updated / target));
  const done = Math.floor(share * barWidth);
  const bar = `${'█'.repeat(done)}${'░'.repeat(barWidth - done)}`;
  const told = fitted(reason, longestReason);
  const line = `\`${bar}\`  *${Math.floor(share * 100)} %*  ·  ${updated} of ${podsOf(target)}`;
  return told === '' ? [line] : [line, told];
}

function failingOf(failing: readonly FailingPod[]): readonly SlackBlock[] {
  if (failing.length === 0) return [];
  const shown = failing.slice(0, mostFailing).map(failingLine);
  const more = failing.length - shown.length;
  return [section(['*Failing pods*', ...shown, ...(more > 0 ? [moreText(more)] : [])])];
}

function failingLine({ name, message }: FailingPod): string {
  const start = `🔴 ${code(name, 80)}`;
  return `${start}  ${fitted(message, longestLine - start.length - 2) || 'not ready'}`;
}

function leakOf(leaked: number): readonly SlackBlock[] {
  if (leaked <= 0) return [];
  const [pods, verb] = leaked === 1 ? ['1 pod', 'runs'] : [`${leaked} pods`, 'run'];
  return [section([`💧 *${pods}* ${verb} the new version before the rollout came to it`])];
}

function contextOf({ identity, stageId }: RolloutNews, times: readonly string[]): SlackBlock {
  const marks = [
    ...(identity === '' ? [] : [`Identity ${code(identity, longestValue)}`]),
    ...(stageId === '' ? [] : [`Stage ${code(stageId, longestValue)}`]),
  ];
  return context([...marks, ...times]);
}

function timesOf({ startedAt }: RolloutNews): readonly string[] {
  return startedAt === undefined ? ['Not started'] : [`Started ${dateToken(startedAt)}`];
}

function updatedOf({ updatedAt }: RolloutNews): string {
  return `Updated ${dateToken(updatedAt)}`;
}

/** Returns a date that Slack shows in the time zone of the reader; the end is for clients that cannot. */
function dateToken(at: Instant): string {
  const utc = formatUtcSeconds(at);
  return `<!date^${Math.floor(at / 1_000)}^{date_short_pretty} {time_secs}|${utc}>`;
}

function podsOf(count: number): string {
  return count === 1 ? '1 pod' : `${count} pods`;
}

import { assertNever } from '#base/assert-never.ts';
import type { Because } from '#base/because.ts';
import type { Millis } from '#base/units.ts';

/** Something that happened, worth a line; `zone` is empty for what concerns the whole group. */
export type Fact = {
  /** Since the demo began. */
  readonly at: Millis;
  readonly zone: string;
} & FactDetail;

/** What happened. */
export type FactDetail =
  | { readonly kind: 'installed'; readonly pods: number }
  | { readonly kind: 'wanted'; readonly revision: string; readonly image: string }
  | {
      readonly kind: 'deleted';
      readonly pod: string;
      /** A user of the API server. */
      readonly by: string;
      readonly because: Because | undefined;
    }
  | { readonly kind: 'ready'; readonly pod: string; readonly revision: string }
  | { readonly kind: 'unready'; readonly pod: string }
  | {
      readonly kind: 'broken';
      readonly pod: string;
      readonly trouble: string;
      readonly image: string;
    }
  | { readonly kind: 'updated'; readonly pods: number; readonly revision: string }
  | {
      readonly kind: 'scaled';
      /** Name of the StatefulSet. */
      readonly set: string;
      readonly from: number;
      readonly to: number;
      /** A user of the API server. */
      readonly by: string;
      readonly because: Because | undefined;
    }
  | { readonly kind: 'waits'; readonly because: Because }
  | { readonly kind: 'note'; readonly text: string };

/** The user name under which the operator of the demo speaks to the API server. */
export const operatorUser = 'system:serviceaccount:demo:rollout-operator';

/** Returns what `fact` says, without time and zone. */
export function factText(fact: FactDetail): string {
  if ('pod' in fact) return podText(fact);
  switch (fact.kind) {
    case 'installed':
      return `all ${fact.pods} pods are ready`;
    case 'wanted':
      return `wants revision ${shortRevision(fact.revision)} (${fact.image})`;
    case 'updated':
      return `done: all ${fact.pods} pods run ${shortRevision(fact.revision)}`;
    case 'scaled':
      return `from ${fact.from} to ${fact.to} replicas, by ${actorText(fact)}`;
    case 'waits':
      return `waits: ${fact.because.message} (${fact.because.reason})`;
    case 'note':
      return fact.text;
    default:
      return assertNever(fact);
  }
}

function podText(fact: Extract<FactDetail, { readonly pod: string }>): string {
  switch (fact.kind) {
    case 'deleted':
      return `${fact.pod}  deleted by ${actorText(fact)}`;
    case 'ready':
      return `${fact.pod}  ready on ${shortRevision(fact.revision)}`;
    case 'unready':
      return `${fact.pod}  no longer ready`;
    case 'broken':
      return `${fact.pod}  ${fact.trouble}: ${fact.image}`;
    default:
      return assertNever(fact);
  }
}

/** Returns who did it, and why as far as that is known. */
function actorText({ by, because }: Extract<FactDetail, { kind: 'deleted' | 'scaled' }>): string {
  const who =
    by === operatorUser ? 'the operator' : by.replace(/^system:serviceaccount:[^:]+:/, '');
  return because === undefined ? who : `${who}: ${because.message} (${because.reason})`;
}

/** Returns a line for a plain log: `  3.21 s  zone-a  ingester-zone-a-0  ready on 6f7c9d`. */
export function factLine(fact: Fact): string {
  const zone = fact.zone === '' ? '' : `${fact.zone}  `;
  return `${secondsText(fact.at).padStart(8)}  ${zone}${factText(fact)}`;
}

/** Returns `3.21 s` */
export function secondsText(span: Millis): string {
  return `${(span / 1_000).toFixed(2)} s`;
}

/** Returns the hash of a revision's name; all of it when it has none. */
export function shortRevision(revision: string): string {
  return revision.slice(revision.lastIndexOf('-') + 1);
}

import { type Millis, type Monotonic, millis, monotonic, seconds } from '#base/units.ts';
import type { SlackCall } from './slack-call.ts';

/** From one call about a channel to the next, whatever they do. */
const channelSpacing = seconds(1);
/** 40 changes a minute. */
const updateSpacing = millis(1_500);
/** Changes at once after a rest: with 40 a minute they are the 50 in any minute that Slack allows. */
const updateBurst = 10;

/** When calls may go: one a second to a channel, and 40 changes a minute by one token. */
export interface Rates {
  /** When the next call about a channel may go. */
  readonly channels: ReadonlyMap<string, Monotonic>;
  /** When all changes by a token would be paid off; by account. */
  readonly updates: ReadonlyMap<string, Monotonic>;
  /** The ids of channels that resources call by a name, so that both count as one. */
  readonly names: ReadonlyMap<string, string>;
}

/** Nothing was sent yet. */
export const unusedRates: Rates = Object.freeze({
  channels: new Map(),
  updates: new Map(),
  names: new Map(),
});

/** What of a call counts. */
type Counted = Pick<SlackCall, 'kind' | 'channel' | 'account'>;

/** Returns when `call` may go; a time that has passed where it may go now. */
export function freeAt(rates: Rates, call: Counted): number {
  const { channels, updates } = rates;
  const { kind, account } = call;
  const ofChannel = channels.get(keyOf(rates, call)) ?? Number.NEGATIVE_INFINITY;
  if (kind === 'post') return ofChannel;
  const debt = updates.get(account) ?? Number.NEGATIVE_INFINITY;
  return Math.max(ofChannel, debt - (updateBurst - 1) * updateSpacing);
}

/** Returns the rates once `call` has gone. */
export function charged(rates: Rates, call: Counted, now: Monotonic): Rates {
  const channels = withLater(rates.channels, keyOf(rates, call), {
    at: now + channelSpacing,
    now,
  });
  if (call.kind === 'post') return { ...rates, channels };
  const paid = Math.max(now, rates.updates.get(call.account) ?? now) + updateSpacing;
  return { ...rates, channels, updates: withLater(rates.updates, call.account, { at: paid, now }) };
}

/** Returns the rates where nothing goes to the channel of `call` for so long, as Slack has asked for. */
export function held(
  rates: Rates,
  call: Counted,
  { now, span }: { readonly now: Monotonic; readonly span: Millis },
): Rates {
  return {
    ...rates,
    channels: withLater(rates.channels, keyOf(rates, call), { at: now + span, now }),
  };
}

/** Returns the rates once it is known that `channel` is the id of the channel of `call`. */
export function identified(rates: Rates, call: Counted, channel: string): Rates {
  const before = keyOf(rates, call);
  if (before === channel) return rates;
  const names = new Map(rates.names).set(nameOf(call), channel);
  const at = rates.channels.get(before);
  const channels = new Map(rates.channels);
  if (at !== undefined) channels.set(channel, monotonic(Math.max(at, channels.get(channel) ?? at)));
  return { ...rates, names, channels };
}

function keyOf({ names }: Rates, call: Counted): string {
  return names.get(nameOf(call)) ?? call.channel;
}

function nameOf({ account, channel }: Counted): string {
  return `${account}|${channel}`;
}

/** Adds a time, and forgets those that have passed: there may be many channels in the life of a process. */
function withLater(
  times: ReadonlyMap<string, Monotonic>,
  key: string,
  { at, now }: { readonly at: number; readonly now: Monotonic },
): ReadonlyMap<string, Monotonic> {
  const next = new Map([...times].filter(([, time]) => time > now));
  return next.set(key, monotonic(Math.max(at, next.get(key) ?? at)));
}

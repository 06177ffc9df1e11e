/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the conversation */
/** Conversations about webhooks: what they are shown, and what becomes of what they say (AD-*). */
import type { Conversation, Talk } from './talk.ts';
import { webhookAnswers } from './webhook-answers.ts';
import { webhookConfigurations } from './webhook-configurations.ts';
import { webhookReviews } from './webhook-reviews.ts';
import type { WebhookServer } from './webhook-server.ts';
import { forget } from './webhook-words.ts';

const scripts = { ...webhookReviews, ...webhookAnswers, ...webhookConfigurations };

/** All of them, with the webhooks at `server`. */
export function admission(server: () => WebhookServer): Readonly<Record<string, Conversation>> {
  const conversations = Object.entries(scripts).map(([name, script]) => {
    const conversation: Conversation = async (talk) => {
      server().take();
      try {
        await script(unhurried(talk), server());
      } finally {
        await forget(talk);
      }
    };
    return [`webhooks: ${name}`, conversation] as const;
  });
  return Object.fromEntries(conversations);
}

/**
 * `talk`, in which each request finds in the server's own cache what the one before did: a real server begins a change
 * with what it has cached, and shows an old state to webhooks, and then the right one, where that lags behind.
 */
function unhurried(talk: Talk): Talk {
  return {
    namespace: talk.namespace,
    send: async (method, path, ...rest) => {
      const said = await talk.send(method, path, ...rest);
      const list = collection.exec(path)?.groups?.['path'];
      if (method !== 'GET' && list !== undefined) await untilCached(talk, list);
      return said;
    },
    watch: (path) => talk.watch(path),
    ask: (...request) => talk.ask(...request),
    note: (...what) => talk.note(...what),
    pause: () => talk.pause(),
  };
}

/** What is in the path of a request before the name of its object. */
const collection = /^(?<path>.*\/namespaces\/[^/]+\/[^/?]+|\/api\/v1\/namespaces)(?:[/?]|$)/;

interface Listed {
  readonly metadata: { readonly resourceVersion: string };
}

/** Waits until the server has cached the newest of the objects at `list` as it is stored. */
async function untilCached(talk: Talk, list: string): Promise<void> {
  const { body } = await talk.ask('GET', list);
  const items: readonly Listed[] = body.items;
  const newest = Math.max(0, ...items.map(({ metadata }) => Number(metadata.resourceVersion)));
  if (newest === 0) return;
  const from = `resourceVersion=${newest}&resourceVersionMatch=NotOlderThan`;
  const { status } = await talk.ask('GET', `${list}?${from}`);
  if (status !== 200) throw new Error(`the list from ${newest} was answered ${status}`);
}

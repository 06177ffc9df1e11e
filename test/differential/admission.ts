/** Conversations about webhooks: what they are shown, and what becomes of what they say (AD-*). */
import type { Conversation } from './talk.ts';
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
        await script(talk, server());
      } finally {
        await forget(talk);
      }
    };
    return [`webhooks: ${name}`, conversation] as const;
  });
  return Object.fromEntries(conversations);
}

import type { JsonObject } from '#base/json.ts';
import type { EventLog } from '#cluster/event-log.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';

/** Resolves once each of the webhook configurations `names` is stored with a CA bundle in every entry, from now on. */
export function bundled(log: EventLog, names: readonly string[]): Promise<void> {
  const missing = new Set(names);
  return new Promise((resolve) => {
    log.onCommit(({ resource, name, after }) => {
      if (resource.includes('webhookconfigurations') && hasBundles(after)) missing.delete(name);
      if (missing.size === 0) resolve();
    });
  });
}

function hasBundles(configuration: JsonObject | undefined): boolean {
  const webhooks = objectsAt(configuration, 'webhooks');
  return (
    webhooks.length > 0 && webhooks.every((each) => textAt(each, 'clientConfig', 'caBundle') !== '')
  );
}

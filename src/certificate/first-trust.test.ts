import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Change } from '#kubernetes/informer/informer.ts';
import { FirstTrust } from './first-trust.ts';
import { projectConfiguration, type WebhookConfigurationView } from './webhook-configuration.ts';

type Sight = readonly [kind: 'added' | 'updated', webhook: string, caBundle: string];

/** Returns a configuration of one webhook whose bundle is `caBundle`. */
function configuration(webhook: string, caBundle: string): WebhookConfigurationView {
  const metadata = { name: webhook, uid: webhook, resourceVersion: '1' };
  const value = Buffer.from(caBundle).toString('base64');
  return projectConfiguration({
    metadata,
    webhooks: [{ name: `${webhook}.grafana.com`, clientConfig: { caBundle: value } }],
  });
}

function isCertainAfter(sights: readonly Sight[]): boolean {
  const handlers: ((change: Change<WebhookConfigurationView>) => void)[] = [];
  const trust = new FirstTrust({
    configurations: { onChange: (handler) => handlers.push(handler) },
    isAsked: (name) => name.startsWith('pod-eviction-'),
  });
  for (const [kind, webhook, caBundle] of sights) {
    const object = configuration(webhook, caBundle);
    const change = kind === 'updated' ? { kind, object, old: object } : { kind, object };
    for (const handler of handlers) handler(change);
  }
  return trust.isCertain;
}

const rows: Record<string, { readonly sights: readonly Sight[]; readonly want: boolean }> = {
  'no configuration was seen': { sights: [], want: false },
  'the configuration of evictions had no CA when it was seen first': {
    sights: [
      ['added', 'pod-eviction-a', ''],
      ['updated', 'pod-eviction-a', 'x'],
    ],
    want: true,
  },
  'it had one, whosever that is': { sights: [['added', 'pod-eviction-a', 'x']], want: false },
  'it lost its CA later': {
    sights: [
      ['added', 'pod-eviction-a', 'x'],
      ['updated', 'pod-eviction-a', ''],
    ],
    want: false,
  },
  'another configuration of evictions had one': {
    sights: [
      ['added', 'pod-eviction-a', ''],
      ['added', 'pod-eviction-b', 'x'],
    ],
    want: false,
  },
  'only other webhooks had none': { sights: [['added', 'no-downscale-a', '']], want: false },
  'other webhooks had one, which answers no eviction': {
    sights: [
      ['added', 'no-downscale-a', 'x'],
      ['added', 'pod-eviction-a', ''],
    ],
    want: true,
  },
};
for (const [what, { sights, want }] of Object.entries(rows)) {
  test(`FirstTrust ${want ? 'is certain' : 'is not certain'} where ${what} [found R-20]`, () => {
    assert.equal(isCertainAfter(sights), want);
  });
}

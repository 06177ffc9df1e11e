import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { operatorWithWebhooks } from './generate-deploy.ts';

describe('operatorWithWebhooks()', () => {
  test('refuses what is no name of a namespace', () => {
    for (const namespace of ['', 'Cells', 'a.b', '-a', 'a-', 'a b', 'a'.repeat(64)]) {
      assert.throws(() => operatorWithWebhooks('registry.example/operator:1', namespace), {
        message: `The namespace must be lower case letters, digits and "-" within, 63 at most: got "${namespace}"`,
      });
    }
  });

  test('has each namespace as a text, for tools that read YAML 1.1, too', () => {
    for (const namespace of ['no', 'y', 'on', 'true', 'null', '123', '1e3', '0x1f', '0b1', '010']) {
      const text = operatorWithWebhooks('registry.example/operator:1', namespace);
      const named = parseAllDocuments(text, { version: '1.1' })
        .map(
          (document) =>
            document.toJS() as { kind: string; metadata: { labels?: Record<string, unknown> } },
        )
        .filter(({ kind }) => kind.endsWith('WebhookConfiguration'))
        .map(({ metadata: { labels = {} } }) => Object.values(labels));
      assert.deepEqual(named, [
        ['true', namespace],
        ['true', namespace],
        ['true', namespace],
        ['true', namespace],
      ]);
    }
  });
});

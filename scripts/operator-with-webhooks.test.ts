import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { operatorOfAll, operatorWithWebhooks } from './generate-deploy.ts';

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

describe('operatorOfAll()', () => {
  const objects = parseAllDocuments(operatorOfAll('registry.example/operator:1', 'cells')).map(
    (document) => document.toJS() as { kind: string; metadata: { name: string } },
  );
  const namesOf = (wanted: RegExp): readonly string[] =>
    objects.filter(({ kind }) => wanted.test(kind)).map(({ metadata }) => metadata.name);

  test('has one Deployment, which comes last, and each object once', () => {
    assert.deepEqual(namesOf(/^Deployment$/), ['rollout-operator']);
    assert.equal(objects.at(-1)?.kind, 'Deployment');
    const all = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    assert.deepEqual(
      all.filter((each, at) => all.indexOf(each) !== at),
      [],
    );
  });

  test('has the definitions and the webhooks of the other peers beside all others', () => {
    const definitions = namesOf(/^CustomResourceDefinition$/);
    assert.ok(definitions.includes('phasedrollouts.sts.plus'));
    assert.ok(definitions.includes('statefulsetrollouts.bedrock.operator.slack.com'));
    assert.ok(definitions.includes('zoneawareupdates.zonecontrol.k8s.aws'));
    assert.ok(definitions.includes('zonedisruptionbudgets.zonecontrol.k8s.aws'));
    const hooks = namesOf(/WebhookConfiguration$/);
    assert.equal(hooks.length, 7);
    assert.ok(hooks.every((name) => name.endsWith('-cells')));
  });
});

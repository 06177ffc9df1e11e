/** What kubectl must be able to do on every cluster, as suites that share a namespace each (LN-2, CL-1…CL-13). */
import { after, before, describe, test } from 'node:test';
import { customResources } from './kubectl-custom.ts';
import type { KubectlEnv } from './kubectl-env.ts';
import { objects } from './kubectl-objects.ts';
import { rollouts } from './kubectl-rollouts.ts';

/** Tests that follow each other on one cluster. */
export interface KubectlSuite {
  readonly name: string;
  readonly prepare: (env: KubectlEnv) => Promise<void>;
  /** Keyed by a sentence. */
  readonly tests: Readonly<Record<string, (env: KubectlEnv) => Promise<void>>>;
}

/** All of them. */
export const kubectlSuites: readonly KubectlSuite[] = [objects, rollouts, customResources];

/** Defines the tests of `suite`, on what `start` starts. */
export function defineSuite(
  suite: KubectlSuite,
  skip: string | false,
  start: () => Promise<KubectlEnv>,
): void {
  // One after the other, whatever the suites around it do.
  describe(suite.name, { skip, concurrency: 1 }, () => {
    let env: KubectlEnv;

    before(async () => {
      env = await start();
      await suite.prepare(env);
    });

    after(async () => {
      await env?.close();
    });

    for (const [name, act] of Object.entries(suite.tests)) {
      test(name, { timeout: 120_000 }, async () => act(env));
    }
  });
}

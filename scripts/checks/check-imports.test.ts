import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { checkImports, readSources } from './check-imports.ts';

/** Findings about files of which only the interesting ones have a text; all others are empty. */
function findings(sources: Readonly<Record<string, string>>): readonly string[] {
  const targets = [
    'src/base/clock.ts',
    'src/telemetry/logger.ts',
    'src/kubernetes/client.ts',
    'src/control/loop.ts',
    'src/rollout-group/plan.ts',
    'src/phased-rollout/plan.ts',
    'src/dashboard/server.ts',
    'cluster/cluster.ts',
    'test/support/builders.ts',
    'src/command/run.ts',
    'src/operator.ts',
    'test/fixture.ts',
  ];
  const empty = targets.map((path) => [path, ''] as const);
  return checkImports(new Map([...empty, ...Object.entries(sources)]));
}

type Cases = Record<string, { readonly path: string; readonly source: string }>;

describe('checkImports() layers', () => {
  const allowed: Cases = {
    'the row below': { path: 'src/control/a.ts', source: `import { x } from '#base/clock.ts';` },
    'the same folder': { path: 'src/control/a.ts', source: `export * from './loop.ts';` },
    'all rooms in a test': {
      path: 'src/base/a.test.ts',
      source: `import { x } from '#dashboard/server.ts'; import '#support/builders.ts';`,
    },
    'the embedded cluster in the demo': {
      path: 'demo/a.ts',
      source: `import { x } from '#cluster/cluster.ts';`,
    },
    'the operator in a command': {
      path: 'src/command/a.ts',
      source: `import { x } from '#operator.ts';`,
    },
    'the operator by a relative path': {
      path: 'src/command/a.ts',
      source: `import { x } from '../operator.ts';`,
    },
    'commands in main': { path: 'src/main.ts', source: `await import('#command/run.ts');` },
    'what a comment or a string names': {
      path: 'src/base/a.ts',
      source: `// import '#dashboard/server.ts'\nconst x = "import '#dashboard/server.ts'";`,
    },
    'everything in scripts': {
      path: 'scripts/a.ts',
      source: `import '#cluster/cluster.ts'; import '../test/fixture.ts';`,
    },
  };
  for (const [title, { path, source }] of Object.entries(allowed)) {
    test(`lets ${path} import ${title}`, () => {
      assert.deepEqual(findings({ [path]: source }), []);
    });
  }

  const refused: Record<string, { path: string; source: string; expected: string }> = {
    'a row above': {
      path: 'src/kubernetes/a.ts',
      source: `\nimport { x } from '#control/loop.ts';`,
      expected: 'src/kubernetes/a.ts:2: kubernetes imports control, which is above it',
    },
    'a type of a row above': {
      path: 'src/kubernetes/a.ts',
      source: `import type { X } from '#control/loop.ts';`,
      expected: 'src/kubernetes/a.ts:1: kubernetes imports control, which is above it',
    },
    'a type of a row above, inline': {
      path: 'src/kubernetes/a.ts',
      source: `export type Y = import('#control/loop.ts').X;`,
      expected: 'src/kubernetes/a.ts:1: kubernetes imports control, which is above it',
    },
    'a re-export from a row above': {
      path: 'src/kubernetes/a.ts',
      source: `export { x } from '#control/loop.ts';`,
      expected: 'src/kubernetes/a.ts:1: kubernetes imports control, which is above it',
    },
    'a row above, dynamically': {
      path: 'src/kubernetes/a.ts',
      source: `const x = await import('#control/loop.ts');`,
      expected: 'src/kubernetes/a.ts:1: kubernetes imports control, which is above it',
    },
    'the same row': {
      path: 'src/rollout-group/a.ts',
      source: `import { plan } from '#phased-rollout/plan.ts';`,
      expected:
        'src/rollout-group/a.ts:1: rollout-group imports phased-rollout, which is in the same row',
    },
    'the embedded cluster outside of the demo': {
      path: 'src/operator.ts',
      source: `import { x } from '#cluster/cluster.ts';`,
      expected: 'src/operator.ts:1: operator imports cluster, which only demo and tests may',
    },
    'what the embedded cluster may not know': {
      path: 'cluster/a.ts',
      source: `import { x } from '#control/loop.ts';`,
      expected:
        'cluster/a.ts:1: cluster imports control, but may only import kubernetes, statefulset, base',
    },
    'the builders of tests': {
      path: 'src/command/a.ts',
      source: `import { x } from '#support/builders.ts';`,
      expected: 'src/command/a.ts:1: command imports support, which only tests may',
    },
    'more than the commands in main': {
      path: 'src/main.ts',
      source: `import { x } from '#telemetry/logger.ts';`,
      expected: 'src/main.ts:1: main imports telemetry, but may only import command, demo',
    },
    'a file outside of the program': {
      path: 'src/control/a.ts',
      source: `import { x } from '../../test/fixture.ts';`,
      expected: 'src/control/a.ts:1: imports test/fixture.ts, which is no part of the program',
    },
    'another folder by a relative path': {
      path: 'src/control/a.ts',
      source: `import { x } from '../base/clock.ts';`,
      expected:
        'src/control/a.ts:1: imports another room as ../base/clock.ts; write #base/clock.ts',
    },
    'a file that is not there': {
      path: 'src/control/a.ts',
      source: `import { x } from './gone.ts';`,
      expected: 'src/control/a.ts:1: imports ./gone.ts, but there is no src/control/gone.ts',
    },
    'anything in a folder that no row has': {
      path: 'src/helpers/a.ts',
      source: '',
      expected: 'src/helpers/a.ts: src/helpers is in no row of scripts/checks/import-rules.ts',
    },
  };
  for (const [title, { path, source, expected }] of Object.entries(refused)) {
    test(`refuses ${title}`, () => {
      assert.deepEqual(findings({ [path]: source }), [expected]);
    });
  }
});

describe('checkImports() purity', () => {
  const path = 'src/rollout-group/plan.ts';
  const planted: Record<string, string> = {
    'const t = Date.now();': 'Date.now',
    'const t = new Date();': 'new Date()',
    'const t = new Date;': 'new Date()',
    'const t = Date();': 'Date',
    'const { now } = Date;': 'Date',
    "const t = globalThis['Date'];": 'globalThis',
    'const t = performance.now();': 'performance',
    'const t = process.env;': 'process',
    "const t = fetch('x');": 'fetch',
    'setTimeout(() => 1, 1);': 'setTimeout',
    'setInterval(() => 1, 1);': 'setInterval',
    'setImmediate(() => 1);': 'setImmediate',
    'const t = crypto.randomUUID();': 'crypto',
    "console.log('x');": 'console',
    'const t = Math.random();': 'Math.random',
    "const t = Math['random']();": 'Math',
    'const t = AbortSignal.timeout(5);': 'AbortSignal.timeout',
    'const t = Temporal.Now.instant();': 'Temporal.Now',
    'const t = `${Date.now()}`;': 'Date.now',
    'const t = { fetch };': 'fetch',
    'const t = import.meta.dirname;': 'import.meta',
    "import { readFileSync } from 'node:fs';": 'node:fs',
    "import 'undici';": 'undici',
  };
  for (const [source, what] of Object.entries(planted)) {
    test(`refuses ${what} in the core: ${source}`, () => {
      assert.deepEqual(findings({ [path]: source }), [
        `${path}: the core uses ${what} at line 1 (${path})`,
      ]);
    });
  }

  const pure: Record<string, string> = {
    'a conversion of a time': `const t = new Date(0).toISOString() + Date.parse('x') + Date.UTC(1);`,
    mathematics: 'const t = Math.floor(1.5);',
    'a check of a class': 'const t = x instanceof Date;',
    'a member, a key and a method of the same name':
      'const t = { fetch: 1, process() { return this.console; } };',
    'the type of an impure module': `import type { Agent } from 'undici'; const t = (x: Agent, d: Date) => x;`,
    'the type of a logger': `import type { Logger } from '#telemetry/logger.ts';`,
    'a package that only computes': `import { z } from 'zod'; import * as mini from 'zod/mini';`,
    'words of comments, strings and expressions':
      "// Date.now()\nconst t = 'fetch(x)' + /process/.source;",
  };
  for (const [title, source] of Object.entries(pure)) {
    test(`lets the core use ${title}`, () => {
      assert.deepEqual(findings({ [path]: source }), []);
    });
  }

  for (const core of [
    'src/base/a.ts',
    'src/statefulset/a.ts',
    'src/disruption/a.ts',
    'src/phased-rollout/api.ts',
    'src/phased-rollout/plan-wave.ts',
  ]) {
    test(`counts ${core} as core`, () => {
      assert.deepEqual(findings({ [core]: "import 'node:fs';" }), [
        `${core}: the core uses node:fs at line 1 (${core})`,
      ]);
    });
  }

  for (const shell of [
    'src/phased-rollout/controller.ts',
    'src/phased-rollout/plan.test.ts',
    'src/command/plan.ts',
  ]) {
    test(`does not count ${shell} as core`, () => {
      assert.deepEqual(findings({ [shell]: "import 'node:fs';" }), []);
    });
  }

  test('follows what the core imports, and shows the way', () => {
    const sources = {
      [path]: `import { a } from './a.ts';`,
      'src/rollout-group/a.ts': `export { b } from '#control/b.ts';`,
      'src/control/b.ts': `\nimport { hostname } from 'node:os';`,
    };
    assert.deepEqual(findings(sources), [
      `${path}: the core uses node:os at line 2 (${path} -> src/rollout-group/a.ts -> src/control/b.ts)`,
    ]);
  });

  test('does not follow types', () => {
    const sources = {
      [path]: `import type { A } from './a.ts';`,
      'src/rollout-group/a.ts': `import { hostname } from 'node:os';`,
    };
    assert.deepEqual(findings(sources), []);
  });

  test('refuses a logger that the core reaches', () => {
    const source = `import { log } from '#telemetry/logger.ts';`;
    assert.deepEqual(findings({ [path]: source }), [
      `${path}: the core uses telemetry (${path} -> src/telemetry/logger.ts)`,
    ]);
  });
});

describe('checkImports() outside (SIM-1)', () => {
  test('refuses the clock outside of adapters', () => {
    const path = 'src/control/a.ts';
    assert.deepEqual(findings({ [path]: '\nconst t = Date.now();' }), [
      `${path}:2: uses Date.now, which only an adapter may (SIM-1, scripts/checks/import-rules.ts)`,
    ]);
  });

  test('refuses the timers under another name', () => {
    const path = 'src/control/a.ts';
    assert.deepEqual(
      findings({ [path]: `import { setTimeout as wait } from 'node:timers/promises';` }),
      [
        `${path}:1: uses node:timers/promises, which only an adapter may (SIM-1, scripts/checks/import-rules.ts)`,
        `${path}:1: uses setTimeout, which only an adapter may (SIM-1, scripts/checks/import-rules.ts)`,
      ],
    );
  });

  for (const path of [
    'src/telemetry/system-clock.ts',
    'src/command/a.ts',
    'src/control/a.test.ts',
    'test/support/fake-clock.ts',
  ]) {
    test(`lets ${path} read the clock`, () => {
      assert.deepEqual(findings({ [path]: 'const t = Date.now();' }), []);
    });
  }

  test('lets any shell file convert a time', () => {
    assert.deepEqual(findings({ 'src/control/a.ts': 'const t = new Date(0);' }), []);
  });
});

describe('checkImports() cycles', () => {
  test('refuses files that import each other, and shows the way', () => {
    const sources = {
      'src/control/c.ts': `import './a.ts';`,
      'src/control/a.ts': `import './b.ts';`,
      'src/control/b.ts': `import './c.ts';`,
    };
    assert.deepEqual(findings(sources), [
      'src/control/a.ts: files import each other (src/control/a.ts -> src/control/b.ts -> src/control/c.ts -> src/control/a.ts)',
    ]);
  });

  test('lets types name each other', () => {
    const sources = {
      'src/control/a.ts': `import type { B } from './b.ts';`,
      'src/control/b.ts': `import type { A } from './a.ts';`,
    };
    assert.deepEqual(findings(sources), []);
  });
});

test('readSources() reads this checkout', () => {
  const sources = readSources(join(import.meta.dirname, '../..'));
  assert.ok(sources.has('src/base/clock.ts'));
  assert.ok(sources.has('scripts/checks/check-imports.test.ts'));
});
